/* When did a segment leave the host, when did one arrive, and what else did TCP do to the socket? */
#pragma once
#include "sockets.bpf.h"
#include "costs.bpf.h"

enum { DIRECTION_OUT, DIRECTION_IN };
enum { TCP_STATE = 1, TCP_DELAYED_ACK_FIRED = 3, TCP_RETRANSMIT = 4 };
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_SYN_RECV = 3, TCP_CLOSE = 7 };
enum { ACK_TIMER = 2 }; /* the kernel's ICSK_ACK_TIMER */

/* Address of the kernel's tcp_delack_timer, found by user space; 0 where it was not. */
const volatile u64 delayed_ack_timer = 0;

struct tcp_header {
	u16 source, destination;
	u32 sequence, acknowledged;
	u8 offset, flags;
	u16 window;
};

/* What keeps a socket from sending more (`enum tcp_chrono`), as it was when an acknowledgement arrived. */
static __always_inline u8 limit_of(struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	return bpf_core_field_exists(tcp->chrono_type) ? BPF_CORE_READ_BITFIELD_PROBED(tcp, chrono_type) : 0;
}

static __always_inline int segment(struct known_socket *known, struct sock *sk, struct sk_buff *packet, u8 direction)
{
	struct tcp_header header;
	unsigned char *at = packet->head + packet->transport_header;
	if (bpf_probe_read_kernel(&header, sizeof(header), at))
		return 0;
	struct segment_event *event = reserve(sizeof(*event), EVENT_SEGMENT);
	if (!event)
		return 0;
	event->kind = EVENT_SEGMENT;
	event->direction_and_limit = direction;
	event->flags = header.flags;
	event->socket = known->id;
	event->time = bpf_ktime_get_boot_ns();
	event->sequence = __builtin_bswap32(header.sequence);
	event->acknowledged = __builtin_bswap32(header.acknowledged);
	event->payload = packet->len - (u32)(at - packet->data) - (header.offset >> 4) * 4;
	/* The round-trip time changes with acknowledgements, which arrive. */
	event->srtt_us = 0;
	if (direction == DIRECTION_IN) {
		event->srtt_us = BPF_CORE_READ((struct tcp_sock *)sk, srtt_us) >> 3;
		event->direction_and_limit |= limit_of(sk) << 4;
	}
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline int timed_segment(struct known_socket *known, struct sock *sk, struct sk_buff *packet, u8 direction)
{
	u32 state;
	u64 begun = work_begins(&state);
	segment(known, sk, packet, direction);
	work_ends(begun, state);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(on_transmit, struct sk_buff *packet)
{
	struct sock *sk = packet->sk;
	if (!sk || !makes_rows())
		return 0;
	struct known_socket *known = known_tcp(sk);
	return known && known->is_tcp ? timed_segment(known, sk, packet, DIRECTION_OUT) : 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(on_receive, struct sock *sk, struct sk_buff *packet)
{
	if (!makes_rows())
		return 0;
	struct known_socket *known = known_tcp(sk);
	return known ? timed_segment(known, sk, packet, DIRECTION_IN) : 0;
}

static __always_inline int tcp_did(struct known_socket *known, struct sock *sk, u16 what, u32 before, u32 after)
{
	struct tcp_event *event = reserve(sizeof(*event), EVENT_TCP);
	if (!event)
		return 0;
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	event->kind = EVENT_TCP;
	event->event = what;
	event->socket = known->id;
	event->time = bpf_ktime_get_boot_ns();
	event->before = before;
	event->after = after;
	event->srtt_us = BPF_CORE_READ(tcp, srtt_us) >> 3;
	event->mss = BPF_CORE_READ(tcp, mss_cache);
	event->nodelay = BPF_CORE_READ_BITFIELD_PROBED(tcp, nonagle) & TCP_NAGLE_OFF;
	bpf_ringbuf_submit(event, wake_if_full());
	return 0;
}

/* A connection that a watched listener took, before the program accepts it. */
static __always_inline struct known_socket *accepted_by_kernel(struct sock *sk, int before, int after)
{
	if (before != TCP_SYN_RECV || after != TCP_ESTABLISHED)
		return 0;
	struct listener key = {
		.network_namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum),
		.port = BPF_CORE_READ(sk, __sk_common.skc_num),
	};
	u32 *pid = bpf_map_lookup_elem(&listeners, &key);
	return pid ? register_socket(sk, 0, *pid, ROLE_SERVER) : 0;
}

/* A connection that a watched thread opens, where nobody saw it enter the call. */
static __always_inline struct known_socket *opened_unseen(struct sock *sk, int after)
{
	if (after != TCP_SYN_SENT)
		return 0;
	struct thread *thread = watched((u32)bpf_get_current_pid_tgid());
	u64 inode = BPF_CORE_READ(sk, sk_socket, file, f_inode, i_ino);
	return thread && inode ? register_socket(sk, inode, thread->pid, ROLE_CLIENT) : 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int before, int after)
{
	if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	struct known_socket *known = known_tcp(sk);
	if (!known)
		known = accepted_by_kernel(sk, before, after);
	if (!known)
		known = opened_unseen(sk, after);
	if (!known)
		return 0;
	tcp_did(known, sk, TCP_STATE, before, after);
	if (after == TCP_ESTABLISHED)
		announce(sk, known);
	if (after == TCP_CLOSE)
		socket_ended(sk, known);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_retransmit, struct sock *sk)
{
	struct known_socket *known = known_tcp(sk);
	return known ? tcp_did(known, sk, TCP_RETRANSMIT, 0, 0) : 0;
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(on_timer, struct timer_list *timer)
{
	if (!delayed_ack_timer || (u64)timer->function != delayed_ack_timer)
		return 0;
	struct sock *sk = (void *)timer - bpf_core_field_offset(struct inet_connection_sock, icsk_delack_timer);
	struct known_socket *known = known_tcp(sk);
	if (!known)
		return 0;
	/* The kernel leaves the timer running when an acknowledgement goes out with data: then nothing waits for it. */
	struct inet_connection_sock *connection = (void *)sk;
	if (!(BPF_CORE_READ(connection, icsk_ack.pending) & ACK_TIMER))
		return 0;
	return tcp_did(known, sk, TCP_DELAYED_ACK_FIRED, 0, 0);
}
