/* Which system calls are recorded, what there is to read about each, and how one begins. */
#pragma once
#include "costs.bpf.h"

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

/* What a call is, counted; 0 for one that is not recorded. */
static __always_inline u16 count_call(struct pt_regs *regs, u64 number, struct thread *thread)
{
	thread->calls++;
	u16 flags = number < 512 ? classes[number & 511].flags : 0;
	if (!(flags & CLASS_RECORD) || (flags & CLASS_MAPPING && !(regs->dx & PROT_EXEC)))
		return 0;
	/* What is mapped is told by an event of its own. */
	if (!(flags & CLASS_MAPPING))
		thread->recorded_calls++;
	return flags;
}

static __always_inline void keep_arguments(struct pt_regs *regs, u16 flags, struct thread *thread)
{
	thread->arguments[0] = regs->di;
	thread->arguments[1] = regs->si;
	thread->arguments[2] = regs->dx;
	thread->arguments[3] = flags & CLASS_MAPPING ? regs->r9 : regs->r10;
	thread->arguments[4] = regs->r8;
}

/* What a thread waited for was no call: it had waited after one had returned, for what the kernel does then. */
static __always_inline void forget_waiting(struct thread *thread)
{
	thread->calls--;
	if (thread->entered && !(classes[thread->number & 511].flags & CLASS_MAPPING))
		thread->recorded_calls--;
	thread->entered = 0;
}

/* The thread is in a call from now on; 0 where it is not recorded. */
static __always_inline u16 begin_call(struct pt_regs *regs, u64 number, struct thread *thread)
{
	if (thread->begun == BEGUN_WAITING)
		forget_waiting(thread);
	thread->entered = 0;
	thread->number = number;
	u16 flags = count_call(regs, number, thread);
	if (!flags)
		return 0;
	thread->blocked = 0;
	thread->stack_pointer = regs->sp;
	keep_arguments(regs, flags, thread);
	return flags;
}

/* A call that nobody saw begin has to wait: it lasts from now on, so that its waiting is its own and it has a row where it reaches
 * into a stretch of time with rows. With rows made, a thread that has returned from a call since is in none. */
static __always_inline void begin_waiting(struct task_struct *task, struct thread *thread, u64 now)
{
	u32 epoch = epoch_of_rows();
	if (thread->begun != BEGUN_UNSEEN || (!(epoch & 1) && thread->left_in == epoch))
		return;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs((void *)task);
	u64 number = regs->orig_ax;
	/* Anything else is an exception or an interrupt, not a call. */
	if (number >= 512)
		return;
	if (begin_call(regs, number, thread)) {
		thread->entered = now;
		thread->entered_in = epoch;
	}
	thread->begun = BEGUN_WAITING;
}
