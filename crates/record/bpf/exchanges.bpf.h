/* Which bytes were a request, which its answer? An exchange on a connection that was made here begins where its first
 * write is entered (the first one where setting up the connection began) and is counted at the first read of bytes after
 * it; later reads lengthen it. On one that was accepted
 * it begins with the first read and is counted at the first write, which later writes lengthen. TLS's own messages, as
 * far as they can be distinguished from data, begin nothing. */
#pragma once
#include "meter_lengths.bpf.h"
#include "answers.bpf.h"
#include "call_kinds.bpf.h"

/* What is known of a socket; 0 where it does not count. One that was there before its process was attached to is taken
 * up at its first use: the exchange that is under way by then is left out. */
static __always_inline struct exchanging *exchanging(u64 socket, u64 inode)
{
	struct exchanging *known = bpf_map_lookup_elem(&sockets, &socket);
	if (known && known->inode == inode)
		return known;
	u32 *side = bpf_map_lookup_elem(&adopted, &inode);
	if (!side)
		return 0;
	struct exchanging fresh = { .inode = inode, .side = *side };
	bpf_map_update_elem(&sockets, &socket, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&sockets, &socket);
}

static __always_inline bool register_stream(struct recent_file *file, u16 side, u64 set_up, u64 now)
{
	struct sock *sk = file ? (struct sock *)file->sock : 0;
	if (!sk || BPF_CORE_READ(sk, sk_type) != SOCK_STREAM)
		return false;
	u64 key = (u64)sk;
	struct exchanging *known = exchanging(key, file->inode);
	/* A connect that is asked about again, as without blocking, goes on. */
	if (known && known->set_up && set_up) {
		known->ready = now;
		return false;
	}
	struct exchanging fresh = { .inode = file->inode, .side = side, .set_up = set_up, .ready = now };
	bpf_map_update_elem(&sockets, &key, &fresh, BPF_ANY);
	return true;
}

/* Bytes of the answer: they lengthen the exchange, the first of them count it. */
static __always_inline void answered(struct slot *slot, struct exchanging *known, u64 now)
{
	u32 side = known->side;
	if (side >= SIDES || known->phase == PHASE_IDLE || now < known->since)
		return;
	bool is_first = known->phase == PHASE_ASKED;
	u64 more = now - known->since, before = is_first ? 0 : known->length;
	begin_change(slot);
	slot->exchanges[side] += is_first;
	slot->wall[side] += more;
	end_change(slot);
	move_length(side, is_first ? UNCOUNTED : bucket_of(before), before + more);
	known->length = before + more;
	known->phase = PHASE_ANSWERED;
	known->since = now;
}

/* The end of the stream: an answer without a length ends with it. A read that waited for it belongs to the exchange, the
 * time before that read does not: a connection that was kept is found closed long after. */
static __always_inline void ended(struct slot *slot, struct exchanging *known, u64 entered, u64 now)
{
	if (known->side == ACCEPTED || known->phase != PHASE_ANSWERED)
		return;
	known->since = entered > known->since ? entered : known->since;
	answered(slot, known, now);
	known->phase = PHASE_IDLE;
}

/* A connection that stood ready for this long before its first request was made ahead of time: nobody waited for it.
 * The same as in the diagnosis. */
enum { EARLY_OPEN = 100000000 };

static __always_inline void asked(struct exchanging *known, u64 now)
{
	if (known->phase == PHASE_ASKED)
		return;
	known->phase = PHASE_ASKED;
	known->since = known->set_up && now - known->ready < EARLY_OPEN ? known->set_up : now;
	known->set_up = 0;
}

/* A path's first 16 bytes, as two numbers to compare. */
struct beginning {
	u64 words[2];
};
#define BEGINS_WITH(path, text) ((path)->words[0] == *(const u64 *)(text) && (path)->words[1] == *(const u64 *)((text) + 8))

/* Whether a connection is to a name server or to what stands for one on this host: no part of the program's own work. */
static __always_inline bool is_for_names(u64 address)
{
	struct {
		u16 family;
		u16 port;
		u32 rest;
	} to = {};
	struct beginning path = {};
	if (bpf_probe_read_user(&to, sizeof(to), (void *)address))
		return true;
	if (to.family != AF_UNIX)
		return to.port == __builtin_bswap16(53);
	bpf_probe_read_user(&path, sizeof(path), (void *)(address + sizeof(to.family)));
	return BEGINS_WITH(&path, "/var/run/nscd/so") || BEGINS_WITH(&path, "/run/systemd/res");
}

/* What is to be done when a call returns. */
enum { RETURNS_NOTHING, RETURNS_READ, RETURNS_ANSWER, RETURNS_REQUEST, RETURNS_CONNECTED, RETURNS_CLOSED };

