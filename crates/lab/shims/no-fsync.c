/* Answers at once that data is on the disk, and opens files without O_SYNC and O_DSYNC.
 *
 * Changed counts calls answered without waiting, and files opened without the flag. A descriptor that is not one, or
 * cannot be synced, is still refused: only the wait goes. */
#include "sockets.h"
#include "wrap.h"
#include <sys/mman.h>

__attribute__((constructor)) static void begin(void)
{
	shim_begin("no-fsync");
}

/* Whether the kernel would have written it: what is a file or a folder, or a disk itself. */
static int would_be_written(int fd)
{
	struct stat about;
	if (raw_call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0))
		return 0;
	return S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode);
}

#define SYNCS(name, parameters, arguments)                        \
	WRAP(int, name, parameters)                               \
	{                                                         \
		NEXT(name);                                       \
		SEEN();                                           \
		if (shim_is_inert || !would_be_written(fd))       \
			return real arguments;                    \
		CHANGED();                                        \
		return 0;                                         \
	}

SYNCS(fsync, (int fd), (fd))
SYNCS(fdatasync, (int fd), (fd))
SYNCS(syncfs, (int fd), (fd))
SYNCS(sync_file_range, (int fd, off_t from, off_t size, unsigned flags), (fd, from, size, flags))

EXPORT void wrapped_sync(void) __asm__("sync");
EXPORT void wrapped_sync(void)
{
	static void (*real)(void);
	if (!real)
		real = (void (*)(void))shim_next("sync");
	SEEN();
	if (!shim_is_inert)
		CHANGED();
	else if (real)
		real();
}

WRAP(int, msync, (void *address, size_t size, int flags))
{
	NEXT(msync);
	if (!(flags & MS_SYNC))
		return real(address, size, flags);
	SEEN();
	if (shim_is_inert)
		return real(address, size, flags);
	CHANGED();
	return real(address, size, (flags & ~MS_SYNC) | MS_ASYNC); /* checks the range, and does not wait */
}

static int without_sync(int flags)
{
	if (!(flags & (O_SYNC | O_DSYNC)))
		return flags;
	SEEN();
	if (shim_is_inert)
		return flags;
	CHANGED();
	return flags & ~(O_SYNC | O_DSYNC);
}

/* The mode is passed on as it came, whether or not there is one. */
#define OPENS(name)                                                                \
	WRAP(int, name, (const char *path, int flags, mode_t mode))                \
	{                                                                          \
		NEXT(name);                                                        \
		return real(path, without_sync(flags), mode);                      \
	}
#define OPENS_AT(name)                                                             \
	WRAP(int, name, (int folder, const char *path, int flags, mode_t mode))    \
	{                                                                          \
		NEXT(name);                                                        \
		return real(folder, path, without_sync(flags), mode);              \
	}
#define OPENS_CHECKED(name)                                                        \
	WRAP(int, name, (const char *path, int flags))                             \
	{                                                                          \
		NEXT(name);                                                        \
		return real(path, without_sync(flags));                            \
	}

OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
OPENS_CHECKED(__open_2)
OPENS_CHECKED(__open64_2)

WRAP(int, __openat_2, (int folder, const char *path, int flags))
{
	NEXT(__openat_2);
	return real(folder, path, without_sync(flags));
}

WRAP(int, __openat64_2, (int folder, const char *path, int flags))
{
	NEXT(__openat64_2);
	return real(folder, path, without_sync(flags));
}
