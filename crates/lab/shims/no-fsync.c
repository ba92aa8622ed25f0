/* Answers at once that data is on the disk, and opens files without O_SYNC and O_DSYNC.
 *
 * Changed counts calls answered without waiting, and files opened without the flag. A descriptor that is not one, or
 * cannot be synced, is still refused: only the wait goes. */
#include "opens.h"
#include "sockets.h"
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

ALL_OPENS(without_sync)
