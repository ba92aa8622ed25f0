/* What does a system call do to the bytes of a connection? */
#pragma once
#include "exchange.h"

enum { CALLS = 512 };

/* Numbers of x86-64. */
static const volatile u8 kinds[CALLS] = {
	[0] = CALL_READ, [45] = CALL_READ,
	[19] = CALL_READ_VECTOR, [327] = CALL_READ_VECTOR,
	[47] = CALL_READ_MESSAGE, [299] = CALL_READ_MESSAGE,
	[1] = CALL_WRITE, [44] = CALL_WRITE,
	[20] = CALL_WRITE_VECTOR, [328] = CALL_WRITE_VECTOR,
	[46] = CALL_WRITE_MESSAGE, [307] = CALL_WRITE_MESSAGE,
	[40] = CALL_SEND_FILE, [275] = CALL_SPLICE,
	[42] = CALL_CONNECT, [43] = CALL_ACCEPT, [288] = CALL_ACCEPT,
	[3] = CALL_CLOSE, [33] = CALL_CLOSE, [292] = CALL_CLOSE, [436] = CALL_CLOSE,
};
