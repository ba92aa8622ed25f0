/* Which socket is this? Each socket of a watched thread gets a number; its addresses are sent when first seen and when
 * they change. */
#pragma once
#include "maps.h"

enum { ROLE_UNKNOWN, ROLE_CLIENT, ROLE_SERVER, ROLE_LISTENER };
enum { PORT_DNS = 53 };

enum { TCP_NAGLE_OFF = 1 };

/* A connection that was there before it was watched tells nothing of itself until something happens to it. */
static __always_inline void tell_state(struct socket_event *event, struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	event->srtt_us = BPF_CORE_READ(tcp, srtt_us) >> 3;
	event->mss = BPF_CORE_READ(tcp, mss_cache);
	event->nodelay = BPF_CORE_READ_BITFIELD_PROBED(tcp, nonagle) & TCP_NAGLE_OFF;
}

/* The ends of a Unix socket have no addresses that tell them from others; the inodes of their descriptors do. */
static __always_inline void tell_inodes(struct socket_event *event, struct sock *sk, u64 inode)
{
	struct unix_sock *local = (struct unix_sock *)sk;
	u64 remote = 0;
	if (bpf_core_field_exists(local->peer))
		remote = BPF_CORE_READ(local, peer, sk_socket, file, f_inode, i_ino);
	__builtin_memcpy(event->local_address, &inode, 8);
	__builtin_memcpy(event->remote_address, &remote, 8);
}

static __always_inline void announce_socket(struct sock *sk, struct known_socket *known)
{
	struct socket_event *event = reserve(sizeof(*event), EVENT_SOCKET);
	if (!event)
		return;
	event->kind = EVENT_SOCKET;
	event->socket = known->id;
	event->pid = known->pid;
	event->role = known->role;
	event->time = bpf_ktime_get_boot_ns();
	event->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	event->network_namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	event->protocol = BPF_CORE_READ(sk, sk_protocol);
	event->type = BPF_CORE_READ(sk, sk_type);
	event->local_port = 0;
	event->remote_port = 0;
	event->srtt_us = 0;
	event->mss = 0;
	event->nodelay = 0;
	if (known->role == ROLE_UNKNOWN && known->is_tcp)
		tell_state(event, sk);
	__builtin_memset(event->local_address, 0, sizeof(event->local_address));
	__builtin_memset(event->remote_address, 0, sizeof(event->remote_address));
	if (event->family == AF_INET || event->family == AF_INET6) {
		event->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
		event->remote_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	}
	if (event->family == AF_INET) {
		u32 local = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		u32 remote = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		__builtin_memcpy(event->local_address, &local, 4);
		__builtin_memcpy(event->remote_address, &remote, 4);
	} else if (event->family == AF_INET6) {
		bpf_probe_read_kernel(event->local_address, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_probe_read_kernel(event->remote_address, 16, &sk->__sk_common.skc_v6_daddr);
	} else if (event->family == AF_UNIX) {
		tell_inodes(event, sk, known->inode);
	}
	bpf_ringbuf_submit(event, wake_if_full());
}

static __noinline int announce(struct sock *sk, struct known_socket *known)
{
	if (!known)
		return 0;
	announce_socket(sk, known);
	return 0;
}

static __always_inline void describe_socket(struct sock *sk, struct known_socket *known)
{
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	u16 protocol = BPF_CORE_READ(sk, sk_protocol);
	bool internet = family == AF_INET || family == AF_INET6;
	known->is_tcp = internet && protocol == IPPROTO_TCP;
	known->is_dns = internet && __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport)) == PORT_DNS;
}

/* What is known of a socket, registering it where it is new. `inode` tells a socket from a later one at the same
 * address; 0 where the program has no descriptor for it yet. */
static __always_inline struct known_socket *register_socket(struct sock *sk, u64 inode, u32 pid, u8 role)
{
	u64 key = (u64)sk;
	struct known_socket *known = bpf_map_lookup_elem(&sockets, &key);
	if (known && (known->inode == inode || !inode))
		return known;
	if (known && !known->inode) {
		known->inode = inode;
		known->pid = pid;
		return known;
	}
	/* Who connects anew begins another connection. */
	if (!known && inode && role != ROLE_CLIENT) {
		struct known_socket *ended = bpf_map_lookup_elem(&ended_sockets, &key);
		if (ended && ended->inode == inode)
			return ended;
	}
	struct known_socket fresh = { .id = next_number(NUMBER_SOCKET), .pid = pid, .inode = inode, .role = role };
	describe_socket(sk, &fresh);
	if (bpf_map_update_elem(&sockets, &key, &fresh, BPF_ANY)) {
		count_lost(EVENT_SOCKET);
		return 0;
	}
	announce(sk, &fresh);
	return bpf_map_lookup_elem(&sockets, &key);
}

/* A connection is over: its socket's memory may serve another as soon as nobody holds a descriptor of it. */
static __always_inline void socket_ended(struct sock *sk, struct known_socket *known)
{
	u64 key = (u64)sk;
	struct known_socket ended = *known;
	if (ended.inode && BPF_CORE_READ(sk, sk_socket))
		bpf_map_update_elem(&ended_sockets, &key, &ended, BPF_ANY);
	bpf_map_delete_elem(&sockets, &key);
}

/* What is known of a watched TCP socket; 0 for any other. */
static __always_inline struct known_socket *known_tcp(struct sock *sk)
{
	u64 key = (u64)sk;
	return bpf_map_lookup_elem(&sockets, &key);
}
