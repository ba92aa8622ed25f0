/* When was a thread off the processor, and why? One event an interval, written when it is on a processor again. */
#pragma once
#include "classes.bpf.h"

enum { REASON_PREEMPTED, REASON_BLOCKED, REASON_UNINTERRUPTIBLE, REASON_STOPPED, REASON_TRACED };
/* Stopped by a signal is 4, by a tracer 8 (`linux/sched.h`). */
enum { TASK_UNINTERRUPTIBLE = 2, TASK_STOPPED = 4, TASK_TRACED = 8 };

static __always_inline void take_processor(u32 tid, struct thread *thread, u64 now)
{
	u64 start = thread->off_since;
	thread->waited = start && thread->runnable ? (s64)(now - thread->runnable) : -1;
	thread->on_since = now;
	thread->off_since = 0;
	if (!start)
		return;
	u64 runnable = thread->runnable ? thread->runnable : now;
	if (thread->entered && thread->reason != REASON_PREEMPTED)
		thread->blocked += runnable - start;
	if (is_withheld_since(EVENT_SWITCH, thread->off_in)) {
		if (thread->reason == REASON_PREEMPTED)
			thread->withheld.preemptions++;
		else
			thread->withheld.waits++;
		return;
	}
	struct switch_event *event = reserve(sizeof(*event), EVENT_SWITCH);
	if (!event)
		return;
	*event = (struct switch_event){
		.kind = EVENT_SWITCH, .reason = thread->reason, .tid = tid,
		.start = start, .runnable = runnable, .end = now, .waker = thread->waker,
	};
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/* A thread that does something is on a processor, whatever was seen of its taking one. Kernels leave the trace point out now
 * and then (6.18 on a virtual machine: some ten switches away from its host's agent each second, which other tracers miss as
 * well); what is missed would leave the thread on a processor, in the end, for as long as it had waited. */
static __always_inline void see_on_processor(u32 tid, struct thread *thread, u64 now)
{
	if (thread->off_since)
		take_processor(tid, thread, now);
}

static __always_inline void leave_processor(u32 tid, struct thread *thread, bool preempted, u32 state, u64 now)
{
	see_on_processor(tid, thread, now);
	if (thread->on_since) {
		thread->on_cpu += now - thread->on_since;
		add_watched_time(now - thread->on_since);
	}
	thread->on_since = 0;
	thread->off_since = now;
	thread->off_in = epoch_of_rows();
	thread->waker = 0;
	if (preempted || state == 0) {
		thread->reason = REASON_PREEMPTED;
		thread->runnable = now;
	} else {
		thread->reason = state & TASK_UNINTERRUPTIBLE ? REASON_UNINTERRUPTIBLE
				 : state & TASK_TRACED	      ? REASON_TRACED
				 : state & TASK_STOPPED	      ? REASON_STOPPED
							      : REASON_BLOCKED;
		thread->runnable = 0;
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct *previous, struct task_struct *next, unsigned int state)
{
	struct thread *thread = watched(previous->pid);
	u64 begun = 0, now = 0;
	u32 cost = 0;
	if (thread) {
		begun = work_begins(&cost);
		now = bpf_ktime_get_boot_ns();
		if (!preempted && state)
			begin_waiting(previous, thread, now);
		add_waking(previous, thread);
		leave_processor(previous->pid, thread, preempted, state, now);
	}
	thread = watched(next->pid);
	if (thread) {
		if (!now) {
			begun = work_begins(&cost);
			now = bpf_ktime_get_boot_ns();
		}
		take_processor(next->pid, thread, now);
	}
	work_ends(begun, cost);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = watched(task->pid);
	if (!thread || !thread->off_since || thread->runnable)
		return 0;
	thread->runnable = bpf_ktime_get_boot_ns();
	u32 waker = (u32)bpf_get_current_pid_tgid();
	thread->waker = waker && watched(waker) ? waker : 0;
	return 0;
}
