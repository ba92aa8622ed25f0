/* How many calls were there, how long did they take, what did they move? Added up here for every process and every call that
 * is recorded, whether its row finds room or not: exact however busy and however long. */
#pragma once
#include "maps.h"

struct call_key {
	u32 pid; /* 0: of all processes for which there was no room */
	u32 number;
};

struct call_sum {
	u64 calls;
	u64 failed;
	u64 bytes; /* that went out or came in, of those that move bytes */
	u64 time;  /* of those that were timed: all that they took; of others: how long they were blocked */
	u64 blocked;
	u64 timed; /* calls that were seen to begin */
};

/* A sum that has not been added to the others yet. */
struct open_sum {
	struct call_key key;
	struct call_sum sum;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct call_key);
	__type(value, struct call_sum);
} call_sums SEC(".maps");

/* Of processes for which that has no room, by call. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 512);
	__type(key, u32);
	__type(value, struct call_sum);
} other_sums SEC(".maps");

/* What is being added to now: a processor's own, so that a call costs neither a look-up by hash nor an atomic addition. */
enum { OPEN_SUMS = 64 };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OPEN_SUMS);
	__type(key, u32);
	__type(value, struct open_sum);
} open_sums SEC(".maps");

/* The epoch of rows: counted up whenever user space has rows made or no longer made. Even: they are made; odd: only sums. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} rows_epoch SEC(".maps");

/* Calls and switches that were not made, by kind; at 0 the requests of clients among them. */
enum { WITHHELD_REQUESTS = 0 };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct counts);
} withheld SEC(".maps");

static __always_inline void count_withheld(u32 kind)
{
	u32 key = 0;
	struct counts *counts = bpf_map_lookup_elem(&withheld, &key);
	if (counts && kind < EVENT_KINDS)
		counts->of[kind]++;
}

static __always_inline u32 epoch_of_rows(void)
{
	u32 key = 0, *epoch = bpf_map_lookup_elem(&rows_epoch, &key);
	return epoch ? *epoch : 0;
}

static __always_inline bool makes_rows(void)
{
	return !(epoch_of_rows() & 1);
}

/* Whether the event of something that lasted since an epoch is not to be made; counts it then. Whatever reaches into a stretch of time with rows has one. */
static __always_inline bool is_withheld_since(u32 kind, u32 since)
{
	u32 epoch = epoch_of_rows();
	if (!(epoch & 1) || since != epoch)
		return false;
	count_withheld(kind);
	return true;
}

/* Another process or call takes the place of this sum: it joins the others. */
static __noinline int close_sum(struct open_sum *open)
{
	struct call_key key = open->key;
	struct call_sum *sum = bpf_map_lookup_elem(&call_sums, &key);
	if (!sum) {
		struct call_sum none = {};
		bpf_map_update_elem(&call_sums, &key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&call_sums, &key);
	}
	if (!sum)
		sum = bpf_map_lookup_elem(&other_sums, &key.number);
	if (!sum)
		return 0;
	__sync_fetch_and_add(&sum->calls, open->sum.calls);
	__sync_fetch_and_add(&sum->failed, open->sum.failed);
	__sync_fetch_and_add(&sum->bytes, open->sum.bytes);
	__sync_fetch_and_add(&sum->time, open->sum.time);
	__sync_fetch_and_add(&sum->blocked, open->sum.blocked);
	__sync_fetch_and_add(&sum->timed, open->sum.timed);
	return 0;
}

/* One more call; none where there is no place for it. */
static __always_inline struct call_sum *sum_up(u32 pid, u32 number, s64 result, bool moves_bytes)
{
	u32 slot = (pid * 31 + (number ^ number >> 4)) & (OPEN_SUMS - 1);
	struct open_sum *open = bpf_map_lookup_elem(&open_sums, &slot);
	if (!open)
		return 0;
	if (open->key.pid != pid || open->key.number != number) {
		if (open->sum.calls)
			close_sum(open);
		*open = (struct open_sum){ .key = { .pid = pid, .number = number } };
	}
	open->sum.calls++;
	open->sum.failed += result < 0;
	open->sum.bytes += moves_bytes && result > 0 ? result : 0;
	return &open->sum;
}
