/* Lets a program have many files open: each process allows itself more when it begins, and asking for fewer does nothing. Changed
 * counts processes that were allowed more by it, and requests that were raised. */
#include "raw.h"
#include "wrap.h"

/* RLIMIT_NOFILE, and how many are enough for a program that ran out of fewer (POLL and select are slow or end long before). */
enum { FILES = 7, ENOUGH = 65536 };

struct limit {
	unsigned long now, most;
};

/* As many as are enough, where the process may have them: more than it was allowed at most are a matter of privilege. */
static void allow_enough(void)
{
	struct limit before = { 0 }, more;
	if (raw_call(SYS_prlimit64, 0, FILES, 0, (long)&before, 0, 0) || before.now >= ENOUGH)
		return;
	more = (struct limit){ ENOUGH, before.most > ENOUGH ? before.most : ENOUGH };
	if (raw_call(SYS_prlimit64, 0, FILES, (long)&more, 0, 0, 0)) {
		if (before.now >= before.most)
			return;
		more = (struct limit){ before.most, before.most };
		if (raw_call(SYS_prlimit64, 0, FILES, (long)&more, 0, 0, 0))
			return;
	}
	CHANGED();
}

__attribute__((constructor)) static void begin(void)
{
	shim_begin("more-descriptors");
	SEEN();
	if (!shim_is_inert)
		allow_enough();
}

/* Whether this asks for fewer than are enough, for this process. */
static int is_too_few(int process, unsigned int resource, const struct limit *asked)
{
	return !shim_is_inert && process == 0 && resource == FILES && asked && asked->now < ENOUGH;
}

WRAP(int, setrlimit, (unsigned int resource, const struct limit *asked))
{
	NEXT(setrlimit);
	if (!is_too_few(0, resource, asked))
		return real(resource, asked);
	CHANGED();
	return 0;
}

WRAP(int, setrlimit64, (unsigned int resource, const struct limit *asked))
{
	NEXT(setrlimit64);
	if (!is_too_few(0, resource, asked))
		return real(resource, asked);
	CHANGED();
	return 0;
}

WRAP(int, prlimit, (int process, unsigned int resource, const struct limit *asked, struct limit *before))
{
	NEXT(prlimit);
	if (!is_too_few(process, resource, asked))
		return real(process, resource, asked, before);
	CHANGED();
	return real(process, resource, 0, before);
}

WRAP(int, prlimit64, (int process, unsigned int resource, const struct limit *asked, struct limit *before))
{
	NEXT(prlimit64);
	if (!is_too_few(process, resource, asked))
		return real(process, resource, asked, before);
	CHANGED();
	return real(process, resource, 0, before);
}
