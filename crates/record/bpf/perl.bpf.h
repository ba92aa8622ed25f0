/* Perl's contexts, of builds with threads. */
#pragma once
#include "script_frames.bpf.h"

/* The front of PERL_SI, a stack of contexts; the same from 5.34 to 5.42, as those below. */
struct perl_stack {
	u64 values;
	u64 contexts;
	u64 previous;
	u64 next;
	s32 top;
};

/* The front of PERL_CONTEXT: what it is, the statement that it was entered from, and the sub that it runs. */
struct perl_context {
	u8 type;
	u8 pad[15];
	u64 statement;
	u64 pad2[6];
	u64 code;
};

/* The front of COP, a statement. */
struct perl_statement {
	u8 pad[36];
	u32 line;
	u64 pad2;
	u64 file;
};

enum { PERL_CONTEXT_BYTES = 104, PERL_TYPE = 15, PERL_SUB = 9, PERL_FORMAT = 10, PERL_EVAL = 11, PERL_IS_BLOCK = 64 };
/* Loops and blocks are contexts as well. */
enum { PERL_CONTEXTS = 160 };
/* A thread's values lie in blocks of so many, each behind a number (glibc). */
enum { PERL_KEYS = 32, PERL_VALUE_BYTES = 16 };

/* The interpreter of the current thread: the value that it keeps by Perl's key. */
static __always_inline u64 perl_interpreter(struct interpreter *in)
{
	u64 self = bpf_get_current_task_btf()->thread.fsbase;
	u32 key = (u32)user_word(in->base);
	u64 block = user_word(self + in->perl.specific + key / PERL_KEYS * sizeof(u64));
	return block ? user_word(block + key % PERL_KEYS * PERL_VALUE_BYTES + sizeof(u64)) : 0;
}

/* Statements of code that was made at run time are freed, and others take their place: the top of the instruction is a digest
 * of the statement (perl::digest), the rest its address. */
static __always_inline void perl_frame(struct script_chain *chain, u64 code, u64 address)
{
	struct perl_statement statement;
	if (bpf_probe_read_user(&statement, sizeof(statement), (void *)address))
		return;
	u64 digest = mixed(mixed(HASH_START, statement.line), statement.file);
	digest ^= digest >> HASH_SHIFT;
	/* Each closure has a copy of its code, but not of its statements. */
	add_frame(chain, code, digest << 48 | (address & 0xffffffffffffULL), 0);
}

__noinline int walk_perl(struct interpreter *in, struct script_chain *chain)
{
	if (!in || !chain)
		return 0;
	u64 interpreter = perl_interpreter(in);
	if (!interpreter)
		return 0;
	u64 statement = user_word(interpreter + in->perl.current);
	u64 next = user_word(interpreter + in->perl.stack);
	struct perl_stack stack = { .top = -1 };
	for (int i = 0; i < PERL_CONTEXTS && statement; i++) {
		if (stack.top < 0) {
			if (!next || bpf_probe_read_user(&stack, sizeof(stack), (void *)next))
				break;
			next = stack.previous;
			continue;
		}
		struct perl_context context;
		u64 address = stack.contexts + (u64)(u32)stack.top * PERL_CONTEXT_BYTES;
		if (bpf_probe_read_user(&context, sizeof(context), (void *)address))
			return 0;
		stack.top--;
		u32 type = context.type & PERL_TYPE;
		bool is_file = type == PERL_EVAL && !(context.type & PERL_IS_BLOCK);
		if (type == PERL_SUB || type == PERL_FORMAT || is_file) {
			perl_frame(chain, is_file ? 0 : context.code, statement);
			statement = context.statement;
		}
	}
	if (statement)
		perl_frame(chain, 0, statement);
	return 0;
}
