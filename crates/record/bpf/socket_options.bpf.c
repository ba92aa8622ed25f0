/* Options set on TCP connections of a control group when they are established, at either end. Nothing but the options is
 * changed, and nothing at all where none is asked for. */
#include "kernel.h"
#include <bpf/bpf_helpers.h>

/* The beginning of the kernel's fixed description of what happened (linux/bpf.h). */
struct bpf_sock_ops {
	u32 op;
};

enum { ACTIVE_ESTABLISHED = 4, PASSIVE_ESTABLISHED = 5 };
enum { SOL_TCP = 6, TCP_NODELAY = 1, TCP_BPF_DELACK_MAX = 1003 };

const volatile u32 nodelay = 0;
const volatile u32 delayed_ack_cap_us = 0;

/* Mirrored by socket_program.rs. */
enum { COUNT_SEEN, COUNT_NODELAY, COUNT_CAPPED, COUNT_REFUSED, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

static __always_inline void count(u32 what)
{
	u64 *counted = bpf_map_lookup_elem(&counts, &what);
	if (counted)
		(*counted)++;
}

static __always_inline void set(struct bpf_sock_ops *context, int option, int value, u32 what)
{
	count(bpf_setsockopt(context, SOL_TCP, option, &value, sizeof(value)) ? COUNT_REFUSED : what);
}

SEC("sockops")
int on_socket(struct bpf_sock_ops *context)
{
	if (context->op != ACTIVE_ESTABLISHED && context->op != PASSIVE_ESTABLISHED)
		return 1;
	count(COUNT_SEEN);
	if (nodelay)
		set(context, TCP_NODELAY, 1, COUNT_NODELAY);
	if (delayed_ack_cap_us)
		set(context, TCP_BPF_DELACK_MAX, delayed_ack_cap_us, COUNT_CAPPED);
	return 1;
}

/* The helper that sets options is for programs under the GPL only; the project's own licence applies to the rest. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";
