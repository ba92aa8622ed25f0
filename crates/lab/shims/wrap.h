/* Standing before functions of libc: a wrapper has the function's name for the linker only, so that it does not quarrel
 * with the headers, and finds the next of that name (libc's, or another shim's) when it is first called. */
#pragma once
#include "shim.h"

#define WRAP(type, name, parameters)                          \
	EXPORT type wrapped_##name parameters __asm__(#name); \
	EXPORT type wrapped_##name parameters

/* Declares `real`. A libc without the function never had it called but through us: it answers as an old kernel does. */
#define NEXT(name)                                                     \
	static __typeof__(&wrapped_##name) real;                       \
	if (!real && !(real = (__typeof__(real))shim_next(#name)))     \
		return shim_missing()

static inline int shim_missing(void)
{
	errno = ENOSYS;
	return -1;
}

/* A function that ends the process at once: `first` is done before. */
#define ENDS(name, first)                                                      \
	EXPORT void wrapped_##name(int status) __asm__(#name);                 \
	EXPORT void wrapped_##name(int status)                                 \
	{                                                                      \
		static void (*real)(int);                                      \
		if (!real)                                                     \
			real = (void (*)(int))shim_next(#name);                \
		first;                                                         \
		if (real)                                                      \
			real(status);                                          \
		for (;;)                                                       \
			syscall(SYS_exit_group, status);                       \
	}
