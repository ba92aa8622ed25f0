/* What was a thread doing when the sampling clock ticked on its processor? */
#pragma once
#include "scripts.bpf.h"
#include "stacks.bpf.h"
#include "costs.bpf.h"

struct sample_context {
	struct pt_regs regs;
};

static __always_inline int sample(struct sample_context *context, u64 identity, struct thread *thread)
{
	if (!makes_rows())
		return 0;
	u32 stack = copy_stack();
	u32 script = scripts_are_known() ? script_number(thread, 1) : 0;
	struct sample_event *event = reserve(sizeof(*event), EVENT_SAMPLE);
	if (!event)
		return 0;
	event->kind = EVENT_SAMPLE;
	event->call_plus_one = thread->entered ? thread->number + 1 : 0;
	event->tid = (u32)identity;
	event->pid = identity >> 32;
	event->time = bpf_ktime_get_boot_ns();
	event->stack = stack;
	event->script = script;
	event->kernel_frames = 0;
	/* The processor's privilege level when it was interrupted: the low two bits of its code segment. */
	u64 *words = (void *)context;
	if ((words[17] & 3) == 0) {
		long bytes = bpf_get_stack(context, event->kernel_stack, sizeof(event->kernel_stack), 0);
		event->kernel_frames = bytes > 0 ? bytes / sizeof(u64) : 0;
		if (!event->kernel_frames) {
			event->kernel_stack[0] = words[16];
			event->kernel_frames = 1;
		}
	}
	bpf_ringbuf_submit(event, wake_if_full());
	return 0;
}

SEC("perf_event")
int on_sample(struct sample_context *context)
{
	u64 identity = bpf_get_current_pid_tgid();
	struct thread *thread = watched((u32)identity);
	if (!thread)
		return 0;
	u32 state;
	u64 begun = work_begins(&state);
	sample(context, identity, thread);
	work_ends(begun, state);
	return 0;
}
