/* How much CPU time do the followed processes take, in user mode and in the kernel, and how many exchanges do they
 * make? Sums only, no events: light enough not to disturb what is measured. Time counts as the kernel's between the entry
 * and the return of a system call; page faults and interrupts count to the mode that they interrupt. */
#include "exchanges.bpf.h"

enum { TASK_DEAD = 128 };
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2 };

/* Adds up the running thread's time until now. */
static __always_inline void add_time(struct slot *slot, u64 now)
{
	u32 role = slot->role, mode = slot->mode;
	if (role < ROLES && mode < MODES)
		slot->cpu[role][mode] += now - slot->mark;
	slot->mark = now;
}

/* The clock is read within the change: so a reader who read the clock before, and finds no change under way, has not
 * counted a moment to the mode that it ends in. */
static __always_inline u64 change_mode(struct slot *slot, u16 mode)
{
	begin_change(slot);
	u64 now = bpf_ktime_get_boot_ns();
	add_time(slot, now);
	slot->mode = mode;
	end_change(slot);
	return now;
}

static __always_inline struct followed *followed(u32 tid)
{
	return bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline void arrive(struct slot *slot, u32 tid, struct followed *thread, u64 now)
{
	slot->running = tid;
	slot->role = thread->role;
	slot->mode = thread->mode;
	slot->mark = now;
}

/* The slot of the current thread; 0 where it is not followed. */
static __always_inline struct slot *slot_of_current(u32 tid)
{
	struct slot *slot = slot_here();
	if (!slot || slot->running == tid)
		return slot;
	struct followed *thread = followed(tid);
	if (!thread)
		return 0;
	/* Its arrival was not seen: seldom, while another tracer comes or goes, the kernel passes over a switch. */
	begin_change(slot);
	arrive(slot, tid, thread, bpf_ktime_get_boot_ns());
	end_change(slot);
	return slot;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(meter_enter, struct pt_regs *regs, long number)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();
	struct slot *slot = slot_of_current(tid);
	if (!slot)
		return 0;
	u64 now = change_mode(slot, IN_KERNEL);
	u32 kind = (u64)number < CALLS ? kinds[number & (CALLS - 1)] : CALL_OTHER;
	if (kind == CALL_OTHER)
		return 0;
	struct followed *thread = followed(tid);
	if (thread)
		thread->returns = enter_call(slot, thread, regs, kind, now);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(meter_return, struct pt_regs *regs, long result)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();
	struct slot *slot = slot_of_current(tid);
	if (!slot)
		return 0;
	u64 now = change_mode(slot, IN_USER);
	u32 kind = regs->orig_ax < CALLS ? kinds[regs->orig_ax & (CALLS - 1)] : CALL_OTHER;
	struct followed *thread = kind == CALL_OTHER ? 0 : followed(tid);
	if (thread && kind == CALL_ACCEPT)
		leave_accept(thread, result, now);
	else if (thread && thread->returns)
		leave_call(slot, thread, regs, kind, result, now);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(meter_switch, bool preempted, struct task_struct *previous, struct task_struct *next, unsigned int state)
{
	struct slot *slot = slot_here();
	if (!slot)
		return 0;
	struct followed *arriving = followed(next->pid);
	if (!slot->running && !arriving)
		return 0;
	u32 left = slot->running;
	u16 mode = slot->mode;
	begin_change(slot);
	u64 now = bpf_ktime_get_boot_ns();
	/* The idle thread's id is 0 as well: nobody's time. */
	if (left && left == previous->pid)
		add_time(slot, now);
	slot->running = 0;
	if (arriving)
		arrive(slot, next->pid, arriving, now);
	end_change(slot);
	/* Its departure may have been passed over, or its id be another's by now: that of a thread which executed a program. */
	if (!left || left != previous->pid)
		return 0;
	/* Not at its exit: closing its files and freeing its memory come later, and take time. */
	if (state & TASK_DEAD) {
		bpf_map_delete_elem(&threads, &left);
		return 0;
	}
	struct followed *leaving = followed(left);
	if (leaving)
		leaving->mode = mode;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(meter_fork, struct task_struct *parent, struct task_struct *child)
{
	struct slot *slot = slot_of_current(parent->pid);
	if (!slot)
		return 0;
	u32 tid = child->pid;
	struct followed thread = { .role = slot->role, .mode = IN_KERNEL };
	if (bpf_map_update_elem(&threads, &tid, &thread, BPF_ANY))
		slot->unfollowed++;
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(meter_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	u32 tid = task->pid, old = old_pid;
	struct slot *slot = slot_here();
	if (!slot || slot->running != old)
		return 0;
	/* Descriptors may have been given up on the way. */
	__sync_fetch_and_add(&closes, 1);
	if (tid == old)
		return 0;
	/* A thread other than the first executed a program and took over the first one's id. */
	struct followed *thread = followed(old);
	if (!thread)
		return 0;
	bpf_map_update_elem(&threads, &tid, thread, BPF_ANY);
	bpf_map_delete_elem(&threads, &old);
	slot->running = tid;
	return 0;
}

/* A connect that nobody waits for in the call, as all event loops make it and whoever sets a time-out, goes on after its return: the
 * connection stands ready from now on. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(meter_state, struct sock *sk, int before, int after)
{
	u64 key = (u64)sk;
	if (before != TCP_SYN_SENT || after != TCP_ESTABLISHED)
		return 0;
	struct exchanging *known = bpf_map_lookup_elem(&sockets, &key);
	if (known && known->set_up)
		known->ready = bpf_ktime_get_boot_ns();
	return 0;
}

/* Several helpers are for programs under the GPL only; the project's own licence applies to the rest. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";
