/* What all shims share: how they find what they stand before, their parameters, and where they count.
 *
 * A shim is loaded into a program of the subject by LD_PRELOAD. It is built without any library: every symbol that it
 * uses stays undefined and unversioned, so that the same object loads beside any libc. It must never fail: what it
 * cannot do it passes through.
 *
 * The environment names a folder (WHYSLOW_SHIMS). In it, for a shim called NAME:
 *   NAME.parameter  its parameter, one line; `inert` means pass everything through
 *   NAME.counts     four 64-bit numbers, mapped and shared by all processes: loaded, seen, changed, one spare
 */
#pragma once
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct shim_counts {
	uint64_t loaded, seen, changed, spare;
};

static struct shim_counts shim_unmapped;
static struct shim_counts *shim_counts = &shim_unmapped;
static char shim_parameter[256];
static int shim_is_inert;

/* Without these macros' atomics, two threads would lose counts. */
#define SEEN() __atomic_fetch_add(&shim_counts->seen, 1, __ATOMIC_RELAXED)
#define CHANGED() __atomic_fetch_add(&shim_counts->changed, 1, __ATOMIC_RELAXED)

/* The function that the program would have called. RTLD_NEXT is null for libraries that were opened with RTLD_LOCAL, as
 * Python does with its own: those are asked by name. */
static inline void *shim_next(const char *name)
{
	static const char *const libraries[] = { "libssl.so.3", "libcrypto.so.3", "libssl.so.1.1", "libcrypto.so.1.1",
						 "libz.so.1", "libzstd.so.1", "libbrotlienc.so.1", "libnghttp2.so.14", "libc.so.6", 0 };
	void *found = dlsym(RTLD_NEXT, name);
	for (int i = 0; !found && libraries[i]; i++) {
		void *library = dlopen(libraries[i], RTLD_NOLOAD | RTLD_LAZY);
		if (library)
			found = dlsym(library, name);
	}
	return found;
}

/* Declares `real`, a pointer to the function of that name, looked up once. */
#define REAL(type, name)                                                     \
	static type real;                                                    \
	if (!real)                                                           \
		real = (type)shim_next(name)

static inline void shim_join(char *path, size_t size, const char *folder, const char *name, const char *ending)
{
	size_t at = 0;
	const char *parts[] = { folder, "/", name, ending };
	for (int i = 0; i < 4; i++)
		for (const char *letter = parts[i]; *letter && at + 1 < size; letter++)
			path[at++] = *letter;
	path[at] = 0;
}

/* To be called from a constructor: maps the counts and reads the shim's parameter. */
static inline void shim_begin(const char *name)
{
	const char *folder = getenv("WHYSLOW_SHIMS");
	char path[4096];
	if (!folder) {
		shim_is_inert = 1;
		return;
	}
	shim_join(path, sizeof(path), folder, name, ".counts");
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (fd >= 0) {
		void *counts = mmap(0, sizeof(struct shim_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (counts != MAP_FAILED)
			shim_counts = counts;
		syscall(SYS_close, fd);
	}
	shim_join(path, sizeof(path), folder, name, ".parameter");
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		long length = syscall(SYS_read, fd, shim_parameter, sizeof(shim_parameter) - 1);
		while (length > 0 && (shim_parameter[length - 1] == '\n' || shim_parameter[length - 1] == ' '))
			length--;
		shim_parameter[length > 0 ? length : 0] = 0;
		syscall(SYS_close, fd);
	}
	shim_is_inert = !strcmp(shim_parameter, "inert");
	__atomic_fetch_add(&shim_counts->loaded, 1, __ATOMIC_RELAXED);
}
