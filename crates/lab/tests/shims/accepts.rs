//! The shim that stands before accept.

use crate::preload::Preloaded;

/// The numbers that a script prints under a shim, and how often that changed something.
fn numbers(shim: &str, parameter: &str, script: &str) -> (Vec<u32>, u64) {
    let preloaded = Preloaded::new(&[(shim, parameter)]);
    let printed = preloaded.python(script, &[]);
    let numbers = printed.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    (numbers, preloaded.counts(shim).changed)
}

/// Two workers that share a listening socket, and a client that connects sixteen times, each time when both are idle again. Prints
/// how many connections each worker got, the fewer first.
const WORKERS: &str = r#"
import os, select, socket, time
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
listener.setblocking(False)
counts = []
for _ in range(2):
    reads, writes = os.pipe()
    if os.fork() == 0:
        epoll = select.epoll()
        epoll.register(listener, select.EPOLLIN | select.EPOLLEXCLUSIVE)
        kept = []
        while epoll.poll(0.5):
            try:
                kept.append(listener.accept())
            except BlockingIOError:
                pass
        os.write(writes, b"%d" % len(kept))
        os._exit(0)
    counts.append(reads)
time.sleep(0.1)
kept = []
for _ in range(16):
    kept.append(socket.create_connection(listener.getsockname()))
    time.sleep(0.02)
print(*sorted(int(os.read(one, 9)) for one in counts))
"#;

#[test]
fn workers_that_share_a_listening_socket_get_as_many_connections() {
    for (parameter, is_even) in [("on", true), ("inert", false)] {
        let (numbers, changed) = numbers("accept-in-turn", parameter, WORKERS);
        assert_eq!(numbers.iter().sum::<u32>(), 16, "{numbers:?}");
        assert_eq!(numbers[0] >= 6, is_even, "{numbers:?}");
        assert_eq!(changed > 0, is_even);
    }
}

/// Eight workers that watch one listening socket with epoll, and a client that connects sixteen times, each time when all are idle
/// again. Prints how many connections were taken, and how often workers slept: the kernel has most of those that find nothing sleep on
/// without a word. The last worker has it watched anew.
const HERD: &str = r#"
import os, resource, select, socket, time
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
listener.setblocking(False)
sleeps = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
results = []
for number in range(8):
    reads, writes = os.pipe()
    if os.fork() == 0:
        epoll = select.epoll()
        epoll.register(listener, select.EPOLLIN | select.EPOLLRDHUP)
        if number == 7:
            epoll.modify(listener, 0)
            epoll.modify(listener, select.EPOLLIN)
        taken, before = [], sleeps()
        while epoll.poll(0.5):
            try:
                taken.append(listener.accept())
            except BlockingIOError:
                pass
        os.write(writes, b"%d %d" % (len(taken), sleeps() - before))
        os._exit(0)
    results.append(reads)
time.sleep(0.1)
kept = []
for _ in range(16):
    kept.append(socket.create_connection(listener.getsockname()))
    time.sleep(0.02)
print(*map(sum, zip(*[map(int, os.read(one, 20).split()) for one in results])))
"#;

#[test]
fn a_connection_wakes_one_of_many_workers() {
    for (parameter, is_exclusive) in [("on", true), ("inert", false)] {
        let (numbers, changed) = numbers("exclusive-wakeups", parameter, HERD);
        assert_eq!(numbers[0], 16, "{numbers:?}");
        // All wake up for each of 16 connections: 128 times, as against 24.
        assert_eq!(numbers[1] < 64, is_exclusive, "{numbers:?}");
        assert_eq!(changed > 0, is_exclusive);
    }
}
