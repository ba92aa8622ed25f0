/* CPython's frames. */
#pragma once
#include "script_frames.bpf.h"

/* Threads an interpreter may have before the current one is not found; each costs one read of user memory. */
enum { SCRIPT_THREADS = 64 };

/* The interpreter's record of the current thread: the one whose id is this thread's control block. Looked for once, and
 * then asked only whether it still is. */
static __always_inline u64 python_thread(struct interpreter *in, struct thread *known)
{
	struct python_offsets *at = &in->python;
	u64 self = bpf_get_current_task_btf()->thread.fsbase;
	if (known->script_thread && user_word(known->script_thread + at->thread_id) == self)
		return known->script_thread;
	u64 interpreter = user_word(in->base + at->interpreters_head);
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

enum { PYTHON_FRONT = 128 };

__noinline int walk_python(struct interpreter *in, struct script_chain *chain, struct thread *known)
{
	if (!in || !chain || !known)
		return 0;
	struct python_offsets *at = &in->python;
	u64 thread = python_thread(in, known);
	if (!thread)
		return 0;
	u64 frame = user_word(thread + at->thread_frame);
	if (at->frame_through_cframe && frame)
		frame = user_word(frame + at->cframe_current_frame);
	for (int i = 0; i < SCRIPT_FRAMES && frame; i++) {
		if (bpf_probe_read_user(chain->front, PYTHON_FRONT, (void *)frame))
			break;
		u64 code = front_word(chain, at->frame_code);
		u64 instruction = at->instruction_is_index ? front_half(chain, at->frame_instruction)
							   : front_word(chain, at->frame_instruction);
		add_frame(chain, code, instruction, code);
		frame = front_word(chain, at->frame_previous);
	}
	return 0;
}
