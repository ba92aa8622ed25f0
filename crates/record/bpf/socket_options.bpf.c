/* Options set on TCP connections of a control group when they are established, at either end; and addresses that the group's
 * processes cannot reach, or in whose place they reach another one. Nothing else is changed, and nothing at all where none of it is
 * asked for. */
#include "kernel.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* The beginning of the kernel's fixed description of what happened (linux/bpf.h). */
struct bpf_sock_ops {
	u32 op;
};

/* The same, of an address that a socket connects to; what is in it has the network's order. */
struct bpf_sock_addr {
	u32 user_family;
	u32 user_ip4;
	u32 user_ip6[4];
	u32 user_port;
	u32 family;
	u32 type;
	u32 protocol;
};

/* The same, of an option that a program sets. */
struct bpf_sockopt {
	u64 sk;
	u64 optval;
	u64 optval_end;
	s32 level;
	s32 optname;
	s32 optlen;
	s32 retval;
};

enum { ENETUNREACH = 101 };
enum { ACTIVE_ESTABLISHED = 4, PASSIVE_ESTABLISHED = 5 };
enum { SOL_TCP = 6, TCP_NODELAY = 1, TCP_BPF_DELACK_MAX = 1003 };

const volatile u32 nodelay = 0;
const volatile u32 delayed_ack_cap_us = 0;

/* Mirrored by socket_program.rs. */
enum { COUNT_SEEN, COUNT_NODELAY, COUNT_CAPPED, COUNT_REFUSED, COUNT_UNREACHABLE, COUNT_KEPT, COUNT_REDIRECTED, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

/* An address, that of IPv4 as IPv6 maps it, and a port. Mirrored by socket_program.rs. */
struct address {
	u32 words[4];
	u32 port;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct address);
	__type(value, u32);
} unreachable SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct address);
	__type(value, struct address);
} redirected SEC(".maps");

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

/* A program that turns Nagle's algorithm on again would have the last word: its call succeeds and does nothing. */
SEC("cgroup/setsockopt")
int on_option(struct bpf_sockopt *context)
{
	enum { DONE_ALREADY = -1 };
	const int *value = (const int *)context->optval;
	if (context->level != SOL_TCP || context->optname != TCP_NODELAY)
		return 1;
	if ((const void *)(value + 1) > (const void *)context->optval_end || *value)
		return 1;
	context->optlen = DONE_ALREADY;
	count(COUNT_KEPT);
	return 1;
}

/* Lets a connect fail, as on a host without a route, where the address is listed; 1 where it goes on. */
static __always_inline int may_connect(struct bpf_sock_addr *context, const struct address *to)
{
	if (context->protocol != IPPROTO_TCP || !bpf_map_lookup_elem(&unreachable, to))
		return 1;
	count(COUNT_UNREACHABLE);
	bpf_set_retval(-ENETUNREACH);
	return 0;
}

/* Where a connect goes instead; none where it goes on as it is. */
static __always_inline const struct address *elsewhere(struct bpf_sock_addr *context, const struct address *to)
{
	const struct address *instead = bpf_map_lookup_elem(&redirected, to);
	if (!instead || context->protocol != IPPROTO_TCP)
		return 0;
	count(COUNT_REDIRECTED);
	return instead;
}

SEC("cgroup/connect4")
int on_connect4(struct bpf_sock_addr *context)
{
	struct address to = { .words = { 0, 0, bpf_htonl(0xffff), context->user_ip4 }, .port = context->user_port };
	const struct address *instead = elsewhere(context, &to);
	if (instead) {
		context->user_ip4 = instead->words[3];
		context->user_port = instead->port;
	}
	return may_connect(context, &to);
}

SEC("cgroup/connect6")
int on_connect6(struct bpf_sock_addr *context)
{
	const u32 *words = context->user_ip6;
	struct address to = { .words = { words[0], words[1], words[2], words[3] }, .port = context->user_port };
	const struct address *instead = elsewhere(context, &to);
	if (instead) {
		for (int at = 0; at < 4; at++)
			context->user_ip6[at] = instead->words[at];
		context->user_port = instead->port;
	}
	return may_connect(context, &to);
}

/* The helper that sets options is for programs under the GPL only; the project's own licence applies to the rest. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";
