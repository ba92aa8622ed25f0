/* What did a thread ask of the kernel, for how long, with what result? One event a call, written when it returns. What
 * there is to read about each call is said by user space, in `classes`. */
#pragma once
#include "costs.bpf.h"
#include "messages.bpf.h"
#include "scripts.bpf.h"
#include "sockets.bpf.h"
#include "stacks.bpf.h"

/* Mirrored by calls.rs. */
enum {
	CLASS_RECORD = 1,      /* write an event */
	CLASS_DESCRIPTOR = 2,  /* argument 0 is a file descriptor */
	CLASS_BUFFER = 4,      /* argument 1 is a buffer, its bytes the result */
	CLASS_VECTOR = 8,      /* argument 1 is a vector of buffers, argument 2 their number */
	CLASS_MESSAGE = 16,    /* argument 1 is a message with a vector of buffers */
	CLASS_PATH_0 = 32,     /* argument 0 is a path */
	CLASS_PATH_1 = 64,     /* argument 1 is a path */
	CLASS_POLL = 128,      /* argument 0 is a list of polled descriptors */
	CLASS_ACCEPT = 256,    /* the result is a new connection */
	CLASS_CONNECT = 512,   /* opens a connection: its socket is registered on the way in */
	CLASS_LISTEN = 1024,   /* the socket listens from now on */
	CLASS_MESSAGES = 2048, /* several messages: the result is their number, not bytes */
	CLASS_MAPPING = 4096,  /* maps a file: an event of its own, where it maps code */
	CLASS_CLOSES = 8192,   /* gives up a descriptor */
	CLASS_IN = 16384,      /* reads: its result are bytes, or messages */
	CLASS_OUT = 32768,     /* writes */
};
enum { PROT_EXEC = 4 };

struct call_class {
	u16 flags;
	u8 time_argument;  /* the argument that points to a timespec or timeval */
	u8 value_argument; /* the argument that points to a number worth keeping */
};
const volatile struct call_class classes[512] = {};

enum { VECTOR_BUFFERS = 16 };

struct call_space {
	struct call_event event;
	u8 head[2 * HEAD_LARGE]; /* twice, so that the verifier sees room after any offset */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_space);
} call_scratch SEC(".maps");

