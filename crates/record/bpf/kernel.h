/* The few kernel structures that the recorder reads, by name only: the loader relocates every access to the running
 * kernel's own layout (CO-RE), so fields stand here in any order and unused ones are left out. */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
/* Names that bpf_helpers.h expects. */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_AVAIL_DATA = 0 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
struct super_block {
	unsigned int s_dev;
};
struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
};
struct file {
	struct inode *f_inode;
	void *private_data;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct thread_struct {
	unsigned long fsbase;
};
struct signal_struct {
	int group_exit_code;
};
struct mm_struct {
	unsigned long start_code, end_code;
	struct file *exe_file;
	unsigned long saved_auxv[2];
};
struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime; /* the same when it was last put on a processor; of the fair class only */
};
struct sched_info {
	unsigned long long run_delay;
};
struct task_struct {
	int pid;
	int tgid;
	int exit_code;
	struct sched_entity se;
	struct sched_info sched_info; /* a kernel can be built without it */
	unsigned long nvcsw, nivcsw;
	char comm[16];
	struct mm_struct *mm;
	struct files_struct *files;
	struct signal_struct *signal;
	struct thread_struct thread;
};
struct linux_binprm {
	const char *filename;
};
struct ns_common {
	unsigned int inum;
};
struct net {
	struct ns_common ns;
};
typedef struct {
	struct net *net;
} possible_net_t;
struct in6_addr {
	union {
		u8 u6_addr8[16];
	} in6_u;
};
struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};
struct socket;
struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
	u16 sk_type;
	struct socket *sk_socket;
};
struct socket {
	struct sock *sk;
	struct file *file;
};
struct unix_sock {
	struct sock sk;
	struct sock *peer;
};
struct tcp_sock {
	u32 srtt_us;
	u32 mss_cache;
	u8 nonagle : 4;
	u8 chrono_type : 2;
};
struct timer_list {
	void (*function)(struct timer_list *);
};
struct inet_connection_sock {
	struct timer_list icsk_delack_timer;
	struct {
		u8 pending;
	} icsk_ack;
};
struct sk_buff {
	struct sock *sk;
	unsigned int len;
	unsigned char *head;
	unsigned char *data;
	u16 transport_header;
};

#pragma clang attribute pop

/* Unix-domain sockets keep their path in a structure of their own; it is read as bytes. */
enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10 };
enum { SOCK_STREAM = 1 };
enum { IPPROTO_TCP = 6, IPPROTO_UDP = 17 };
enum { S_IFMT = 0170000, S_IFSOCK = 0140000, S_IFREG = 0100000 };
