/* The files that were used lately on this processor: a thread that serves many connections finds each again. */
#pragma once
#include "files.bpf.h"

/* Of 32 bytes each: 8 kB stay in the cache. */
enum { RECENT_FILES = 256 };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RECENT_FILES);
	__type(key, u32);
	__type(value, struct recent_file);
} recent_files SEC(".maps");

/* What a descriptor of the current thread is. */
static __always_inline struct recent_file *recent_file(u32 fd)
{
	struct file *file = file_of(bpf_get_current_task_btf(), fd);
	/* Files are 232 bytes each (Linux 6.18) and lie side by side. */
	u32 slot = ((u64)file >> 6 ^ (u64)file >> 14) & (RECENT_FILES - 1);
	struct recent_file *recent = bpf_map_lookup_elem(&recent_files, &slot);
	return file && recent ? describe(recent, file) : 0;
}
