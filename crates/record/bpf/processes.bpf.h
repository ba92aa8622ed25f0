/* Who is watched? Children and threads of the watched, followed in the kernel from their first moment. */
#pragma once
#include "maps.h"

static __always_inline u64 scheduler_run_delay(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info) ? task->sched_info.run_delay : 0;
}

/* The longest that a thread can be on its way between being woken and standing in a queue: an idle processor has to be
 * interrupted and to come back from its deepest sleep first (133 to 200 us by the tables of `intel_idle`). */
enum { LONGEST_WAKING = 200 * 1000 };

/* How much of its last wait for a processor is not in the scheduler's run delay, which begins when the thread stands in a
 * queue, and which has that wait in it by the time that the thread leaves the processor again. More than can be is left for
 * the comparison of the sums to find. */
static __always_inline void add_waking(struct task_struct *task, struct thread *thread)
{
	u64 run_delay = scheduler_run_delay(task);
	s64 waking = thread->waited - (s64)(run_delay - thread->run_delay);
	if (thread->waited >= 0 && waking <= LONGEST_WAKING && waking >= -LONGEST_WAKING)
		thread->waking += waking;
	thread->run_delay = run_delay;
	thread->waited = -1;
}

/* The scheduler's sums as they stand. */
static __always_inline void read_sums(struct task_struct *task, struct sums *sums)
{
	sums->runtime = task->se.sum_exec_runtime;
	sums->run_delay = scheduler_run_delay(task);
	sums->voluntary = task->nvcsw;
	sums->involuntary = task->nivcsw;
	sums->time = bpf_ktime_get_boot_ns();
	sums->inexact = 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!watched(parent->pid))
		return 0;
	u32 tid = child->pid;
	u64 now = bpf_ktime_get_boot_ns();
	/* It returns from a call that it has not entered. */
	struct thread thread = { .pid = child->tgid, .off_since = now, .runnable = now, .begun = BEGUN_ENTERED };
	/* Not always nothing: some kernels leave a child its parent's run delay. */
	read_sums(child, &thread.begin);
	thread.run_delay = thread.begin.run_delay;
	if (watch(tid, &thread)) {
		count_lost(EVENT_FORK);
		return 0;
	}
	struct fork_event *event = reserve(sizeof(*event), EVENT_FORK);
	if (!event)
		return 0;
	*event = (struct fork_event){
		.kind = EVENT_FORK, .parent_pid = parent->tgid, .tid = tid, .pid = child->tgid, .time = now,
	};
	bpf_ringbuf_submit(event, wake_if_full());
	return 0;
}

enum { AT_BASE = 7, AUXILIARY_ENTRIES = 24 };

/* Where the program that was just executed lies, so that its stacks can be walked even if it is gone before user space
 * looks: its code, and its dynamic loader, whose address stands among what the kernel tells the program at its start. */
static __always_inline void locate_program(struct exec_event *event, struct task_struct *task)
{
	struct mm_struct *memory = task->mm;
	struct inode *inode = BPF_CORE_READ(memory, exe_file, f_inode);
	event->text_start = BPF_CORE_READ(memory, start_code);
	event->text_end = BPF_CORE_READ(memory, end_code);
	event->inode = BPF_CORE_READ(inode, i_ino);
	event->device = BPF_CORE_READ(inode, i_sb, s_dev);
	event->interpreter = 0;
	unsigned long *entries = memory->saved_auxv;
	for (int i = 0; i < AUXILIARY_ENTRIES; i++) {
		unsigned long entry[2] = {};
		if (bpf_probe_read_kernel(entry, sizeof(entry), entries + 2 * i) || !entry[0])
			break;
		if (entry[0] == AT_BASE)
			event->interpreter = entry[1];
	}
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct thread *thread = watched(task->pid);
	if (!thread) {
		/* A thread other than the first executed a program and took over the first one's id. */
		u32 old = old_pid, tid = task->pid;
		thread = watched(old);
		if (!thread)
			return 0;
		struct thread copy = *thread;
		/* Under this id it is new. */
		copy.recorded_calls = 0;
		copy.withheld = (struct withheld_rows){};
		copy.waking = 0;
		read_sums(task, &copy.begin);
		watch(tid, &copy);
		bpf_map_delete_elem(&threads, &old);
	}
	/* Descriptors may have been given up on the way. */
	__sync_fetch_and_add(&closes, 1);
	struct exec_event *event = reserve(sizeof(*event), EVENT_EXEC);
	if (!event)
		return 0;
	event->kind = EVENT_EXEC;
	event->pid = task->tgid;
	event->time = bpf_ktime_get_boot_ns();
	event->executable[0] = 0;
	locate_program(event, task);
	bpf_probe_read_kernel_str(event->executable, sizeof(event->executable), program->filename);
	/* At once: a short-lived program's mappings and command line can be read only while it lives. */
	bpf_ringbuf_submit(event, BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	u32 tid = task->pid;
	struct thread *thread = watched(tid);
	if (!thread)
		return 0;
	u64 now = bpf_ktime_get_boot_ns();
	add_waking(task, thread);
	struct exit_event *event = reserve(sizeof(*event), EVENT_EXIT);
	if (event) {
		event->kind = EVENT_EXIT;
		event->tid = tid;
		event->pid = task->tgid;
		event->code = task->exit_code;
		event->time = now;
		event->on_cpu = thread->on_cpu + (thread->on_since ? now - thread->on_since : 0);
		event->calls = thread->calls;
		event->recorded_calls = thread->recorded_calls;
		event->on_since = thread->on_since;
		event->runtime_before = task->se.prev_sum_exec_runtime;
		event->begin = thread->begin;
		event->withheld = thread->withheld;
		event->waking = thread->waking;
		read_sums(task, &event->end);
		__builtin_memcpy(event->name, task->comm, sizeof(event->name));
		bpf_ringbuf_submit(event, wake_if_full());
	}
	bpf_map_delete_elem(&threads, &tid);
	return 0;
}
