/* What is behind a descriptor? Read from the kernel, and remembered as long as no watched thread closes any. */
#pragma once
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

/* A file that was used lately. Good only while no watched thread has closed any since. */
struct recent_file {
	u64 file;
	u64 sock; /* 0: it is no socket */
	u64 inode;
	u32 closes;
	u32 is_regular;
};

enum { RECENT = 4 };

/* How often watched threads have given up descriptors: until it changes, a file seen at an address is the same file. */
u32 closes = 1;

static __always_inline struct file *file_of(struct task_struct *task, u32 fd)
{
	struct fdtable *table = task->files->fdt;
	if (fd >= table->max_fds)
		return 0;
	struct file **files = table->fd, *file = 0;
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

/* What a file is: read from the kernel, or remembered. */
static __always_inline struct recent_file *describe(struct recent_file *recent, struct file *file)
{
	if (recent->file == (u64)file && recent->closes == closes)
		return recent;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	u16 kind = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	recent->file = (u64)file;
	recent->closes = closes;
	recent->sock = 0;
	recent->is_regular = kind == S_IFREG;
	recent->inode = BPF_CORE_READ(inode, i_ino);
	if (kind == S_IFSOCK) {
		struct socket *socket = BPF_CORE_READ(file, private_data);
		recent->sock = (u64)BPF_CORE_READ(socket, sk);
	}
	return recent;
}

/* What a descriptor of the current thread is: read from the kernel, or remembered among the thread's `files`. */
static __always_inline struct recent_file *describe_file(struct recent_file *files, u32 fd)
{
	struct file *file = file_of(bpf_get_current_task_btf(), fd);
	return file ? describe(&files[fd & (RECENT - 1)], file) : 0;
}
