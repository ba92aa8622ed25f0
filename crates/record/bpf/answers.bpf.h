/* Was the same work done? What can be told of an answer without keeping any of it: how many bytes it has, which status it begins
 * with, whether a handshake was broken off or a connection reset. */
#pragma once
#include "tls.bpf.h"
#include "meter.h"

enum { ECONNREFUSED = 111, ECONNRESET = 104, ECONNABORTED = 103, EPIPE = 32 };
/* Alert, version, and the two bytes of an alert in the clear: one that is encrypted is longer. */
enum { CLEAR_ALERT = 2 };
/* In `HTTP/1.1 200`. */
enum { STATUS_AT = 9 };

enum { RECVFROM = 45, RECVMSG = 47, RECVMMSG = 299, MSG_PEEK = 2 };

/* Whether a call only looked at bytes, which it or another will read again. */
static __always_inline bool is_peek(struct pt_regs *regs)
{
	u64 flags = regs->orig_ax == RECVMSG ? regs->dx : regs->orig_ax == RECVFROM || regs->orig_ax == RECVMMSG ? regs->r10 : 0;
	return flags & MSG_PEEK;
}

/* A call that failed. */
static __always_inline void count_failure(struct slot *slot, s64 result)
{
	if (result != -ECONNREFUSED && result != -ECONNRESET && result != -ECONNABORTED && result != -EPIPE)
		return;
	begin_change(slot);
	slot->resets++;
	end_change(slot);
}

/* Bytes of an answer. */
static __always_inline void count_bytes(struct slot *slot, u32 side, u64 bytes)
{
	if (side >= SIDES)
		return;
	begin_change(slot);
	slot->moved[side] += bytes;
	end_change(slot);
}

/* The beginning of an answer, or of what a handshake is answered with. */
static __always_inline void look_at_answer(struct slot *slot, u32 side, u32 kind, u64 buffer, s64 moved)
{
	struct head head = {};
	if (side >= SIDES || kind > CALL_WRITE_MESSAGE)
		return;
	read_head(&head, kind, buffer, moved);
	if (is_record(&head, TLS_ALERT) && head.bytes[3] == 0 && head.bytes[4] == CLEAR_ALERT) {
		begin_change(slot);
		slot->alerts++;
		end_change(slot);
		return;
	}
	const u8 *bytes = head.bytes;
	if (head.length <= STATUS_AT || bytes[0] != 'H' || bytes[1] != 'T' || bytes[2] != 'T' || bytes[3] != 'P' ||
	    bytes[4] != '/' || bytes[5] != '1')
		return;
	u32 class = bytes[STATUS_AT] - '1';
	if (class >= STATUS_CLASSES)
		return;
	begin_change(slot);
	slot->statuses[side][class]++;
	end_change(slot);
}
