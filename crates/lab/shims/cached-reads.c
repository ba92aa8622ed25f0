/* Lets the kernel keep in memory what the program reads: files are opened without O_DIRECT, and what it is told to throw out of its
 * cache stays.
 *
 * Changed counts files opened, or set, without the flag, and pieces of files that stayed. Without the flag every read and write
 * that was allowed with it is allowed. */
#include "opens.h"

__attribute__((constructor)) static void begin(void)
{
	shim_begin("cached-reads");
}

static int with_cache(int flags)
{
	if (!(flags & O_DIRECT))
		return flags;
	SEEN();
	if (shim_is_inert)
		return flags;
	CHANGED();
	return flags & ~O_DIRECT;
}

ALL_OPENS(with_cache)

/* Whatever its third argument is, a number or a pointer, it is one word, and passed on as it came. */
#define CONTROLS(name)                                                             \
	WRAP(int, name, (int fd, int command, long argument))                      \
	{                                                                          \
		NEXT(name);                                                        \
		if (command == F_SETFL)                                            \
			argument = with_cache((int)argument);                      \
		return real(fd, command, argument);                                \
	}

CONTROLS(fcntl)
CONTROLS(fcntl64)

/* Answers with the error itself, not by errno. */
#define ADVISES(name)                                                              \
	WRAP(int, name, (int fd, off_t from, off_t length, int advice))            \
	{                                                                          \
		NEXT(name);                                                        \
		if (advice != POSIX_FADV_DONTNEED)                                 \
			return real(fd, from, length, advice);                     \
		SEEN();                                                            \
		if (shim_is_inert)                                                 \
			return real(fd, from, length, advice);                     \
		CHANGED();                                                         \
		return real(fd, from, length, POSIX_FADV_NORMAL);                  \
	}

ADVISES(posix_fadvise)
ADVISES(posix_fadvise64)
