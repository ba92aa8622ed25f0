/* What did a thread ask of the kernel, for how long, with what result? One event a call, written when it returns. What
 * there is to read about each call is said by user space, in `classes`. */
#pragma once
#include "heads.bpf.h"
#include "scheduler.bpf.h"
#include "scripts.bpf.h"
#include "sockets.bpf.h"
#include "stacks.bpf.h"

static __always_inline int enter(struct pt_regs *regs, long number, u32 tid, struct thread *thread)
{
	if (thread->off_since)
		see_on_processor(tid, thread, bpf_ktime_get_boot_ns());
	u16 flags = begin_call(regs, number, thread);
	thread->begun = BEGUN_ENTERED;
	if (!flags)
		return 0;
	if (flags & CLASS_CLOSES)
		__sync_fetch_and_add(&closes, 1);
	if (flags & CLASS_CONNECT) {
		struct recent_file *file = recent_file(regs->di);
		struct sock *sk = file ? (struct sock *)file->sock : 0;
		struct known_socket *known = sk ? register_socket(sk, file->inode, thread->pid, ROLE_CLIENT) : 0;
		if (known)
			known->role = ROLE_CLIENT;
	}
	thread->entered_in = epoch_of_rows();
	thread->entered = bpf_ktime_get_boot_ns();
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long number)
{
	u32 tid = (u32)bpf_get_current_pid_tgid(), state;
	struct thread *thread = watched(tid);
	if (!thread)
		return 0;
	u64 begun = work_begins(&state);
	enter(regs, number, tid, thread);
	work_ends(begun, state);
	return 0;
}

/* Whether these bytes of a socket begin a request: a client's first ones out, or out after bytes in. */
static __always_inline bool turned_to_request(struct known_socket *known, u16 flags)
{
	if (!(flags & (CLASS_IN | CLASS_OUT)))
		return false;
	bool was_out = known->is_out;
	known->is_out = (flags & CLASS_OUT) != 0;
	return known->is_out && !was_out && known->role == ROLE_CLIENT;
}

/* What a call is about, in one word: above the socket's number, what else there is to say of it. */
enum { CLASS_UNSEEN = 1 << 16 }; /* beside the class: the call was not seen to begin */
enum { ABOUT_SOCKET = 1, ABOUT_DNS = 2, ABOUT_FILE = 4, ABOUT_REQUEST = 8, ABOUT_SHIFT = 32 };

/* What the call is about; registers what accept, connect and listen make known. */
__noinline u64 about_call(struct thread *thread, u32 flags, s32 fd, s64 result)
{
	if (!thread)
		return 0;
	if (flags & CLASS_ACCEPT)
		fd = result;
	if (fd < 0)
		return 0;
	struct recent_file *file = recent_file(fd);
	if (!file)
		return 0;
	struct sock *sk = (struct sock *)file->sock;
	if (!sk)
		return file->is_regular ? (u64)ABOUT_FILE << ABOUT_SHIFT : 0;
	bool connects = flags & CLASS_CONNECT && flags & CLASS_UNSEEN;
	u8 role = flags & CLASS_ACCEPT ? ROLE_SERVER : connects ? ROLE_CLIENT : ROLE_UNKNOWN;
	struct known_socket *known = register_socket(sk, file->inode, thread->pid, role);
	if (!known)
		return 0;
	if (connects)
		known->role = ROLE_CLIENT;
	if (flags & CLASS_LISTEN && result == 0) {
		struct listener key = {
			.network_namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum),
			.port = BPF_CORE_READ(sk, __sk_common.skc_num),
		};
		u32 pid = thread->pid;
		bpf_map_update_elem(&listeners, &key, &pid, BPF_ANY);
		known->role = ROLE_LISTENER;
		announce(sk, known);
	}
	if (flags & CLASS_CONNECT) {
		describe_socket(sk, known);
		announce(sk, known);
	}
	if (flags & CLASS_ACCEPT && result >= 0) {
		known->pid = thread->pid;
		announce(sk, known);
	}
	u64 about = ABOUT_SOCKET | (known->is_dns ? ABOUT_DNS : 0);
	if (result > 0 && turned_to_request(known, flags))
		about |= ABOUT_REQUEST;
	return about << ABOUT_SHIFT | known->id;
}

