/* Lets the kernel keep in memory what the program reads: files are opened without O_DIRECT, and what it is told to throw out of its
 * cache stays.
 *
 * Changed counts files opened, or set, without the flag, and pieces of files that stayed. Without the flag every read and write
 * that was allowed with it is allowed. */
#include "wrap.h"
#include <sys/types.h>

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

/* The mode is passed on as it came, whether or not there is one. */
#define OPENS(name)                                                                \
	WRAP(int, name, (const char *path, int flags, mode_t mode))                \
	{                                                                          \
		NEXT(name);                                                        \
		return real(path, with_cache(flags), mode);                        \
	}
#define OPENS_AT(name)                                                             \
	WRAP(int, name, (int folder, const char *path, int flags, mode_t mode))    \
	{                                                                          \
		NEXT(name);                                                        \
		return real(folder, path, with_cache(flags), mode);                \
	}

OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

WRAP(int, __open_2, (const char *path, int flags))
{
	NEXT(__open_2);
	return real(path, with_cache(flags));
}

WRAP(int, __open64_2, (const char *path, int flags))
{
	NEXT(__open64_2);
	return real(path, with_cache(flags));
}

WRAP(int, __openat_2, (int folder, const char *path, int flags))
{
	NEXT(__openat_2);
	return real(folder, path, with_cache(flags));
}

WRAP(int, __openat64_2, (int folder, const char *path, int flags))
{
	NEXT(__openat64_2);
	return real(folder, path, with_cache(flags));
}

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
