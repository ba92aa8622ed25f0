/* What the walkers of interpreters' frames share: where a process keeps its frames, and the chain that is made of them. */
#pragma once
#include "maps.h"

/* Offsets in bytes, by language; mirrored by the Offsets of scripts::python and its neighbours, a word a field. */
struct python_offsets {
	u32 interpreters_head;
	u32 threads_head;
	u32 thread_next;
	u32 thread_id;
	u32 thread_frame;
	u32 cframe_current_frame;
	u32 frame_through_cframe;
	u32 frame_code;
	u32 frame_instruction;
	u32 instruction_is_index;
	u32 frame_previous;
};

struct php_offsets {
	u32 current; /* of the innermost frame, in the executor's globals */
	u32 last;
	u32 opcodes;
	u32 filename;
};

struct perl_offsets {
	u32 specific; /* of the thread's values by key, in its control block */
	u32 current;
	u32 stack;
};

struct ruby_offsets {
	u32 main_ractor;
	u32 threads;
	u32 thread_native; /* of what has the thread's id, in a thread; 0: the thread itself has it */
	u32 thread_id;
	u32 thread_context;
	u32 frame_size;
};

struct v8_offsets {
	u32 image_bytes; /* of node's own code and data, from the interpreter's base on */
	u32 shared; /* in a function */
	u32 name; /* in what functions share */
	u32 script;
	u32 instance_type; /* in a map */
	u32 type_of_bytecode;
	u32 isolate; /* where a thread has its own, below its control block; 0 where that is not known */
	u32 exit_frame; /* in an isolate */
};

enum { LANGUAGE_PYTHON = 1, LANGUAGE_PHP, LANGUAGE_PERL, LANGUAGE_RUBY, LANGUAGE_V8 };

/* An interpreter in a process. Mirrored by scripts::Walk. */
struct interpreter {
	u64 base; /* the address that its language's offsets begin at */
	u32 language;
	union {
		struct python_offsets python;
		struct php_offsets php;
		struct perl_offsets perl;
		struct ruby_offsets ruby;
		struct v8_offsets v8;
	};
};

/* The front of a frame, or of what it runs, in which all versions keep what is read of it: one copy is cheaper than three. */
enum { FRONT_BYTES = 192, FRONT_WORDS = 32 /* a power of two, to keep within by a mask */ };

/* A piece of a stack: some frames. */
enum { PIECE_WORDS = 128 /* a power of two */, PIECE_BYTES = PIECE_WORDS * sizeof(u64) };

/* A chain of frames that is being walked, innermost first. */
struct script_chain {
	struct script_event event;
	u64 hash;
	u64 front[FRONT_WORDS];
	u64 piece_start; /* where the piece lies; 0: nowhere */
	u64 piece[PIECE_WORDS];
};

static __always_inline u64 user_word(u64 address)
{
	u64 word = 0;
	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

static __always_inline u64 front_word(struct script_chain *chain, u32 offset)
{
	return chain->front[offset / sizeof(u64) & (FRONT_WORDS - 1)];
}

/* Half a word, at an offset that is a multiple of its size. */
static __always_inline u32 front_half(struct script_chain *chain, u32 offset)
{
	u64 word = front_word(chain, offset);
	return offset & sizeof(u32) ? word >> 32 : word;
}

/* FNV-1a, a word at a time. */
enum { HASH_SHIFT = 29 };
static const u64 HASH_START = 14695981039346656037ULL;
static __always_inline u64 mixed(u64 hash, u64 word)
{
	return (hash ^ word) * 1099511628211ULL;
}

/* Adds a frame. `identity` is what tells its code from other code, where its address does not. */
static __always_inline void add_frame(struct script_chain *chain, u64 code, u64 instruction, u64 identity)
{
	u32 frames = chain->event.frames;
	if (frames >= SCRIPT_FRAMES)
		return;
	chain->event.frame[frames].code = code;
	chain->event.frame[frames].instruction = instruction;
	u64 hash = mixed(mixed(chain->hash, identity), instruction);
	chain->hash = hash ^ hash >> HASH_SHIFT;
	chain->event.frames = frames + 1;
}
