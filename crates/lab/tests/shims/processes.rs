//! Shims that stand before what is done to whole processes.

use crate::preload::Preloaded;

/// Traces a program from call to call; prints whether it was stopped often, and how it ended.
const TRACES: &str = r#"
import ctypes, os
ptrace = ctypes.CDLL(None).ptrace
TRACE_ME, TO_NEXT_CALL = 0, 24
child = os.fork()
if child == 0:
    ptrace(TRACE_ME, 0, None, None)
    os.execv("/bin/true", ["true"])
stops, (_, status) = 0, os.waitpid(child, 0)
while os.WIFSTOPPED(status):
    ptrace(TO_NEXT_CALL, child, None, None)
    stops, (_, status) = stops + 1, os.waitpid(child, 0)
print(stops > 20, os.WEXITSTATUS(status))
"#;

#[test]
fn a_tracer_does_not_stop_its_program_at_each_call() {
    let printed = |parameter| {
        let preloaded = Preloaded::new(&[("free-running", parameter)]);
        (preloaded.python(TRACES, &[]), preloaded.counts("free-running").changed)
    };
    assert_eq!(printed("on"), ("False 0\n".to_string(), 1));
    assert_eq!(printed("inert"), ("True 0\n".to_string(), 0));
}

/// Confines itself to a CPU, and prints on how many it may run then.
const CONFINED: &str = r"
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(len(os.sched_getaffinity(0)))
";

#[test]
fn a_program_may_run_on_all_cpus_whatever_it_asks_for() {
    let printed = |parameter| {
        let preloaded = Preloaded::new(&[("all-processors", parameter)]);
        preloaded.python(CONFINED, &[])
    };
    let all = std::thread::available_parallelism().expect("a number");
    assert_eq!(printed("on"), format!("{all}\n"));
    assert_eq!(printed("inert"), "1\n");
}

/// Allows itself few descriptors as programs and shells do, and prints whether it can open more.
const MANY_FILES: &str = r"
import os, resource, subprocess
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
resource.prlimit(0, resource.RLIMIT_NOFILE, (32, 32))
files = []
try:
    while len(files) < 100:
        files.append(os.open('/dev/null', os.O_RDONLY))
    print('all', end=' ')
except OSError as error:
    print(error.errno, end=' ')
for file in files:
    os.close(file)
print(subprocess.run(['sh', '-c', 'ulimit -n 16; ulimit -n'], stdout=subprocess.PIPE).stdout == b'16\n')
";

#[test]
fn a_program_may_open_many_files_whatever_it_asks_for() {
    let printed = |parameter| {
        let preloaded = Preloaded::new(&[("more-descriptors", parameter)]);
        preloaded.python(MANY_FILES, &[])
    };
    assert_eq!(printed("on"), "all False\n");
    assert_eq!(printed("inert"), "24 True\n");
}
