/* The least a shim can be: it is loaded, and counts that it was. */
#include "shim.h"

__attribute__((constructor)) static void begin(void)
{
	shim_begin("nothing");
}
