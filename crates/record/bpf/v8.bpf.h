/* JavaScript's frames, of V8 in Node. Node is built with frame pointers throughout: the chain leads through what is compiled
 * in memory and through C++ alike. */
#pragma once
#include "script_frames.bpf.h"

/* What is below and above the saved frame pointer, the same for interpreted, baseline and optimised functions of V8 10 to 13
 * (v8dbg_off_fp_*; user space checks that). Of other frames `context` is a small integer, which says what they are of. */
struct v8_frame {
	u64 offset;
	u64 bytecode; /* of interpreted and baseline functions; any value of optimised ones */
	u64 arguments;
	u64 function;
	u64 context;
	u64 previous;
	u64 return_address;
};
enum { V8_BELOW = __builtin_offsetof(struct v8_frame, previous) };

/* A pointer into the heap ends in binary 01; `map` is the first word of what it points to. */
enum { V8_TAG = 1, V8_TAG_MASK = 3 };
/* So much of what functions share holds all that is looked at. */
enum { V8_SHARED_BYTES = 56 };
/* Each line of a script is some frames of C++ and of stubs. */
enum { V8_FRAMES = 96 };
/* So many bits of an address are used. Those above hold a digest of the function (v8::digest). */
enum { V8_ADDRESS_BITS = 48 };
/* In the place of an instruction: the frame has bytecode, which optimised functions do not need. */
#define V8_HAS_BYTECODE (1ULL << 63)

static __always_inline bool is_in_heap(u64 pointer)
{
	return (pointer & V8_TAG_MASK) == V8_TAG;
}

static __always_inline bool is_bytecode(struct v8_offsets *at, u64 pointer)
{
	if (!is_in_heap(pointer))
		return false;
	u64 map = user_word(pointer - V8_TAG);
	u16 type = 0;
	if (!is_in_heap(map) || bpf_probe_read_user(&type, sizeof(type), (void *)(map - V8_TAG + at->instance_type)))
		return false;
	return type == at->type_of_bytecode;
}

/* Whether a frame at `code` runs JavaScript, and what is said of that in the place of an instruction; 0 where it does not.
 * Interpreted functions all return to one address in the interpreter, which is remembered: it is in node's own file, as C++ is,
 * or where V8 has mapped that part a second time. Other code outside of the file was compiled in memory, or is a library's:
 * user space tells those apart. */
static __always_inline u64 v8_runs(struct interpreter *in, struct v8_frame *frame, u64 code, u64 *returns, bool is_innermost)
{
	if (code == *returns)
		return V8_HAS_BYTECODE;
	if (is_bytecode(&in->v8, frame->bytecode)) {
		if (!is_innermost)
			*returns = code;
		return V8_HAS_BYTECODE;
	}
	return code - in->base < in->v8.image_bytes ? 0 : code;
}

/* What a function shares with its other closures is named: it stays where it is for longer, and says where it is written. */
static __always_inline void v8_function(struct interpreter *in, struct script_chain *chain, u64 function, u64 instruction)
{
	struct v8_offsets *at = &in->v8;
	u64 shared = user_word(function - V8_TAG + at->shared);
	if (!is_in_heap(shared) || bpf_probe_read_user(chain->front, V8_SHARED_BYTES, (void *)(shared - V8_TAG)))
		return;
	u64 name = front_word(chain, at->name), script = front_word(chain, at->script);
	/* What V8 brings along is written nowhere. */
	if (!is_in_heap(script))
		return;
	u64 digest = mixed(mixed(HASH_START, name), script);
	digest ^= digest >> HASH_SHIFT;
	u64 identity = (shared & ((1ULL << V8_ADDRESS_BITS) - 1)) | digest << V8_ADDRESS_BITS;
	add_frame(chain, identity, instruction, identity);
}

/* A frame of a stack, of which a piece is copied at a time: a call costs more than the bytes that it copies. */
static __always_inline bool v8_frame_at(struct script_chain *chain, u64 address, struct v8_frame *frame)
{
	u64 offset = address - chain->piece_start;
	if (offset > PIECE_BYTES - sizeof(*frame) || offset & (sizeof(u64) - 1)) {
		chain->piece_start = 0;
		/* The stack may end sooner. */
		if (address & (sizeof(u64) - 1) || bpf_probe_read_user(chain->piece, PIECE_BYTES, (void *)address))
			return !bpf_probe_read_user(frame, sizeof(*frame), (void *)address);
		chain->piece_start = address;
		offset = 0;
	}
	u32 at = offset / sizeof(u64) & (PIECE_WORDS - 1);
	u64 *words = (u64 *)frame;
	for (u32 i = 0; i < sizeof(*frame) / sizeof(u64); i++)
		words[i] = chain->piece[(at + i) & (PIECE_WORDS - 1)];
	return true;
}

/* Walks frames from a frame pointer on, the first of which was at `code`. */
__noinline int follow_v8(struct interpreter *in, struct script_chain *chain, struct thread *known, u64 pointer, u64 code)
{
	if (!in || !chain || !known)
		return 0;
	for (int i = 0; i < V8_FRAMES && chain->event.frames < SCRIPT_FRAMES; i++) {
		struct v8_frame frame;
		if (!v8_frame_at(chain, pointer - V8_BELOW, &frame))
			break;
		if (is_in_heap(frame.context) && is_in_heap(frame.function)) {
			u64 instruction = v8_runs(in, &frame, code, &known->script_thread, !i);
			if (instruction)
				v8_function(in, chain, frame.function, instruction);
		}
		if (frame.previous <= pointer)
			break;
		pointer = frame.previous;
		code = frame.return_address;
	}
	return 0;
}

/* Where JavaScript called C++, V8 writes down the frame pointer, until the call returns; 0 where it did not. */
static __always_inline u64 v8_exit_frame(struct v8_offsets *at)
{
	u64 isolate = at->isolate ? user_word(bpf_get_current_task_btf()->thread.fsbase - at->isolate) : 0;
	return isolate ? user_word(isolate + at->exit_frame) : 0;
}

__noinline int walk_v8(struct interpreter *in, struct script_chain *chain, struct thread *known)
{
	if (!in || !chain || !known)
		return 0;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	chain->piece_start = 0;
	follow_v8(in, chain, known, regs->bp, regs->ip);
	/* Assembly of libraries, and add-ons, may use the register for something else. */
	u64 outer = chain->event.frames ? 0 : v8_exit_frame(&in->v8);
	if (outer > regs->sp)
		follow_v8(in, chain, known, outer, in->base);
	return 0;
}
