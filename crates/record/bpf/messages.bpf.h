/* Where the buffers of a message lie. */
#pragma once
#include "kernel.h"
#include <bpf/bpf_helpers.h>

/* The address of the vector inside a struct msghdr, and how many buffers it has. */
static __always_inline u64 message_vector(u64 message, u64 *buffers)
{
	u64 words[4] = {};
	bpf_probe_read_user(words, sizeof(words), (void *)message);
	*buffers = words[3];
	return words[2];
}