static __always_inline int enter(struct pt_regs *regs, long number, u32 tid, struct thread *thread)
{
	if (thread->off_since)
		see_on_processor(tid, thread, bpf_ktime_get_boot_ns());
	thread->calls++;
	thread->entered = 0;
	if ((u64)number >= 512 || !(classes[number & 511].flags & CLASS_RECORD))
		return 0;
	u16 flags = classes[number & 511].flags;
	if (flags & CLASS_MAPPING && !(regs->dx & PROT_EXEC))
		return 0;
	/* What is mapped is told by an event of its own. */
	if (!(flags & CLASS_MAPPING))
		thread->recorded_calls++;
	thread->number = number;
	thread->blocked = 0;
	thread->stack_pointer = regs->sp;
	thread->arguments[0] = regs->di;
	thread->arguments[1] = regs->si;
	thread->arguments[2] = regs->dx;
	thread->arguments[3] = regs->r10;
	thread->arguments[4] = regs->r8;
	if (flags & CLASS_MAPPING)
		thread->arguments[3] = regs->r9;
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

/* The smaller of two lengths, in a form whose bound the verifier follows: the compiler must not reorder the steps. */
static __always_inline u32 at_most(u64 length, u32 most)
{
	u32 take = length < most ? length : most;
	asm volatile("" : "+r"(take));
	return take & (2 * HEAD_LARGE - 1);
}

/* Whether the first bytes begin something whose head is worth more room: a TLS handshake, an HTTP/1 message. */
static __always_inline u32 head_room(const u8 *head, struct thread *thread, bool is_dns)
{
	if ((head[0] == 0x16 && head[1] == 3) || thread->handshake_body)
		return HEAD_LARGE;
	if (head[0] >= 'A' && head[0] <= 'Z' && head[1] >= 'A' && head[1] <= 'Z')
		return 512;
	return is_dns ? HEAD_PATH : HEAD_SMALL;
}

/* Copies the first bytes of one buffer. */
static __always_inline u32 gather_buffer(struct call_space *space, struct thread *thread, u64 from, u64 length, bool is_dns)
{
	u32 take = at_most(length, HEAD_SMALL);
	if (!take || bpf_probe_read_user(space->head, take, (void *)from))
		return 0;
	u32 room = head_room(space->head, thread, is_dns);
	if (room > take && length > take) {
		u32 more = at_most(length, room < HEAD_LARGE ? room : HEAD_LARGE);
		if (!bpf_probe_read_user(space->head, more, (void *)from))
			take = more;
	}
	return take;
}

/* Copies the first bytes of a vector of buffers, up to HEAD_LARGE; adds up what was asked for in `asked`. */
static __always_inline u32 gather_vector(struct call_space *space, u64 vector, u64 buffers, u64 moved, u64 *asked)
{
	u32 take = 0;
	u32 most = HEAD_SMALL;
	for (int i = 0; i < VECTOR_BUFFERS && i < buffers; i++) {
		u64 buffer[2] = {};
		if (bpf_probe_read_user(buffer, sizeof(buffer), (void *)(vector + i * sizeof(buffer))))
			break;
		*asked += buffer[1];
		u64 left = moved > take ? moved - take : 0;
		if (take >= most)
			continue;
		u32 length = at_most(buffer[1] < left ? buffer[1] : left, HEAD_LARGE - 1);
		if (bpf_probe_read_user(space->head + (take & (HEAD_LARGE - 1)), length & (HEAD_LARGE - 1), (void *)buffer[0]))
			break;
		if (i == 0 && (space->head[0] == 0x16 || (space->head[0] >= 'A' && space->head[0] <= 'Z')))
			most = HEAD_LARGE;
		take += length;
		if (take > HEAD_LARGE)
			take = HEAD_LARGE;
	}
	return take < most ? take : most;
}

/* The second of several messages: a resolver asks for both kinds of address in one call. */
enum { MESSAGE_STRIDE = 64 }; /* size of a struct mmsghdr */

static __always_inline u32 gather_second(struct call_space *space, u64 messages)
{
	u64 buffers = 0, buffer[2] = {};
	u64 vector = message_vector(messages + MESSAGE_STRIDE, &buffers);
	if (!buffers || bpf_probe_read_user(buffer, sizeof(buffer), (void *)vector))
		return 0;
	u32 length = at_most(buffer[1], HEAD_PATH);
	if (bpf_probe_read_user(space->head + HEAD_PATH, length, (void *)buffer[0]))
		return 0;
	return length;
}

/* Copies what a call names or moved: how many bytes. */
__noinline u32 gather(struct call_space *space, struct thread *thread, u32 flags, s64 result, u32 is_dns)
{
	if (!space || !thread)
		return 0;
	struct call_event *event = &space->event;
	u64 *arguments = thread->arguments;
	if (flags & (CLASS_PATH_0 | CLASS_PATH_1)) {
		long length = bpf_probe_read_user_str(space->head, HEAD_PATH,
						      (void *)arguments[flags & CLASS_PATH_1 ? 1 : 0]);
		event->head_is_path = 1;
		return length > 0 ? length - 1 : 0;
	}
	if (flags & CLASS_CONNECT) {
		u16 family = 0;
		bpf_probe_read_user(&family, sizeof(family), (void *)arguments[1]);
		if (family != AF_UNIX)
			return 0;
		long length = bpf_probe_read_user_str(space->head, HEAD_PATH, (void *)(arguments[1] + 2));
		event->head_is_path = 1;
		return length > 0 ? length - 1 : 0;
	}
	if (result <= 0)
		return 0;
	if (flags & CLASS_BUFFER)
		return gather_buffer(space, thread, arguments[1], result, is_dns);
	u64 buffers = arguments[2], vector = arguments[1], asked = 0;
	if (flags & CLASS_MESSAGE)
		vector = message_vector(vector, &buffers);
	u32 length = gather_vector(space, vector, buffers, flags & CLASS_MESSAGES ? ~0ULL : result, &asked);
	event->arguments[0] = asked;
	if (flags & CLASS_MESSAGES && result > 1 && length <= HEAD_PATH) {
		/* The first message's bytes at the front, the second's at HEAD_PATH; both lengths go along. */
		u32 second = gather_second(space, arguments[1]);
		event->arguments[2] = length;
		return second ? HEAD_PATH + second : length;
	}
	return length;
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
	u8 role = flags & CLASS_ACCEPT ? ROLE_SERVER : ROLE_UNKNOWN;
	struct known_socket *known = register_socket(sk, file->inode, thread->pid, role);
	if (!known)
		return 0;
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

static __always_inline int leave(struct pt_regs *regs, long result, u32 tid, struct thread *thread)
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
	sum_up(thread->pid, number, now - start, thread->blocked, result,
	       flags & (CLASS_IN | CLASS_OUT) && !(flags & CLASS_MESSAGES));
	if (is_withheld_since(EVENT_CALL, thread->entered_in)) {
		thread->withheld.calls++;
		if (what & ABOUT_REQUEST)
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

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs *regs, long result)
{
	u32 tid = (u32)bpf_get_current_pid_tgid(), state;
	struct thread *thread = watched(tid);
	if (!thread || !thread->entered)
		return 0;
	u64 begun = work_begins(&state);
	leave(regs, result, tid, thread);
	work_ends(begun, state);
	return 0;
}
