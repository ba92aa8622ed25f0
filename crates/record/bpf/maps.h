/* The recorder's state: one ring for all events, what is known of each watched thread and socket, and the counts of
 * events that found no room. */
#pragma once
#include "events.h"
#include "recent_files.bpf.h"

/* A call site that a thread used lately, and how often more before the shared record of it is asked again. */
struct recent_site {
	u64 key;
	u32 stack;
	u32 left;
};

/* What was seen of a call's beginning. Where no rows are made, nobody looks when a call is entered: that it was there shows
 * when it returns, and before that only where it waits. */
enum { BEGUN_UNSEEN, BEGUN_ENTERED, BEGUN_WAITING };

/* What is known of a watched thread. */
struct thread {
	u64 entered;    /* when it entered the call it is in; 0: in none */
	u64 arguments[5];
	u64 stack_pointer;
	u64 off_since;  /* when it left the processor; 0: it is on one */
	u64 runnable;   /* when it was woken since */
	u64 on_since;
	u64 on_cpu;
	u64 calls;
	u64 recorded_calls; /* those of them that are recorded, found room or not */
	u64 blocked;    /* within the call it is in */
	u32 number;
	u32 pid;
	u32 waker;
	u16 reason;
	u16 handshake_body; /* the last read ended with the header of a TLS handshake record */
	u32 entered_in; /* the epoch of rows in which it entered the call it is in */
	u32 off_in;     /* and in which it left the processor */
	u32 left_in;    /* and in which it returned from a call last */
	u32 begun;      /* how the call it is in was seen to begin, until it returns */
	u64 script_thread; /* an interpreter's record of this thread, in its own memory; 0: not known */
	struct recent_site sites[RECENT];
	struct sums begin; /* when it was first watched */
	struct withheld_rows withheld;
	u64 run_delay; /* the scheduler's, when it left the processor last */
	s64 waited;    /* from its last wake-up, or from being preempted, to running; negative: not known */
	s64 waking;    /* of all it has so waited, what is not in the scheduler's run delay */
};

/* What is known of a socket that a watched thread used. */
struct known_socket {
	u32 id;
	u32 pid;
	u64 inode; /* 0: accepted by the kernel, not yet by the program */
	u8 role;
	u8 is_tcp;
	u8 is_dns;
	u8 is_out; /* the last bytes moved were written */
};

struct listener {
	u32 network_namespace;
	u32 port;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	/* Larger is slower: 16 MB stays near the cache and holds 20 ms of the worst load measured. */
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u32);
	__type(value, struct thread);
} threads SEC(".maps");

/* Whether any thread with an id that ends so was ever watched: all others are known not to be without a look-up by hash, which
 * every call and every switch of the host would pay for. */
enum { ENDINGS = 4096 };
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ENDINGS);
	__type(key, u32);
	__type(value, u8);
} watched_endings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct known_socket);
} sockets SEC(".maps");

/* Sockets whose connection is over while the program still holds a descriptor of them: what it reads and closes then is
 * still theirs. Nobody says when the last descriptor goes, so those that were not used for longest make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct known_socket);
} ended_sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct listener);
	__type(value, u32);
} listeners SEC(".maps");

/* Counts by kind of event, which user space reads all at once. */
struct counts {
	u64 of[EVENT_KINDS];
};

/* Events that found no room in the ring. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct counts);
} lost SEC(".maps");

/* Numbers given out: 0 sockets, 1 stacks, 2 scripts. */
enum { NUMBER_SOCKET, NUMBER_STACK, NUMBER_SCRIPT, NUMBERS };
u32 numbers[NUMBERS];

static __always_inline u32 next_number(u32 which)
{
	return __sync_fetch_and_add(&numbers[which], 1) + 1;
}

static __always_inline void count_lost(u32 kind)
{
	u32 key = 0;
	struct counts *counts = bpf_map_lookup_elem(&lost, &key);
	if (counts && kind < EVENT_KINDS)
		counts->of[kind]++;
}

/* Wakes user space only when the ring fills up: it comes every 20 ms by itself, and a wake-up an event doubles the
 * cost of recording. */
static __always_inline u64 wake_if_full(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= (4 << 20) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void *reserve(u64 size, u32 kind)
{
	void *event = bpf_ringbuf_reserve(&ring, size, 0);
	if (!event)
		count_lost(kind);
	return event;
}

static __always_inline struct thread *watched(u32 tid)
{
	u32 ending = tid & (ENDINGS - 1);
	u8 *is_known = bpf_map_lookup_elem(&watched_endings, &ending);
	return is_known && *is_known ? bpf_map_lookup_elem(&threads, &tid) : 0;
}

/* Watches a thread from now on; not 0 where there is no room. */
static __always_inline long watch(u32 tid, struct thread *thread)
{
	u32 ending = tid & (ENDINGS - 1);
	u8 *is_known = bpf_map_lookup_elem(&watched_endings, &ending);
	if (is_known)
		*is_known = 1;
	return bpf_map_update_elem(&threads, &tid, thread, BPF_ANY);
}
