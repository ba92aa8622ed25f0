/* Lets a program run on all CPUs: each process allows itself all of them when it begins, and asking for less does nothing. Changed
 * counts processes that were allowed more by it, and requests that were ignored. */
#include "raw.h"
#include "wrap.h"

/* As many CPUs as the kernel knows (CONFIG_NR_CPUS is 8,192 at most). */
enum { BYTES = 1024 };

static void allow_all(void)
{
	unsigned char all[BYTES], before[BYTES] = { 0 }, after[BYTES] = { 0 };
	memset(all, 0xff, BYTES);
	raw_call(SYS_sched_getaffinity, 0, BYTES, (long)before, 0, 0, 0);
	if (raw_call(SYS_sched_setaffinity, 0, BYTES, (long)all, 0, 0, 0))
		return;
	raw_call(SYS_sched_getaffinity, 0, BYTES, (long)after, 0, 0, 0);
	if (memcmp(before, after, BYTES))
		CHANGED();
}

__attribute__((constructor)) static void begin(void)
{
	shim_begin("all-processors");
	SEEN();
	if (!shim_is_inert)
		allow_all();
}

WRAP(int, sched_setaffinity, (int process, unsigned long size, const void *mask))
{
	NEXT(sched_setaffinity);
	if (shim_is_inert)
		return real(process, size, mask);
	CHANGED();
	return 0;
}

WRAP(int, pthread_setaffinity_np, (unsigned long thread, unsigned long size, const void *mask))
{
	NEXT(pthread_setaffinity_np);
	if (shim_is_inert)
		return real(thread, size, mask);
	CHANGED();
	return 0;
}
