/* How are the lengths of exchanges spread? Counted in buckets that grow with the length: each octave is cut into 32, so that a
 * bucket is 1.6 to 3.1 % wide; lengths below 32 ns have one each, those of 2^44 ns (4.9 hours) and more share the last.
 * An exchange is counted with its first length and moves as it grows: nobody needs to know when it ends. */
#pragma once
#include "meter.h"

enum { FINE_BITS = 5, FINE = 1 << FINE_BITS, LONGEST_BITS = 44, BUCKETS = (LONGEST_BITS - FINE_BITS + 1) * FINE };
/* The bucket of an exchange that has not been counted. */
enum { UNCOUNTED = BUCKETS };

/* Written on its own processor only. A sum over processors is right, though an exchange may leave a bucket on another one
 * than it came in on: then a count lies below zero, and wraps. 15 KB a processor. */
struct histogram {
	u32 counts[SIDES][BUCKETS];
};

/* One a processor; their number is set when it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct histogram);
} lengths SEC(".maps");

/* The place of the highest bit that is set; 0 for 0. */
static __always_inline u32 highest_bit(u64 value)
{
	u32 place = 0, step;
	step = (value > 0xffffffff) << 5; value >>= step; place += step;
	step = (value > 0xffff) << 4; value >>= step; place += step;
	step = (value > 0xff) << 3; value >>= step; place += step;
	step = (value > 0xf) << 2; value >>= step; place += step;
	step = (value > 0x3) << 1; value >>= step; place += step;
	return place + (value > 1);
}

/* src/meter/lengths.rs mirrors it. */
static __always_inline u32 bucket_of(u64 length)
{
	if (length < FINE)
		return length;
	u32 octave = highest_bit(length);
	if (octave >= LONGEST_BITS)
		return BUCKETS - 1;
	return (octave - FINE_BITS) * FINE + (length >> (octave - FINE_BITS));
}

/* An exchange is longer than it was. */
static __always_inline void move_length(u32 side, u32 from, u64 length)
{
	u32 key = bpf_get_smp_processor_id(), to = bucket_of(length);
	if (from == to || side >= SIDES)
		return;
	struct histogram *histogram = bpf_map_lookup_elem(&lengths, &key);
	if (!histogram)
		return;
	if (from < BUCKETS)
		histogram->counts[side][from]--;
	if (to < BUCKETS)
		histogram->counts[side][to]++;
}
