use crate::fixture::{CLIENT, EPOLL_WAIT, READ, US, WRITE, keep_alive};
use crate::tests::{answer, names};
use case::tables::{Call, Switch, Thread, reason};
use case::{Nanos, Recording};

/// Another thread of the client's process.
const OTHER: u32 = 77;
const SCHED_YIELD: u16 = 24;
const FUTEX: u16 = 202;

/// A client that, before each of 20 requests, asks for its queue's length `times` times and re-arms its event.
fn rearming(times: u32) -> Recording {
    let mut fixture = keep_alive(20, 300 * US);
    let on = |operation: u64| move |call: &mut Call| (call.fd, call.argument_1, call.argument_2) = (9, operation, 3);
    for _ in 0..20 {
        for _ in 0..times {
            for _ in 0..2 {
                fixture.does(CLIENT, 2 * US, 16, |call| {
                    (call.fd, call.argument_1, call.argument_3) = (3, 0x5411, 999);
                });
            }
            fixture.does(CLIENT, 2 * US, 233, on(3));
            fixture.does(CLIENT, 2 * US, EPOLL_WAIT, |call| (call.fd, call.result) = (9, 1));
        }
        fixture.moves(CLIENT, 1, WRITE, 10);
    }
    fixture.end()
}

#[test]
fn a_loop_that_asks_and_rearms_without_moving_a_byte_spins() {
    let answer = answer(&rearming(100));
    let finding = &answer.findings[0];
    assert_eq!(finding.name, "busy-spin");
    let unit = "ioctl(TIOCOUTQ) x2, epoll_ctl(MOD), epoll_wait";
    assert!(finding.mechanism[0].contains(unit), "{:?}", finding.mechanism);
    assert!(finding.remedy.starts_with("Arm only"), "{}", finding.remedy);
    assert!(finding.cost.share_of_cpu > 0.3, "{:?}", finding.cost);
}

/// A client that calls one ioctl on a descriptor again and again, with the same answer, for 40 ms.
fn asking(command: u64, answer: u64) -> Vec<String> {
    let mut fixture = keep_alive(20, 300 * US);
    for _ in 0..20_000 {
        fixture.does(CLIENT, 2 * US, 16, |call| {
            (call.fd, call.argument_1, call.argument_3) = (3, command, answer);
        });
    }
    names(&fixture.end())
}

#[test]
fn asking_for_what_is_not_there_yet_is_a_spin_and_what_is_there_is_none() {
    assert_eq!(asking(0x541b, 0), ["busy-spin"], "nothing to read");
    assert_eq!(asking(0x5411, 999), ["busy-spin"], "not all was sent");
    assert_eq!(asking(0x541b, 80), Vec::<String>::new(), "something to read");
    assert_eq!(asking(0x5411, 0), Vec::<String>::new(), "all was sent");
}

#[test]
fn yielding_until_another_thread_is_done_is_a_spin_and_a_few_times_is_none() {
    let yielding = |times: u32| {
        let mut fixture = keep_alive(20, 300 * US);
        for _ in 0..500 {
            for _ in 0..times {
                fixture.does(CLIENT, 2 * US, SCHED_YIELD, |_| {});
            }
            fixture.does(CLIENT, 2 * US, FUTEX, |_| {});
        }
        answer(&fixture.end())
    };
    let finding = yielding(40).findings[0].clone();
    assert_eq!((finding.name.as_str(), &finding.remedy[..26]), ("busy-spin", "Wait for the other thread "));
    assert!(yielding(12).findings.is_empty(), "a lock that spins for a moment");
}

/// A client that yields 20,000 times in a row once, while another thread of its process is kept from the processor, or blocked.
fn yielding_once(why: u8) -> Recording {
    let mut fixture = keep_alive(20, 300 * US);
    let start = fixture.now;
    for _ in 0..20_000 {
        fixture.does(CLIENT, 2 * US, SCHED_YIELD, |_| {});
    }
    let (start, end) = (Nanos(start), Nanos(fixture.now));
    let runnable = if why == reason::PREEMPTED { start } else { end };
    fixture.recording.switches.push(Switch { start, runnable, end, tid: OTHER, reason: why, waker: 0 });
    let mut recording = fixture.end();
    let life = (recording.manifest.start, recording.manifest.end);
    recording.threads.push(Thread { tid: OTHER, pid: CLIENT, start: life.0, end: life.1, ..Thread::default() });
    recording
}

#[test]
fn yielding_once_for_a_thread_that_gets_no_processor_is_no_spin() {
    assert_eq!(names(&yielding_once(reason::PREEMPTED)), Vec::<String>::new());
    assert_eq!(names(&yielding_once(reason::BLOCKED)), ["busy-spin"]);
}

