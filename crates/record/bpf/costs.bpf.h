/* What do these programs themselves cost? One run in COST_PERIOD is timed, apart for the time in which rows are made and
 * that in which they are not. User space governs by it how much of the time has rows. */
#pragma once
#include "sums.bpf.h"

/* A prime, so that no pattern of calls, switches and segments keeps step with it. */
enum { COST_PERIOD = 61 };
/* No run takes longer, in nanoseconds, a copied stack included: one that does was interrupted. */
enum { COST_MOST = 16000 };

struct cost {
	u64 timed; /* runs for a watched thread or socket that were timed */
	u64 time;  /* that they took */
	u64 until_next;
};

enum { COST_OF_ROWS, COST_OF_SUMS, COSTS };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COSTS);
	__type(key, u32);
	__type(value, struct cost);
} costs SEC(".maps");

/* CPU time of watched threads, up to when they last left a processor. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} watched_time SEC(".maps");

/* A program begins its work for something watched: when, where this run is timed; else 0. */
static __always_inline u64 work_begins(u32 *state)
{
	*state = epoch_of_rows() & 1;
	struct cost *cost = bpf_map_lookup_elem(&costs, state);
	if (!cost)
		return 0;
	if (cost->until_next) {
		cost->until_next--;
		return 0;
	}
	cost->until_next = COST_PERIOD - 1;
	/* As much later as reading the clock takes, which runs that are not timed do not. */
	u64 before = bpf_ktime_get_ns(), now = bpf_ktime_get_ns();
	return now + (now - before);
}

static __noinline int time_work(u64 begun, u32 state)
{
	struct cost *cost = bpf_map_lookup_elem(&costs, &state);
	if (!cost)
		return 0;
	s64 took = bpf_ktime_get_ns() - begun;
	cost->timed++;
	cost->time += took < 0 ? 0 : took < COST_MOST ? took : COST_MOST;
	return 0;
}

static __always_inline void work_ends(u64 begun, u32 state)
{
	if (begun)
		time_work(begun, state);
}

static __always_inline void add_watched_time(u64 time)
{
	u32 key = 0;
	u64 *sum = bpf_map_lookup_elem(&watched_time, &key);
	if (sum)
		*sum += time;
}
