/* Where in its code was the thread? Registers and the innermost 16 kB of its stack, copied; user space unwinds them.
 * A call site is copied when new, now and then, and whenever the call was slow, within a budget. */
#pragma once
#include "maps.h"

struct site {
	u32 stack; /* the last stack copied here */
	u32 calls;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct site);
} sites SEC(".maps");

struct budget {
	u64 window;
	u32 copied;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct budget);
} budgets SEC(".maps");

/* Unwinding a stack costs user space some 5 us: 48 in 10 ms keep that under 3 % of a processor. Slow calls and calls on
 * sockets may use all of it; the others, of which a starting program makes hundreds, the part that leaves them room. */
enum { BUDGET_WINDOW_NS = 10000000, BUDGET_FIRST = 48, BUDGET_OTHER = 12 };
/* A call that takes this long is worth its own stack. */
enum { SLOW_CALL_NS = 1000000 };

static __always_inline bool within_budget(u32 most, u64 now)
{
	u32 key = 0;
	struct budget *budget = bpf_map_lookup_elem(&budgets, &key);
	if (!budget)
		return false;
	if (now - budget->window > BUDGET_WINDOW_NS) {
		budget->window = now;
		budget->copied = 0;
	}
	if (budget->copied >= most)
		return false;
	budget->copied++;
	return true;
}

/* Copies the current thread's user stack; 0 where there was no room. */
__noinline u32 copy_stack(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs((void *)task);
	struct stack_event *event = reserve(sizeof(*event) + STACK_BYTES, EVENT_STACK);
	if (!event)
		return 0;
	u32 number = next_number(NUMBER_STACK);
	event->kind = EVENT_STACK;
	event->number = number;
	event->pid = task->tgid;
	event->registers[0] = regs->ax;
	event->registers[1] = regs->dx;
	event->registers[2] = regs->cx;
	event->registers[3] = regs->bx;
	event->registers[4] = regs->si;
	event->registers[5] = regs->di;
	event->registers[6] = regs->bp;
	event->registers[7] = regs->sp;
	event->registers[8] = regs->r8;
	event->registers[9] = regs->r9;
	event->registers[10] = regs->r10;
	event->registers[11] = regs->r11;
	event->registers[12] = regs->r12;
	event->registers[13] = regs->r13;
	event->registers[14] = regs->r14;
	event->registers[15] = regs->r15;
	event->registers[16] = regs->ip;
	void *from = (void *)regs->sp;
	u32 length = STACK_BYTES;
	if (bpf_probe_read_user(event->bytes, STACK_BYTES, from)) {
		/* Near the stack's outer end, or a page is missing: take what there is, a piece at a time. */
		length = 0;
		for (int i = 0; i < STACK_BYTES / STACK_CHUNK; i++) {
			if (bpf_probe_read_user(event->bytes + i * STACK_CHUNK, STACK_CHUNK, from + i * STACK_CHUNK))
				break;
			length = (i + 1) * STACK_CHUNK;
		}
		/* And of the piece in which the stack ends, its words. */
		for (int i = 0; i < STACK_CHUNK / 64 && length < STACK_BYTES; i++) {
			if (bpf_probe_read_user(event->bytes + (length & (STACK_BYTES - 1)), 64, from + length))
				break;
			length += 64;
		}
	}
	event->length = length;
	bpf_ringbuf_submit(event, wake_if_full());
	return number;
}

/* The stack of a call at a site that the thread has not used lately. */
__noinline u32 stack_of_site(u64 key, u64 now, u64 duration, bool on_socket)
{
	bool slow = duration >= SLOW_CALL_NS;
	u32 most = slow || on_socket ? BUDGET_FIRST : BUDGET_OTHER;
	struct site *site = bpf_map_lookup_elem(&sites, &key);
	if (site) {
		u32 calls = ++site->calls;
		bool again = (calls & (calls - 1)) == 0 || !site->stack;
		if (!slow && !again)
			return site->stack;
		if (!within_budget(most, now))
			return site->stack;
		u32 number = copy_stack();
		if (number)
			site->stack = number;
		return site->stack;
	}
	struct site fresh = { .calls = 1 };
	if (within_budget(most, now))
		fresh.stack = copy_stack();
	bpf_map_update_elem(&sites, &key, &fresh, BPF_ANY);
	return fresh.stack;
}

/* A site used again and again is asked for in the shared record only this often. */
enum { SITE_REPEATS = 32 };

/* The stack of a call: copied now, or the last one of the same site. */
static __always_inline u32 stack_of_call(struct thread *thread, u64 ip, u64 now, u64 duration, bool on_socket)
{
	u64 key = ((thread->stack_pointer ^ (ip << 9) ^ ((u64)thread->pid << 40) ^ thread->number) * 0x9e3779b97f4a7c15ULL);
	struct recent_site *recent = &thread->sites[(key >> 60) & (RECENT - 1)];
	if (recent->key == key && recent->left && duration < SLOW_CALL_NS) {
		recent->left--;
		return recent->stack;
	}
	u32 stack = stack_of_site(key, now, duration, on_socket);
	recent->key = key;
	recent->stack = stack;
	recent->left = stack ? SITE_REPEATS : 0;
	return stack;
}
