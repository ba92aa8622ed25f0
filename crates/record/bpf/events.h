/* What the recorder hands to user space, one struct a kind. src/events.rs mirrors this file byte for byte. */
#pragma once
#include "kernel.h"

enum kind {
	EVENT_CALL = 1,
	EVENT_SWITCH = 2,
	EVENT_SAMPLE = 3,
	EVENT_STACK = 4,
	EVENT_SCRIPT = 5,
	EVENT_SOCKET = 6,
	EVENT_SEGMENT = 7,
	EVENT_TCP = 8,
	EVENT_FORK = 9,
	EVENT_EXEC = 10,
	EVENT_EXIT = 11,
	EVENT_MAPPING = 12,
	EVENT_KINDS = 13,
};

/* What the scheduler itself has counted for a thread since it was made. Nothing of it comes from the recorder's events. */
struct sums {
	u64 runtime; /* on processors; brought up to date when it leaves one, and with every tick */
	u64 run_delay;
	u64 voluntary; /* switches: it had to wait */
	u64 involuntary;
	u64 time; /* when they were read */
	u64 inexact; /* `runtime` may be short of this much: the thread was running when it was read from outside */
};

/* Rows of a thread that were not made on purpose. */
struct withheld_rows {
	u64 calls;
	u64 waits;
	u64 preemptions;
};

/* A system call that returned. `head` holds the first bytes moved, or the path the call names. */
struct call_event {
	u16 kind;
	u16 number;
	u32 tid;
	u32 pid;
	s32 fd;
	u64 start;
	u64 duration;
	u64 blocked;
	s64 result;
	u64 arguments[3];
	u32 socket;
	u32 stack;  /* number of a stack_event; 0 for none */
	u32 script; /* number of a script_event; 0 for none */
	u16 head_length;
	u16 head_is_path;
};
enum { HEAD_SMALL = 64, HEAD_PATH = 256, HEAD_LARGE = 2048 };

/* An interval off the processor. */
struct switch_event {
	u16 kind;
	u16 reason;
	u32 tid;
	u64 start;
	u64 runnable;
	u64 end;
	u32 waker;
	u32 pad;
};

enum { KERNEL_FRAMES = 24 };

/* A tick of the sampling clock. */
struct sample_event {
	u16 kind;
	u16 call_plus_one;
	u32 tid;
	u32 pid;
	u32 stack;
	u64 time;
	u32 script;
	u32 kernel_frames; /* 0: it was in user mode */
	u64 kernel_stack[KERNEL_FRAMES];
};

/* A copied user stack, with the registers that unwinding starts from (DWARF order). */
struct stack_event {
	u16 kind;
	u16 pad;
	u32 number;
	u32 pid;
	u32 length;
	u64 registers[17];
	u8 bytes[];
};
enum { STACK_BYTES = 16384, STACK_CHUNK = 1024 };

enum { SCRIPT_FRAMES = 48 };

/* The frames of an interpreted program, innermost first. */
struct script_event {
	u16 kind;
	u16 frames;
	u32 number;
	u32 pid;
	u32 pad;
	struct {
		u64 code;
		u64 instruction;
	} frame[SCRIPT_FRAMES];
};

/* A socket, when first seen and whenever its addresses or its role change. */
struct socket_event {
	u16 kind;
	u16 family;
	u32 socket;
	u32 pid;
	u32 network_namespace;
	u64 time;
	u8 local_address[16]; /* this and the next: of a Unix socket the inodes of the two ends' descriptors */
	u8 remote_address[16];
	u16 local_port;
	u16 remote_port;
	u8 role;
	u8 protocol;
	u16 type;
	u32 srtt_us; /* this and the next: of a TCP socket that was there before, else 0 */
	u16 mss;
	u16 nodelay;
};

/* A TCP segment leaving or arriving. */
struct segment_event {
	u16 kind;
	u8 direction_and_limit; /* in the upper four bits what keeps the socket from sending, as the kernel counts it */
	u8 flags;
	u32 socket;
	u64 time;
	u32 sequence;
	u32 acknowledged;
	u32 payload;
	u32 srtt_us;
};

/* Something else that TCP did. */
struct tcp_event {
	u16 kind;
	u16 event;
	u32 socket;
	u64 time;
	u32 before;
	u32 after;
	u32 srtt_us;
	u16 mss;
	u16 nodelay;
};

struct fork_event {
	u16 kind;
	u16 pad;
	u32 parent_pid;
	u32 tid;
	u32 pid;
	u64 time;
};

struct exec_event {
	u16 kind;
	u16 pad;
	u32 pid;
	u64 time;
	u64 text_start; /* where its code lies */
	u64 text_end;
	u64 interpreter; /* where its dynamic loader lies; 0 for none */
	u64 inode;       /* of its file */
	u32 device;
	u32 pad2;
	char executable[128];
};

/* Code of a file was mapped into a process. */
struct mapping_event {
	u16 kind;
	u16 pad;
	u32 pid;
	u64 start;
	u64 length;
	u64 file_offset;
	u64 inode;
	u32 device;
	s32 fd;
};

struct exit_event {
	u16 kind;
	u16 pad;
	u32 tid;
	u32 pid;
	s32 code;
	u64 time;
	u64 on_cpu;
	u64 calls;
	u64 recorded_calls;
	u64 on_since;         /* when it was last put on a processor */
	u64 runtime_before;   /* the scheduler's sum of its time on processors then */
	struct sums begin;    /* the scheduler's sums when it was first watched */
	struct sums end;      /* and now */
	struct withheld_rows withheld;
	s64 waking; /* of the time that its rows have it runnable, what is not in the scheduler's run delay */
	char name[16];
};
