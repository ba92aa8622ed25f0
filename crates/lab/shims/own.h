/* What a shim keeps for itself: memory that is empty in a child after a fork, and the lock of a part of it. */
#pragma once
#include "raw.h"

/* Loaded with the program, a shim has room in its threads' static blocks; asking for it needs no allocation. */
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

/* Memory that a fork leaves empty in the child, or 0: what is held in it is the parent's to send, and not the child's too. */
static inline void *own_memory(size_t size)
{
	void *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return 0;
	/* 18 = MADV_WIPEONFORK (Linux 4.14). */
	return madvise(memory, size, 18) ? 0 : memory;
}

/* Takes a lock for `me`; not where `me` has it (this thread was interrupted by a signal), nor where it seems abandoned. */
static inline int own_take(void **lock, void *me)
{
	for (int tries = 0; tries < 100000; tries++) {
		void *owner = 0;
		if (__atomic_compare_exchange_n(lock, &owner, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return 1;
		if (owner == me)
			return 0;
		if (tries > 100)
			raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	return 0;
}

static inline void own_release(void **lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}
