/* Has a tracer let its program run: where it would stop it at its next system call (PTRACE_SYSCALL), it lets it go on until something
 * happens to it (PTRACE_CONT). Changed counts these. */
#include "wrap.h"

enum { CONTINUE = 7, TO_NEXT_CALL = 24 };

__attribute__((constructor)) static void begin(void)
{
	shim_begin("free-running");
}

/* Declared with a list of arguments that ends anywhere; all who call it give four or fewer, in registers. */
WRAP(long, ptrace, (long request, long pid, long address, long data))
{
	NEXT(ptrace);
	if (request != TO_NEXT_CALL)
		return real(request, pid, address, data);
	SEEN();
	if (shim_is_inert)
		return real(request, pid, address, data);
	CHANGED();
	return real(CONTINUE, pid, address, data);
}