/* Code of a file was mapped at `start`. */
static __always_inline int mapped(struct thread *thread, u64 start)
{
	thread->entered = 0;
	struct file *file = file_of(bpf_get_current_task_btf(), thread->arguments[4]);
	if (!file)
		return 0;
	struct mapping_event *event = reserve(sizeof(*event), EVENT_MAPPING);
	if (!event)
		return 0;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	event->kind = EVENT_MAPPING;
	event->pid = thread->pid;
	event->start = start;
	event->length = thread->arguments[1];
	event->file_offset = thread->arguments[3];
	event->inode = BPF_CORE_READ(inode, i_ino);
	event->device = BPF_CORE_READ(inode, i_sb, s_dev);
	event->fd = thread->arguments[4];
	bpf_ringbuf_submit(event, wake_if_full());
	return 0;
}

/* Whether requests are counted where there are no rows: to find a call's socket costs as much as the rest of counting it. */
const volatile bool counts_requests = true;

static __always_inline bool moves_bytes(u16 flags)
{
	return flags & (CLASS_IN | CLASS_OUT) && !(flags & CLASS_MESSAGES);
}

/* A call returns that was not seen to begin: how long it took is not known, and it has no row. */
static __always_inline int count_return(struct pt_regs *regs, long result, u32 tid, struct thread *thread)
{
	u64 number = regs->orig_ax;
	if (thread->off_since)
		see_on_processor(tid, thread, bpf_ktime_get_boot_ns());
	u16 flags = count_call(regs, number, thread);
	if (!flags)
		return 0;
	if (flags & CLASS_MAPPING) {
		keep_arguments(regs, flags, thread);
		return result > 0 || result < -4095 ? mapped(thread, result) : 0;
	}
	thread->withheld.calls++;
	count_withheld(EVENT_CALL);
	struct call_sum *sum = sum_up(thread->pid, number, result, moves_bytes(flags));
	if (!sum)
		return 0;
	if (flags & CLASS_CLOSES)
		__sync_fetch_and_add(&closes, 1);
	bool may_be_request = counts_requests && flags & (CLASS_IN | CLASS_OUT);
	if (!may_be_request && !(flags & (CLASS_ACCEPT | CLASS_CONNECT | CLASS_LISTEN)))
		return 0;
	u64 about = about_call(thread, flags | CLASS_UNSEEN, regs->di, result);
	if (about >> ABOUT_SHIFT & ABOUT_REQUEST)
		count_withheld(WITHHELD_REQUESTS);
	return 0;
}

