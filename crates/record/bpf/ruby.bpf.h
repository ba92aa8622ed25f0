/* CRuby's control frames, of the main ractor's threads. */
#pragma once
#include "python.bpf.h"

/* The front of rb_control_frame_t; the same from 3.0 to 3.3, as the one below. */
struct ruby_frame {
	u64 pc;
	u64 sp;
	u64 iseq;
};

/* The front of rb_execution_context_t: the stack of values, from whose end control frames grow down. */
struct ruby_context {
	u64 stack;
	u64 words;
	u64 frame;
};

/* Methods written in C have frames as well, without code. */
enum { RUBY_FRAMES = 96 };

static __always_inline bool is_current_ruby(struct ruby_offsets *at, u64 thread, u64 self)
{
	u64 native = at->thread_native ? user_word(thread + at->thread_native) : thread;
	return native && user_word(native + at->thread_id) == self;
}

/* Native threads serve one of Ruby's after the other. One that has ended keeps its id, but its neighbours do not know it. */
static __always_inline bool is_in_ring(u64 thread)
{
	return user_word(user_word(thread) + sizeof(u64)) == thread;
}

/* The record of the current thread, looked for once. Threads form a ring, whose links are the front of each. */
static __always_inline u64 ruby_thread(struct interpreter *in, struct thread *known)
{
	struct ruby_offsets *at = &in->ruby;
	u64 self = bpf_get_current_task_btf()->thread.fsbase;
	if (known->script_thread && is_in_ring(known->script_thread) && is_current_ruby(at, known->script_thread, self))
		return known->script_thread;
	u64 machine = user_word(in->base);
	u64 ractor = machine ? user_word(machine + at->main_ractor) : 0;
	u64 head = ractor ? ractor + at->threads : 0;
	u64 thread = head ? user_word(head) : 0;
	for (int i = 0; i < SCRIPT_THREADS && thread && thread != head; i++) {
		if (is_current_ruby(at, thread, self)) {
			known->script_thread = thread;
			return thread;
		}
		thread = user_word(thread);
	}
	return 0;
}

__noinline int walk_ruby(struct interpreter *in, struct script_chain *chain, struct thread *known)
{
	if (!in || !chain || !known)
		return 0;
	u64 thread = ruby_thread(in, known);
	struct ruby_context context = {};
	if (!thread || bpf_probe_read_user(&context, sizeof(context), (void *)user_word(thread + in->ruby.thread_context)))
		return 0;
	u64 frame = context.frame, end = context.stack + context.words * sizeof(u64);
	for (int i = 0; i < RUBY_FRAMES && frame && frame < end; i++) {
		struct ruby_frame front;
		if (bpf_probe_read_user(&front, sizeof(front), (void *)frame))
			break;
		if (front.iseq && front.pc)
			add_frame(chain, front.iseq, front.pc, front.iseq);
		frame += in->ruby.frame_size;
	}
	return 0;
}
