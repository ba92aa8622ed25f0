/* Answers at once that a line was written, without writing it, where it goes to the file that the parameter names, or to
 * standard error where that is `stderr`.
 *
 * Changed counts the lines dropped. Only what is as short as a line goes: what a program keeps in other files, or in longer
 * pieces, is written. Not reached: what the C library writes for itself (fprintf), which does not come through here. */
#include "sockets.h"
#include "wrap.h"
#include <sys/uio.h>

#define LONGEST_LINE 4096

__attribute__((constructor)) static void begin(void)
{
	shim_begin("drop-log-lines");
}

/* Whether the descriptor is that of the file, which may not have been there at first. */
static int is_named(int fd)
{
	static struct stat named;
	static int is_known;
	struct stat about;
	if (!strcmp(shim_parameter, "stderr"))
		return fd == 2;
	if (fd < 0 || raw_call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0) || !S_ISREG(about.st_mode))
		return 0;
	if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
		if (raw_call(SYS_newfstatat, AT_FDCWD, (long)shim_parameter, (long)&named, 0, 0, 0))
			return 0;
		__atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
	}
	return about.st_dev == named.st_dev && about.st_ino == named.st_ino;
}

/* Whether so many bytes to the descriptor are to be dropped. */
static int drops(int fd, size_t size)
{
	if (!size || size > LONGEST_LINE || !*shim_parameter)
		return 0;
	if (shim_is_inert || !is_named(fd))
		return 0;
	SEEN();
	CHANGED();
	return 1;
}

WRAP(ssize_t, write, (int fd, const void *from, size_t size))
{
	NEXT(write);
	return drops(fd, size) ? (ssize_t)size : real(fd, from, size);
}

WRAP(ssize_t, writev, (int fd, const struct iovec *pieces, int count))
{
	size_t size = 0;
	NEXT(writev);
	for (int i = 0; i < count && size <= LONGEST_LINE; i++)
		size += pieces[i].iov_len;
	return drops(fd, size) ? (ssize_t)size : real(fd, pieces, count);
}
