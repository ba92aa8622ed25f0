/* What do services serve? Sums for each service, no events: requests, connections, bytes, and how long the first byte of an
 * answer took. Looked at where sockets are read and written, not at every system call: a host's other work passes by untouched.
 * A request begins with the first read on a connection that was accepted, and counts at the first write after it; TLS's own
 * messages, as far as they can be distinguished from data, begin and end nothing. */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "tls.bpf.h"
#include "call_kinds.bpf.h"

/* At one time: src/services/counters.rs knows it. */
enum { MOST_SERVICES = 256, MOST_PROCESSES = 32768, MOST_CONNECTIONS = 65536 };
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_SYN_RECV = 3, TCP_CLOSE = 7 };
enum { MSG_PEEK = 2, ON_DEMAND = 1 };
/* In `HTTP/1.1 500`. */
enum { STATUS_AT = 9 };

/* src/services/counters.rs mirrors it. */
struct served {
	u64 requests;
	u64 connections;   /* that were accepted, or were there and used */
	u64 received;      /* bytes, on all sockets of the service */
	u64 sent;
	u64 answering;     /* from a request's first read to its answer's first write, summed, in nanoseconds */
	u64 failures;      /* answers that began with an HTTP/1 status of 5xx */
	u64 retransmitted; /* segments */
	u64 calls;         /* system calls, where they are counted */
};

/* What is known of a socket that a service uses. */
struct connection {
	struct exchanging exchange;
	u32 service; /* counted from 1; 0: nobody's yet */
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MOST_SERVICES);
	__type(key, u32);
	__type(value, struct served);
} served SEC(".maps");

/* Which service a process belongs to, by its id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, ON_DEMAND);
	__uint(max_entries, MOST_PROCESSES);
	__type(key, u32);
	__type(value, u32);
} members SEC(".maps");

/* The oldest goes where there is no room: with it goes at most one request that was under way. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MOST_CONNECTIONS);
	__type(key, u64);
	__type(value, struct connection);
} connections SEC(".maps");

static __always_inline struct served *sums_of(u32 service)
{
	return bpf_map_lookup_elem(&served, &service);
}

static __always_inline u32 *service_of_current(void)
{
	u32 process = bpf_get_current_pid_tgid() >> 32;
	return bpf_map_lookup_elem(&members, &process);
}

/* Tells one socket from an earlier one at its address: TCP's come and go with their states, others by their file. */
static __always_inline u64 identity(struct sock *sk)
{
	u16 family = sk->__sk_common.skc_family;
	return family == AF_UNIX ? BPF_CORE_READ(sk, sk_socket, file, f_inode, i_ino) : 0;
}

/* The connection that a service reads or writes. One that was there before it was looked at is taken for an accepted one where
 * the first that happens to it is a read: a client speaks first. */
static __always_inline struct connection *connection_of(struct sock *sk, u32 service, struct served *sums, bool reads)
{
	u64 key = (u64)sk, inode = identity(sk);
	struct connection *known = bpf_map_lookup_elem(&connections, &key);
	if (!known || known->exchange.inode != inode) {
		struct connection fresh = { .exchange = { .inode = inode, .side = reads ? ACCEPTED : CONNECTED_BY_SERVER } };
		bpf_map_update_elem(&connections, &key, &fresh, BPF_ANY);
		known = bpf_map_lookup_elem(&connections, &key);
		if (!known)
			return 0;
	}
	if (!known->service) {
		known->service = service + 1;
		sums->connections += known->exchange.side == ACCEPTED;
	}
	return known;
}

static __always_inline struct pt_regs *registers(u32 *kind)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	*kind = regs->orig_ax < CALLS ? kinds[regs->orig_ax & (CALLS - 1)] : CALL_OTHER;
	return regs;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(service_received, struct sock *sk, int length, int flags)
{
	if (length <= 0 || flags & MSG_PEEK)
		return 0;
	u32 *service = service_of_current();
	struct served *sums = service ? sums_of(*service) : 0;
	if (!sums)
		return 0;
	sums->received += length;
	struct connection *known = connection_of(sk, *service, sums, true);
	if (!known || known->exchange.side != ACCEPTED || known->exchange.phase == PHASE_ASKED)
		return 0;
	u32 kind;
	struct pt_regs *regs = registers(&kind);
	u16 tls = known->exchange.tls;
	if (tls != TLS_NONE && tls != TLS_DONE && is_of_handshake(&known->exchange, kind, regs->si, length))
		return 0;
	known->exchange.phase = PHASE_ASKED;
	known->exchange.since = bpf_ktime_get_boot_ns();
	return 0;
}

static __always_inline bool is_server_error(u32 kind, u64 buffer, u64 length)
{
	struct head head = {};
	if (kind > CALL_WRITE_MESSAGE)
		return false;
	read_head(&head, kind, buffer, length);
	const u8 *bytes = head.bytes;
	return head.length > STATUS_AT && bytes[0] == 'H' && bytes[1] == 'T' && bytes[2] == 'T' && bytes[3] == 'P' &&
	       bytes[4] == '/' && bytes[5] == '1' && bytes[STATUS_AT] == '5';
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(service_sent, struct sock *sk, int length, int flags)
{
	if (length <= 0)
		return 0;
	u32 *service = service_of_current();
	struct served *sums = service ? sums_of(*service) : 0;
	if (!sums)
		return 0;
	sums->sent += length;
	struct connection *known = connection_of(sk, *service, sums, false);
	if (!known || known->exchange.side != ACCEPTED || known->exchange.phase != PHASE_ASKED)
		return 0;
	u32 kind;
	struct pt_regs *regs = registers(&kind);
	known->exchange.phase = PHASE_ANSWERED;
	if (is_of_tls(kind, regs->si, length)) {
		if (known->exchange.tls == TLS_NONE)
			known->exchange.tls = TLS_BEGUN;
		return 0;
	}
	sums->requests++;
	sums->answering += bpf_ktime_get_boot_ns() - known->exchange.since;
	sums->failures += is_server_error(kind, regs->si, length);
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(service_state, struct sock *sk, int before, int after)
{
	u64 key = (u64)sk;
	if (after == TCP_ESTABLISHED) {
		u16 side = before == TCP_SYN_RECV ? ACCEPTED : CONNECTED_BY_SERVER;
		struct connection fresh = { .exchange = { .side = side } };
		bpf_map_update_elem(&connections, &key, &fresh, BPF_ANY);
	} else if (after == TCP_CLOSE) {
		bpf_map_delete_elem(&connections, &key);
	}
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(service_retransmitted, struct sock *sk)
{
	u64 key = (u64)sk;
	struct connection *known = bpf_map_lookup_elem(&connections, &key);
	struct served *sums = known && known->service ? sums_of(known->service - 1) : 0;
	if (sums)
		sums->retransmitted++;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(service_forked, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid;
	u32 *service = from == to ? 0 : bpf_map_lookup_elem(&members, &from);
	if (service)
		bpf_map_update_elem(&members, &to, service, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(service_exited, struct task_struct *task)
{
	u32 process = task->tgid;
	if ((u32)task->pid == process)
		bpf_map_delete_elem(&members, &process);
	return 0;
}

/* Attached only where calls are to be counted: it passes by at every system call of the host. */
SEC("tp_btf/sys_enter")
int BPF_PROG(service_called, struct pt_regs *regs, long number)
{
	u32 *service = service_of_current();
	struct served *sums = service ? sums_of(*service) : 0;
	if (sums)
		sums->calls++;
	return 0;
}

/* Several helpers are for programs under the GPL only; the project's own licence applies to the rest. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";
