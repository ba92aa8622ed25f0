/* Every way of libc to open a file, with its flags changed by a function of the shim's. */
#pragma once
#include "wrap.h"
#include <sys/types.h>

/* The mode is passed on as it came, whether or not there is one. */
#define OPENS(name, change)                                                        \
	WRAP(int, name, (const char *path, int flags, mode_t mode))                \
	{                                                                          \
		NEXT(name);                                                        \
		return real(path, change(flags), mode);                            \
	}
#define OPENS_AT(name, change)                                                     \
	WRAP(int, name, (int folder, const char *path, int flags, mode_t mode))    \
	{                                                                          \
		NEXT(name);                                                        \
		return real(folder, path, change(flags), mode);                    \
	}
#define OPENS_CHECKED(name, change)                                                \
	WRAP(int, name, (const char *path, int flags))                             \
	{                                                                          \
		NEXT(name);                                                        \
		return real(path, change(flags));                                  \
	}
#define OPENS_AT_CHECKED(name, change)                                             \
	WRAP(int, name, (int folder, const char *path, int flags))                 \
	{                                                                          \
		NEXT(name);                                                        \
		return real(folder, path, change(flags));                          \
	}

#define ALL_OPENS(change)                                                          \
	OPENS(open, change)                                                        \
	OPENS(open64, change)                                                      \
	OPENS_AT(openat, change)                                                   \
	OPENS_AT(openat64, change)                                                 \
	OPENS_CHECKED(__open_2, change)                                            \
	OPENS_CHECKED(__open64_2, change)                                          \
	OPENS_AT_CHECKED(__openat_2, change)                                       \
	OPENS_AT_CHECKED(__openat64_2, change)
