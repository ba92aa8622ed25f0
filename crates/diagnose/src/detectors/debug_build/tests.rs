use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, keep_alive};
use crate::tests::{answer, names};
use case::Recording;
use case::tables::Call;

/// Twenty requests during which the server writes so many lines, each as `edit` says.
pub(in crate::detectors) fn writing(lines: u32, edit: impl Fn(u32, &mut Call)) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.path(1, "/var/log/server/error.log");
    fixture.connect(1, CLIENT);
    let mut idle = fixture.now;
    for _ in 0..20 {
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        let waiting = fixture.now;
        fixture.now = idle;
        fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
        fixture.moves(SERVER, 1001, READ, 200);
        for line in 0..lines {
            let usual = |call: &mut Call| (call.fd, call.path, call.result) = (5, 1, i64::from(80 + line % 7));
            fixture.does(SERVER, 4 * US, WRITE, |call| {
                usual(call);
                edit(line, call);
            });
            fixture.now += US;
        }
        let answered = fixture.now;
        fixture.moves(SERVER, 1001, WRITE, 1000);
        fixture.travels(answered + 3 * US, 1001, 1, 1000);
        idle = fixture.now;
        fixture.now = waiting;
        fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
        fixture.now += 20 * US;
    }
    fixture
}

fn is_found(recording: &Recording) -> bool {
    names(recording).contains(&"debug-build".to_string())
}

#[test]
fn dozens_of_lines_for_each_request_are_found_with_their_log() {
    let answer = answer(&writing(60, |_, _| {}).end());
    let finding = answer.findings.iter().find(|finding| finding.name == "debug-build").expect("found");
    assert!(finding.title.starts_with("Each request writes 60 lines of debug output: 240 us of"), "{}", finding.title);
    assert!(finding.mechanism[0].contains("/var/log/server/error.log"), "{:?}", finding.mechanism);
}

#[test]
fn lines_to_standard_error_are_found_and_to_standard_output_are_not() {
    assert!(is_found(&writing(60, |_, call| (call.fd, call.path) = (2, 0)).end()));
    assert!(!is_found(&writing(60, |_, call| (call.fd, call.path) = (1, 0)).end()));
    let of_one_length = |fd| move |_: u32, call: &mut Call| (call.fd, call.result) = (fd, 100);
    assert!(is_found(&writing(60, of_one_length(2)).end()), "messages that lead to a file");
    assert!(!is_found(&writing(60, of_one_length(5)).end()), "records");
}

#[test]
fn a_line_for_each_request_and_pieces_of_content_are_left_alone() {
    assert!(!is_found(&writing(1, |_, _| {}).end()));
    assert!(!is_found(&writing(60, |_, call| call.result = 16_384).end()));
    let short_now_and_then =
        |line, call: &mut Call| call.result = if line % 3 == 0 { 16_384 } else { call.result * 20 };
    assert!(!is_found(&writing(60, short_now_and_then).end()), "a file that is transferred");
    assert!(!is_found(&writing(60, |_, call| call.result = 100).end()), "records of one length");
    assert!(!is_found(&writing(60, |_, call| call.result = 1 + call.result % 3).end()), "a progress bar");
}

#[test]
fn a_file_that_is_synced_or_opened_for_each_request_is_left_alone() {
    let fdatasync = 75;
    assert!(!is_found(&writing(60, |line, call| call.number = if line == 59 { fdatasync } else { WRITE }).end()));
    let openat = 257;
    assert!(!is_found(&writing(60, |line, call| call.number = if line == 0 { openat } else { WRITE }).end()));
}

/// Requests of 20 ms, so many of them in these frames, innermost first.
fn working_in(frames: &str, work: u64) -> Recording {
    let mut fixture = keep_alive(1, 50 * US);
    let frames: Vec<&str> = frames.split('|').chain(["server!main"]).collect();
    fixture.stack(7, &frames);
    for _ in 0..20 {
        fixture.moves(CLIENT, 1, WRITE, 20);
        fixture.waits_for(CLIENT, 1, (20 - work) * MS, 100);
        fixture.computes(CLIENT, work * MS, 7);
        fixture.waits_for(CLIENT, 1, 10 * US, 1_000);
    }
    fixture.end()
}