#[test]
fn a_device_that_is_driven_by_ioctl_works_and_does_not_spin() {
    // DRM_IOCTL_I915_GEM_EXECBUFFER2, VIDIOC_QBUF, and what an unknown driver calls its own.
    for command in [0x4040_6469, 0xc058_560f, 0xdead] {
        assert_eq!(asking(command, 0), Vec::<String>::new(), "{command:#x}");
    }
}

#[test]
fn a_device_that_is_polled_and_driven_works_and_does_not_spin() {
    let mut fixture = keep_alive(20, 300 * US);
    for _ in 0..5_000 {
        fixture.does(CLIENT, 2 * US, EPOLL_WAIT, |call| (call.fd, call.result) = (9, 1));
        fixture.does(CLIENT, 2 * US, 16, |call| (call.fd, call.argument_1) = (5, 0xc058_5611));
    }
    assert_eq!(names(&fixture.end()), Vec::<String>::new());
}

#[test]
fn handing_requests_to_a_ring_is_no_spin() {
    let mut fixture = keep_alive(20, 300 * US);
    for _ in 0..5_000 {
        fixture.does(CLIENT, 2 * US, 426, |call| (call.fd, call.result) = (9, 1));
    }
    assert_eq!(names(&fixture.end()), Vec::<String>::new());
}

#[test]
fn a_few_questions_before_each_write_are_no_spin() {
    assert_eq!(names(&rearming(7)), Vec::<String>::new());
}

#[test]
fn reading_until_eagain_once_a_wake_up_is_no_spin() {
    let mut fixture = keep_alive(20, 300 * US);
    for _ in 0..2000 {
        fixture.does(CLIENT, 2 * US, READ, |call| (call.fd, call.connection, call.result) = (3, 1, -11));
        fixture.waits(CLIENT, 30 * US, EPOLL_WAIT, |call| (call.fd, call.result) = (9, 1));
    }
    assert_eq!(names(&fixture.end()), Vec::<String>::new());
}

#[test]
fn taking_thousands_of_descriptors_off_a_list_is_no_spin() {
    let mut fixture = keep_alive(20, 300 * US);
    for turn in 0..2700 {
        let removes = |call: &mut Call| (call.fd, call.argument_1, call.argument_2) = (9, 2, 3);
        fixture.does(CLIENT, 2 * US, 233, removes);
        if turn % 100 == 0 {
            fixture.does(CLIENT, 2 * US, EPOLL_WAIT, |call| (call.fd, call.result) = (9, 1));
        }
    }
    assert_eq!(names(&fixture.end()), Vec::<String>::new());
}

#[test]
fn reading_in_vain_without_waiting_is_a_spin() {
    let mut fixture = keep_alive(20, 300 * US);
    for _ in 0..2000 {
        fixture.does(CLIENT, 2 * US, READ, |call| (call.fd, call.connection, call.result) = (3, 1, -11));
    }
    let answer = answer(&fixture.end());
    assert_eq!(answer.findings[0].name, "busy-spin");
    assert!(answer.findings[0].remedy.starts_with("Wait until"), "{}", answer.findings[0].remedy);
}

/// A client that, for each of 20 answers, polls 200 times without giving it time and computes so long between two polls; the last
/// poll finds the answer, or it writes without one having been found.
fn turning(between: u64, is_for_events: bool) -> case::Answer {
    let mut fixture = keep_alive(20, 300 * US);
    for _ in 0..20 {
        fixture.moves(CLIENT, 1, WRITE, 10);
        for _ in 0..200 {
            fixture.does(CLIENT, 2 * US, EPOLL_WAIT, |call| call.fd = 9);
            fixture.now += between;
        }
        if is_for_events {
            fixture.does(CLIENT, 2 * US, EPOLL_WAIT, |call| (call.fd, call.result) = (9, 1));
        }
        fixture.moves(CLIENT, 1, READ, 10);
    }
    answer(&fixture.end())
}

#[test]
fn an_event_loop_that_is_turned_until_the_event_has_come_is_a_spin() {
    let answer = turning(5 * US, true);
    let finding = answer.findings.iter().find(|finding| finding.name == "busy-spin").expect("found");
    assert_eq!(finding.mechanism[0].split(" repeats").nth(1), Some(": epoll_wait."), "{:?}", finding.mechanism);
    assert!(finding.mechanism[1].starts_with("Up to 200 polls in a row are given no time"), "{:?}", finding.mechanism);
    assert!(finding.remedy.contains("asyncio.sleep(0)"), "{}", finding.remedy);
}

#[test]
fn work_that_lets_others_have_a_turn_is_no_spin() {
    for answer in [turning(60 * US, true), turning(5 * US, false)] {
        assert!(!answer.findings.iter().any(|finding| finding.name == "busy-spin"), "{:?}", answer.findings);
    }
}
