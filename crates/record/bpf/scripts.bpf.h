/* Which line of an interpreted program made this call? CPython's own frames, walked where they lie. User space says
 * per process where the interpreter keeps them; each chain of frames is sent once. */
#pragma once
#include "maps.h"

/* Mirrored by python::Offsets. */
struct script_offsets {
	u64 runtime;
	u32 interpreters_head;
	u32 threads_head;
	u32 thread_next;
	u32 thread_id;
	u32 thread_frame;
	u32 cframe_current_frame;
	u32 frame_through_cframe;
	u32 frame_code;
	u32 frame_instruction;
	u32 instruction_is_index;
	u32 frame_previous;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct script_offsets);
} interpreters SEC(".maps");

/* 1 once user space has found an interpreter: until then nobody looks for frames. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} any_interpreter SEC(".maps");

static __always_inline bool scripts_are_known(void)
{
	u32 key = 0, *known = bpf_map_lookup_elem(&any_interpreter, &key);
	return known && *known;
}

struct script_key {
	u64 hash;
	u64 pid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct script_key);
	__type(value, u32);
} scripts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* one for calls, one for samples, which can interrupt them */
	__type(key, u32);
	__type(value, struct script_event);
} script_scratch SEC(".maps");

/* Threads an interpreter may have before the current one is not found; each costs one read of user memory. */
enum { SCRIPT_THREADS = 64 };

static __always_inline u64 user_word(u64 address)
{
	u64 word = 0;
	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

/* The interpreter's record of the current thread: the one whose id is this thread's control block. Looked for once, and
 * then asked only whether it still is. */
static __always_inline u64 script_thread(struct script_offsets *at, struct task_struct *task, struct thread *known)
{
	u64 self = task->thread.fsbase;
	if (known->script_thread && user_word(known->script_thread + at->thread_id) == self)
		return known->script_thread;
	u64 interpreter = user_word(at->runtime + at->interpreters_head);
	u64 thread = interpreter ? user_word(interpreter + at->threads_head) : 0;
	for (int i = 0; i < SCRIPT_THREADS && thread; i++) {
		if (user_word(thread + at->thread_id) == self) {
			known->script_thread = thread;
			return thread;
		}
		thread = user_word(thread + at->thread_next);
	}
	return 0;
}

/* The front of a frame, in which all versions keep what is read of it: one copy is cheaper than three. */
struct script_frame {
	u8 bytes[128];
};

static __always_inline u64 frame_word(struct script_frame *frame, u32 offset)
{
	u64 word;
	__builtin_memcpy(&word, frame->bytes + (offset & 120), sizeof(word));
	return word;
}

/* The number of the current chain of frames; 0 where the process runs no script. `slot` picks the scratch space. */
__noinline u32 script_number(struct thread *known, u32 slot)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 pid = task->tgid;
	struct script_offsets *at = bpf_map_lookup_elem(&interpreters, &pid);
	struct script_event *event = bpf_map_lookup_elem(&script_scratch, &slot);
	if (!at || !event || !known)
		return 0;
	u64 thread = script_thread(at, task, known);
	if (!thread)
		return 0;
	u64 frame = user_word(thread + at->thread_frame);
	if (at->frame_through_cframe && frame)
		frame = user_word(frame + at->cframe_current_frame);
	u64 hash = 14695981039346656037ULL; /* FNV-1a, a word at a time */
	u32 frames = 0;
	for (int i = 0; i < SCRIPT_FRAMES && frame; i++) {
		struct script_frame front;
		if (bpf_probe_read_user(&front, sizeof(front), (void *)frame))
			break;
		u64 code = frame_word(&front, at->frame_code);
		u64 instruction = frame_word(&front, at->frame_instruction);
		if (at->instruction_is_index)
			instruction = at->frame_instruction & 4 ? instruction >> 32 : (u32)instruction;
		event->frame[i].code = code;
		event->frame[i].instruction = instruction;
		hash = (hash ^ code) * 1099511628211ULL;
		hash = (hash ^ instruction) * 1099511628211ULL;
		hash ^= hash >> 29;
		frame = frame_word(&front, at->frame_previous);
		frames = i + 1;
	}
	if (!frames)
		return 0;
	struct script_key key = { .hash = hash, .pid = pid };
	u32 *seen = bpf_map_lookup_elem(&scripts, &key);
	if (seen)
		return *seen;
	u32 number = next_number(NUMBER_SCRIPT);
	event->kind = EVENT_SCRIPT;
	event->frames = frames;
	event->number = number;
	event->pid = pid;
	u64 size = __builtin_offsetof(struct script_event, frame) + (frames & 63) * sizeof(event->frame[0]);
	if (size > sizeof(*event))
		return 0;
	if (bpf_ringbuf_output(&ring, event, size, wake_if_full())) {
		count_lost(EVENT_SCRIPT);
		return 0;
	}
	bpf_map_update_elem(&scripts, &key, &number, BPF_ANY);
	return number;
}