static __always_inline int leave(struct pt_regs *regs, long result, u32 tid, struct thread *thread, bool is_timed)
{
	u64 now = bpf_ktime_get_boot_ns();
	see_on_processor(tid, thread, now);
	u32 number = thread->number & 511;
	u16 flags = classes[number].flags;
	if (flags & CLASS_MAPPING)
		return result > 0 || result < -4095 ? mapped(thread, result) : 0;
	u64 start = thread->entered, polled = 0;
	thread->entered = 0;
	s32 fd = flags & CLASS_DESCRIPTOR ? (s32)thread->arguments[0] : -1;
	if (flags & CLASS_POLL) {
		bpf_probe_read_user(&polled, sizeof(polled), (void *)thread->arguments[0]);
		fd = thread->arguments[1] ? (s32)polled : -1;
	}
	/* By now the descriptor is another's, or nobody's; before, it was still the one that is closed. */
	if (flags & CLASS_CLOSES)
		__sync_fetch_and_add(&closes, 1);
	u64 about = about_call(thread, flags, fd, result);
	u32 what = about >> ABOUT_SHIFT;
	struct call_sum *sum = sum_up(thread->pid, number, result, moves_bytes(flags));
	if (sum) {
		sum->time += is_timed ? now - start : thread->blocked;
		sum->blocked += thread->blocked;
		sum->timed += is_timed;
	}
	if (is_withheld_since(EVENT_CALL, thread->entered_in)) {
		thread->withheld.calls++;
		if (what & ABOUT_REQUEST && counts_requests)
			count_withheld(WITHHELD_REQUESTS);
		return 0;
	}

	u32 key = 0;
	struct call_space *space = bpf_map_lookup_elem(&call_scratch, &key);
	if (!space)
		return 0;
	struct call_event *event = &space->event;
	event->kind = EVENT_CALL;
	event->number = number;
	event->tid = tid;
	event->pid = thread->pid;
	event->fd = fd;
	event->socket = about;
	event->start = start;
	event->duration = now - start;
	event->blocked = thread->blocked;
	event->result = result;
	event->arguments[0] = thread->arguments[1];
	event->arguments[1] = thread->arguments[2];
	/* Where a path starts from that is not absolute. Nothing asks for the fourth argument of such a call. */
	event->arguments[2] = flags & CLASS_PATH_1 ? thread->arguments[0] : thread->arguments[3];
	if (flags & CLASS_POLL)
		event->arguments[2] = polled;
	event->head_is_path = 0;
	u8 at = classes[number].time_argument;
	if (at < 5) {
		u64 time[2] = { ~0ULL, 0 };
		if (thread->arguments[at])
			bpf_probe_read_user(time, sizeof(time), (void *)thread->arguments[at]);
		event->arguments[1] = time[0] == ~0ULL ? time[0] : time[0] * 1000000000ULL + time[1];
	}
	at = classes[number].value_argument;
	if (at < 5) {
		u32 value = 0;
		bpf_probe_read_user(&value, sizeof(value), (void *)thread->arguments[at]);
		/* The upper half keeps the fourth argument: the timeout of epoll_wait. */
		event->arguments[2] = value | thread->arguments[3] << 32;
	}
	u32 length = 0;
	if (flags & (CLASS_PATH_0 | CLASS_PATH_1 | CLASS_CONNECT) || what & (ABOUT_SOCKET | ABOUT_FILE)) {
		if (flags & (CLASS_BUFFER | CLASS_VECTOR | CLASS_MESSAGE | CLASS_PATH_0 | CLASS_PATH_1 | CLASS_CONNECT))
			length = gather(space, thread, flags, result, what & ABOUT_DNS);
	}
	thread->handshake_body = what & ABOUT_SOCKET && result == 5 && length == 5 && space->head[0] == 0x16;
	event->head_length = length;
	event->stack = stack_of_call(thread, regs->ip, now, event->duration, what & ABOUT_SOCKET);
	event->script = scripts_are_known() ? script_number(thread, 0) : 0;
	u64 size = sizeof(*event) + at_most(length, HEAD_LARGE);
	if (bpf_ringbuf_output(&ring, event, size, wake_if_full()))
		count_lost(EVENT_CALL);
	return 0;
}

static __always_inline int returned(struct pt_regs *regs, long result, u32 tid, struct thread *thread)
{
	u32 begun = thread->begun;
	thread->begun = BEGUN_UNSEEN;
	thread->left_in = epoch_of_rows();
	if (begun == BEGUN_WAITING && thread->number != (u32)regs->orig_ax) {
		forget_waiting(thread);
		begun = BEGUN_UNSEEN;
	}
	if (begun == BEGUN_UNSEEN)
		return count_return(regs, result, tid, thread);
	return thread->entered ? leave(regs, result, tid, thread, begun == BEGUN_ENTERED) : 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs *regs, long result)
{
	u32 tid = (u32)bpf_get_current_pid_tgid(), state;
	struct thread *thread = watched(tid);
	if (!thread)
		return 0;
	u64 begun = work_begins(&state);
	returned(regs, result, tid, thread);
	work_ends(begun, state);
	return 0;
}
