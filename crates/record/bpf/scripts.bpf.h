/* Which line of an interpreted program made this call? The interpreter's own frames, walked where they lie. User space says
 * per process where the interpreter keeps them; each chain of frames is sent once. */
#pragma once
#include "perl.bpf.h"
#include "php.bpf.h"
#include "python.bpf.h"
#include "ruby.bpf.h"
#include "v8.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct interpreter);
} interpreters SEC(".maps");

/* 1 once user space has found an interpreter: until then nobody looks for frames. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} any_interpreter SEC(".maps");

static __always_inline bool scripts_are_known(void)
{
	u32 key = 0, *known = bpf_map_lookup_elem(&any_interpreter, &key);
	return known && *known;
}

struct script_key {
	u64 hash;
	u64 pid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct script_key);
	__type(value, u32);
} scripts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* one for calls, one for samples, which can interrupt them */
	__type(key, u32);
	__type(value, struct script_chain);
} script_scratch SEC(".maps");

static __always_inline void walk(struct interpreter *in, struct script_chain *chain, struct thread *known)
{
	switch (in->language) {
	case LANGUAGE_PYTHON:
		walk_python(in, chain, known);
		break;
	case LANGUAGE_PHP:
		walk_php(in, chain);
		break;
	case LANGUAGE_PERL:
		walk_perl(in, chain);
		break;
	case LANGUAGE_RUBY:
		walk_ruby(in, chain, known);
		break;
	case LANGUAGE_V8:
		walk_v8(in, chain, known);
		break;
	}
}

/* The number of the current chain of frames; 0 where the process runs no script. `slot` picks the scratch space. */
__noinline u32 script_number(struct thread *known, u32 slot)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct interpreter *in = bpf_map_lookup_elem(&interpreters, &pid);
	struct script_chain *chain = bpf_map_lookup_elem(&script_scratch, &slot);
	if (!in || !chain || !known)
		return 0;
	struct script_event *event = &chain->event;
	event->frames = 0;
	chain->hash = HASH_START;
	walk(in, chain, known);
	u32 frames = event->frames;
	if (!frames)
		return 0;
	struct script_key key = { .hash = chain->hash, .pid = pid };
	u32 *seen = bpf_map_lookup_elem(&scripts, &key);
	if (seen)
		return *seen;
	u32 number = next_number(NUMBER_SCRIPT);
	event->kind = EVENT_SCRIPT;
	event->number = number;
	event->pid = pid;
	u64 size = __builtin_offsetof(struct script_event, frame) + (frames & 63) * sizeof(event->frame[0]);
	if (size > sizeof(*event))
		return 0;
	if (bpf_ringbuf_output(&ring, event, size, wake_if_full())) {
		count_lost(EVENT_SCRIPT);
		return 0;
	}
	bpf_map_update_elem(&scripts, &key, &number, BPF_ANY);
	return number;
}
