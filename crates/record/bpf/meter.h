/* The meter's state: one slot a processor that holds all sums, what is known of each followed thread, and of each socket
 * that one of them connected or accepted. src/meter.rs mirrors them. */
#pragma once
#include "files.bpf.h"
#include "exchange.h"

enum { ROLE_OF_CLIENT, ROLE_OF_SERVER, ROLES };
enum { IN_USER, IN_KERNEL, MODES };
/* The first digit of an HTTP status, from 1 to 5. */
enum { STATUS_CLASSES = 5 };

/* The kernel's BPF_F_NO_PREALLOC. */
enum { ON_DEMAND = 1 };

/* Sums of what happened on one processor, written on that processor only. User space reads them through a mapping: what
 * it read is whole where `done`, read first, equals `begun`, read last. */
struct slot {
	u64 done;
	u64 begun;
	u64 mark;    /* until when the running thread's time has been added up */
	u32 running; /* the followed thread on this processor; 0: none */
	u16 role;
	u16 mode;
	u64 cpu[ROLES][MODES];
	u64 exchanges[SIDES];
	u64 wall[SIDES];
	u64 unfollowed; /* threads for which there was no room */
	u64 moved[SIDES]; /* bytes of answers */
	u64 statuses[SIDES][STATUS_CLASSES]; /* answers that began with a status line of HTTP/1, by its first digit */
	u64 alerts;   /* TLS alerts that were not encrypted: handshakes that failed */
	u64 resets;   /* calls that found their connection reset, aborted or refused */
	u64 pad[5];   /* to 320 bytes, a multiple of 64: processors do not disturb one another */
};

/* What is known of a followed thread. */
struct followed {
	u16 role;
	u16 mode;     /* while it is off the processor */
	u16 returns;  /* what is to be done when the call that it is in returns */
	u16 pad;
	u64 socket;   /* that the call is about */
	u64 inode;
	u64 entered;  /* when it entered the call, where that reads */
	u64 lookup;   /* when it asked a name server first, since its last exchange or connection; 0: it did not */
	struct recent_file files[RECENT];
};

/* One a processor; their number is set when it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u32);
	__type(value, struct followed);
} threads SEC(".maps");

/* The oldest goes where there is no room: with it goes at most one exchange that was under way. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, struct exchanging);
} sockets SEC(".maps");

/* Connections that a process had when it was attached to, by inode: on which side they count. Written from outside only,
 * and takes memory only for what is in it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, ON_DEMAND);
	__uint(max_entries, 1 << 20);
	__type(key, u64);
	__type(value, u32);
} adopted SEC(".maps");

static __always_inline struct slot *slot_here(void)
{
	u32 key = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&slots, &key);
}

static __always_inline void begin_change(struct slot *slot)
{
	slot->begun++;
	asm volatile("" ::: "memory");
}

static __always_inline void end_change(struct slot *slot)
{
	asm volatile("" ::: "memory");
	slot->done++;
}