/* A write is entered. A request begins now, not when the call returns: the answer may be read before that. */
static __always_inline u16 enter_write(struct recent_file *file, struct pt_regs *regs, u32 kind, u64 now)
{
	struct exchanging *known = exchanging(file->sock, file->inode);
	if (!known)
		return RETURNS_NOTHING;
	bool is_accepted = known->side == ACCEPTED;
	if (known->phase == PHASE_ASKED && !is_accepted)
		return RETURNS_NOTHING;
	if (is_of_tls(kind, regs->si, kind == CALL_WRITE ? regs->dx : ~0ULL)) {
		if (is_accepted && known->phase == PHASE_ASKED)
			known->phase = PHASE_IDLE;
		if (known->tls == TLS_NONE)
			known->tls = TLS_BEGUN;
		return RETURNS_NOTHING;
	}
	if (is_accepted)
		return RETURNS_ANSWER;
	asked(known, now);
	return RETURNS_REQUEST;
}

/* A connection is begun, or one to a name server: the look-up belongs to the connection that follows it. */
static __always_inline u16 enter_connect(struct slot *slot, struct followed *thread, struct recent_file *file, struct pt_regs *regs, u64 now)
{
	if (is_for_names(regs->si)) {
		thread->lookup = thread->lookup ?: now;
		return RETURNS_NOTHING;
	}
	u16 side = slot->role == ROLE_OF_SERVER ? CONNECTED_BY_SERVER : CONNECTED_BY_CLIENT;
	if (register_stream(file, side, thread->lookup ?: now, now))
		thread->lookup = 0;
	return RETURNS_CONNECTED;
}

/* A call that may move bytes of a connection is entered: what is to be done when it returns. */
static __always_inline u16 enter_call(struct slot *slot, struct followed *thread, struct pt_regs *regs, u32 kind, u64 now)
{
	if (kind == CALL_ACCEPT)
		return RETURNS_NOTHING; /* what it is about is known only then */
	if (kind == CALL_CLOSE) {
		__sync_fetch_and_add(&closes, 1);
		return RETURNS_CLOSED;
	}
	struct recent_file *file = describe_file(thread->files, kind == CALL_SPLICE ? regs->dx : regs->di);
	if (kind == CALL_SPLICE && file && !file->sock) {
		kind = CALL_READ;
		file = describe_file(thread->files, regs->di);
	}
	if (!file || !file->sock)
		return RETURNS_NOTHING;
	thread->socket = file->sock;
	thread->inode = file->inode;
	thread->entered = now;
	if (kind == CALL_CONNECT)
		return enter_connect(slot, thread, file, regs, now);
	return kind <= CALL_READ_MESSAGE ? RETURNS_READ : enter_write(file, regs, kind, now);
}

/* A connection was accepted: also by a call that was entered before its thread was followed. */
static __always_inline void leave_accept(struct followed *thread, s64 result, u64 now)
{
	if (result >= 0)
		register_stream(describe_file(thread->files, result), ACCEPTED, 0, now);
}

/* The call returned. */
static __always_inline void leave_call(struct slot *slot, struct followed *thread, struct pt_regs *regs, u32 kind, s64 result, u64 now)
{
	u32 returns = thread->returns;
	thread->returns = RETURNS_NOTHING;
	if (returns == RETURNS_CLOSED) {
		__sync_fetch_and_add(&closes, 1);
		return;
	}
	if (returns == RETURNS_CONNECTED) {
		struct exchanging *made = exchanging(thread->socket, thread->inode);
		if (made)
			made->ready = now;
		if (made && result < 0)
			count_failure(slot, result);
		return;
	}
	struct exchanging *known = exchanging(thread->socket, thread->inode);
	if (known && result < 0)
		count_failure(slot, result);
	if (returns == RETURNS_READ && !result && known) {
		ended(slot, known, thread->entered, now);
		return;
	}
	if (!known || (returns == RETURNS_REQUEST ? result > 0 : result <= 0))
		return;
	bool is_read = returns == RETURNS_READ;
	if (is_read ? known->side != ACCEPTED && known->phase != PHASE_ANSWERED : known->phase == PHASE_ASKED)
		look_at_answer(slot, known->side, kind, regs->si, result);
	known->ready = now;
	if (returns == RETURNS_REQUEST) {
		known->phase = PHASE_IDLE; /* nothing was written: it did not begin after all */
	} else if (returns == RETURNS_ANSWER || known->side != ACCEPTED) {
		if (known->phase != PHASE_IDLE && !is_peek(regs))
			count_bytes(slot, known->side, result);
		answered(slot, known, now);
		thread->lookup = 0;
	}
	else if (known->tls == TLS_NONE || known->tls == TLS_DONE || !is_of_handshake(known, kind, regs->si, result))
		asked(known, now);
}
