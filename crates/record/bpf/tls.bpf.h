/* Which bytes of a connection belong to TLS itself, and not to what it carries? Decided by the headers of its records as they
 * are written and read: content type, version, length (RFC 8446, section 5.1). */
#pragma once
#include "messages.bpf.h"
#include "exchange.h"

enum { TLS_CHANGE = 0x14, TLS_ALERT = 0x15, TLS_HANDSHAKE = 0x16, TLS_DATA = 0x17, TLS_MAJOR = 3 };
enum { TLS_HEADER = 5, TLS_CHANGE_LENGTH = 6 };
/* An alert is two bytes; TLS 1.3 hides that it is one, behind a type of one byte and a tag of 16. */
enum { HIDDEN_ALERT = 2 + 1 + 16 };
/* Enough to see what follows a change of cipher. */
enum { HEAD = TLS_CHANGE_LENGTH + TLS_HEADER, HEAD_ROOM = 16 };

struct head {
	u8 bytes[HEAD_ROOM];
	u32 length;
};

/* The first bytes of what a call moves, `moved` of them in all. */
static __always_inline void read_head(struct head *head, u32 kind, u64 buffer, u64 moved)
{
	u64 buffers = 1, vector[2] = { buffer, moved };
	head->length = 0;
	if (kind == CALL_READ_MESSAGE || kind == CALL_WRITE_MESSAGE)
		buffer = message_vector(buffer, &buffers);
	if (kind != CALL_READ && kind != CALL_WRITE &&
	    (!buffer || bpf_probe_read_user(vector, sizeof(vector), (void *)buffer)))
		return;
	u64 length = vector[1] < moved ? vector[1] : moved;
	u32 take = length < HEAD ? length : HEAD;
	asm volatile("" : "+r"(take));
	take &= HEAD_ROOM - 1;
	if (!bpf_probe_read_user(head->bytes, take, (void *)vector[0]))
		head->length = take;
}

static __always_inline bool is_record(const struct head *head, u8 type)
{
	return head->length >= TLS_HEADER && head->bytes[0] == type && head->bytes[1] == TLS_MAJOR;
}

/* Whether what is written belongs to TLS itself: to its handshake, or to its end. */
static __always_inline bool is_of_tls(u32 kind, u64 buffer, u64 moved)
{
	struct head head = {};
	if (kind > CALL_WRITE_MESSAGE)
		return false;
	read_head(&head, kind, buffer, moved);
	if (is_record(&head, TLS_DATA))
		return head.bytes[3] == 0 && head.bytes[4] == HIDDEN_ALERT;
	return is_record(&head, TLS_HANDSHAKE) || is_record(&head, TLS_CHANGE) || is_record(&head, TLS_ALERT);
}

/* How far the handshake of an accepted connection has got. What its client says last is encrypted in TLS 1.3, and looks
 * like the data that follows it; so it is counted: it is the one record after the client's change of cipher. */
enum { TLS_NONE, TLS_BEGUN, TLS_CHANGED, TLS_LAST_BODY, TLS_DONE };

/* Whether a read that began with the head of the client's last record holds more than that record. */
static __always_inline bool take_last(struct exchanging *known, u32 at, u32 length_at, u64 result)
{
	u64 end = at + TLS_HEADER + length_at;
	known->tls = result == at + TLS_HEADER ? TLS_LAST_BODY : TLS_DONE;
	return result > end;
}

/* Whether what was read from an accepted connection, where a handshake has begun, is of the handshake alone. */
static __always_inline bool is_of_handshake(struct exchanging *known, u32 kind, u64 buffer, u64 result)
{
	struct head head = {};
	u16 tls = known->tls;
	if (tls == TLS_LAST_BODY) {
		known->tls = TLS_DONE;
		return true;
	}
	read_head(&head, kind, buffer, result);
	u8 *next = head.bytes + TLS_CHANGE_LENGTH;
	if (is_record(&head, TLS_CHANGE)) {
		if (head.length < HEAD)
			known->tls = TLS_CHANGED;
		else
			return !take_last(known, TLS_CHANGE_LENGTH, next[3] << 8 | next[4], result);
	} else if (is_record(&head, TLS_DATA) || (tls == TLS_CHANGED && is_record(&head, TLS_HANDSHAKE))) {
		return !take_last(known, 0, head.bytes[3] << 8 | head.bytes[4], result);
	}
	return true;
}
