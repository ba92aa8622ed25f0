/* PHP's frames, of builds without threads: only a process's first thread runs scripts. */
#pragma once
#include "script_frames.bpf.h"

/* The front of zend_execute_data, which is the same in all of PHP 8. */
struct php_frame {
	u64 opline;
	u64 call;
	u64 return_value;
	u64 function;
	u64 this[2];
	u64 previous;
};

/* zend_op has its line here, and is this long, in all of PHP 8. */
enum { PHP_OP_LINE = 24, PHP_OP_BYTES = 32 };
/* zend_function: what type it is of, and its name and class; zend_string: its hash. */
enum { PHP_INTERNAL = 1, PHP_NAME = 8, PHP_SCOPE = 16, PHP_STRING_HASH = 8 };
/* Frames that run nothing lie between those that do. */
enum { PHP_FRAMES = 64 };

/* The instruction that a function is at. The interpreter writes it down before it calls anything; where it was interrupted on
 * its way, it has its frame and the instruction in two registers (ZEND_VM_FP_GLOBAL_REG and ZEND_VM_IP_GLOBAL_REG). */
static __always_inline u64 php_opline(struct script_chain *chain, struct php_frame *frame, u64 address)
{
	u64 opline = frame->opline;
	if (chain->event.frames)
		return opline;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	u64 of_frame = regs->r14, in_register = regs->r15;
	/* Or else the compiler loads either by one instruction, which the verifier refuses. */
	barrier_var(in_register);
	return of_frame == address ? in_register : opline;
}

static __always_inline u32 php_line(struct interpreter *in, struct script_chain *chain, u64 opline)
{
	u64 from = front_word(chain, in->php.opcodes), length = front_half(chain, in->php.last);
	if (opline < from || opline - from >= length * PHP_OP_BYTES)
		return 0;
	u32 line = 0;
	bpf_probe_read_user(&line, sizeof(line), (void *)(opline + PHP_OP_LINE));
	return line;
}

/* Adds what is in chain->front. Functions are freed when a request ends, and others take their place: half of the
 * instruction is a digest of the function (php::digest), the other half the line. */
static __always_inline void php_function(struct interpreter *in, struct script_chain *chain, struct php_frame *frame, u64 address)
{
	u64 name = front_word(chain, PHP_NAME), identity = frame->function;
	u64 digest = mixed(mixed(HASH_START, name), front_word(chain, PHP_SCOPE));
	u32 line = 0;
	if ((u8)chain->front[0] != PHP_INTERNAL) {
		u64 filename = front_word(chain, in->php.filename);
		digest = mixed(mixed(digest, front_word(chain, in->php.opcodes)), filename);
		line = php_line(in, chain, php_opline(chain, frame, address));
		/* The file itself: it may lie just where another request's file lay. */
		if (!name)
			identity ^= user_word(filename + PHP_STRING_HASH);
	}
	digest ^= digest >> HASH_SHIFT;
	add_frame(chain, frame->function, digest << 32 | line, identity);
}

__noinline int walk_php(struct interpreter *in, struct script_chain *chain)
{
	struct task_struct *task = bpf_get_current_task_btf();
	if (!in || !chain || task->pid != task->tgid)
		return 0;
	u64 address = user_word(in->base + in->php.current);
	for (int i = 0; i < PHP_FRAMES && address; i++) {
		struct php_frame frame;
		if (bpf_probe_read_user(&frame, sizeof(frame), (void *)address))
			break;
		if (frame.function && !bpf_probe_read_user(chain->front, FRONT_BYTES, (void *)frame.function))
			php_function(in, chain, &frame, address);
		address = frame.previous;
	}
	return 0;
}
