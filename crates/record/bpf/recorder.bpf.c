/* The recorder's programs, one file a question, in one object so that they share one ring and one clock. */
#include "processes.bpf.h"
#include "scheduler.bpf.h"
#include "calls.bpf.h"
#include "segments.bpf.h"
#include "samples.bpf.h"

/* Several helpers are for programs under the GPL only; the project's own licence applies to the rest. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";
