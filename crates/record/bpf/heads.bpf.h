/* What does a call name or move? Its path, or the first bytes of its buffers, copied. */
#pragma once
#include "classes.bpf.h"
#include "messages.bpf.h"

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
	/* A statement to PostgreSQL (Query, Parse) or MariaDB (COM_QUERY, COM_STMT_PREPARE): its table comes after the columns. */
	if (((head[0] == 'Q' || head[0] == 'P') && !head[1]) || (!head[3] && (head[4] == 3 || head[4] == 22)))
		return HEAD_PATH;
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