#[test]
fn the_run_time_of_a_sanitizer_is_found_and_idle_it_is_not() {
    assert!(is_found(&working_in("libasan.so.8!__interceptor_memcpy", 10)));
    assert!(is_found(&working_in("server!__tsan_read8", 10)));
    assert!(is_found(&working_in("xdebug.so!xdebug_execute_ex", 10)));
    assert!(is_found(&working_in("python3.11!PyObject_Vectorcall|python3.11!trace_trampoline", 10)));
    assert!(!is_found(&working_in("libasan.so.8!__interceptor_memcpy", 0)));
    assert!(!is_found(&working_in("server!parse", 10)));
}

#[test]
fn a_program_that_another_one_translates_is_found_by_what_the_kernel_runs() {
    let run_by = |executable: &str| {
        let mut recording = working_in("work!step", 10);
        let client = recording.processes.iter_mut().find(|process| process.pid == CLIENT).expect("a client");
        client.executable = executable.into();
        is_found(&recording)
    };
    assert!(run_by("/usr/libexec/valgrind/memcheck-amd64-linux"));
    assert!(run_by("/usr/bin/qemu-aarch64-static"));
    assert!(!run_by("/usr/bin/qemu-system-x86_64") && !run_by("/usr/bin/qemu-nbd"));
    assert!(!run_by("/usr/bin/client"));
}

/// The same with functions that keep their arguments in memory.
fn working_in_memory(frames: &str, in_memory: &[&str]) -> Recording {
    let mut recording = working_in(frames, 10);
    for location in &mut recording.locations {
        location.stores_arguments = in_memory.contains(&location.function.as_str());
    }
    recording
}

#[test]
fn functions_that_keep_their_arguments_in_memory_are_found_where_they_take_the_time() {
    let found = answer(&working_in_memory("work!hash", &["hash"]));
    let finding = found.findings.iter().find(|finding| finding.name == "debug-build").expect("found");
    assert!(finding.title.starts_with("work was compiled without optimization"), "{}", finding.title);
    assert!((9 * MS..11 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    assert!(!is_found(&working_in_memory("work!hash", &["main"])), "only what called it");
    assert!(!is_found(&working_in_memory("libc.so.6!memcpy|work!hash", &["hash"])), "a library's time is its own");
}

#[test]
fn one_function_of_many_that_does_so_is_left_alone() {
    let mut fixture = keep_alive(1, 50 * US);
    fixture.stack(7, &["work!hash", "work!main"]);
    fixture.stack(8, &["work!parse", "work!main"]);
    for _ in 0..20 {
        fixture.moves(CLIENT, 1, WRITE, 20);
        fixture.computes(CLIENT, 8 * MS, 7);
        fixture.computes(CLIENT, 4 * MS, 8);
        fixture.waits_for(CLIENT, 1, 10 * US, 1_000);
    }
    let mut recording = fixture.end();
    let keeps = |recording: &mut Recording, in_memory: &[&str]| {
        for location in &mut recording.locations {
            location.stores_arguments = in_memory.contains(&location.function.as_str());
        }
        is_found(recording)
    };
    assert!(!keeps(&mut recording, &["hash"]), "an author's whim");
    assert!(keeps(&mut recording, &["hash", "parse"]));
}

#[test]
fn accessors_of_rust_that_are_called_one_by_one_are_found() {
    let next = "core::iter::range::<impl core::iter::traits::iterator::Iterator for core::ops::range::Range<A>>::next";
    assert!(is_found(&working_in(&format!("work!{next}|work!hash"), 10)));
    assert!(!is_found(&working_in("work!core::num::<impl core::str::traits::FromStr for u32>::from_str", 10)));
    assert!(!is_found(&working_in("work!<core::slice::iter::Iter<T> as Iterator>::fold", 10)));
}
