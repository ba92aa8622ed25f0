//! What a diagnosis promises of any recording, however odd: it comes back, adds up and repeats itself. Here and not within the
//! crate, whose own tests are not optimised: these are thousands of diagnoses.

use case::tables::{
    Call, Connection, Handshake, HttpMessage, Lookup, Loss, Process, Sample, SchedulerSum, Segment, StackFrame, Switch,
    TcpEvent, Thinned, Thread, TlsRecord,
};
use case::{Answer, Ledger, Nanos, Recording};
use diagnose::{Analysis, Options, contrast, growth, hottest, segment_tie};
use proptest::prelude::*;

fn answer(recording: &Recording) -> Answer {
    Analysis::new(recording).answer("case", Options::default())
}

fn add_up(ledger: &Ledger) {
    assert_eq!(ledger.accounts.iter().map(|account| account.ns).sum::<u64>(), ledger.total, "{ledger:?}");
    assert_eq!(ledger.overbooked, 0, "{ledger:?}");
}

/// Few different values, so that rows meet; now and then an extreme one.
fn time() -> impl Strategy<Value = Nanos> {
    prop_oneof![30 => (0u64..2_000).prop_map(|time| Nanos(time * 500)), 1 => Just(Nanos(u64::MAX)), 1 => Just(Nanos(0))]
}

fn number() -> impl Strategy<Value = u16> {
    prop::sample::select(vec![0u16, 1, 3, 7, 16, 42, 44, 45, 61, 74, 202, 232, 233, 257, 275, 288, 999])
}

prop_compose! {
    fn call()(
        (start, duration, blocked) in (time(), time(), time()),
        (tid, number, fd) in (1u32..5, number(), -1i32..4),
        result in prop_oneof![-20i64..2_000, Just(i64::MAX), Just(i64::MIN)],
        (argument_1, argument_2, connection, path) in (0u64..4, 0u64..100, 0u32..6, 0u32..3),
        (stack, content, finished) in (0u32..3, 0u8..7, any::<bool>()),
    ) -> Call {
        Call {
            start, duration, blocked, tid, number, fd, result, argument_1, argument_2, connection, path, stack, content,
            finished, pid: tid / 2 + 1, script_stack: 0, argument_3: 0,
        }
    }
}

prop_compose! {
    fn connection()(
        (id, pid, peer) in (1u32..6, 1u32..4, 0u32..6),
        (transport, role) in (1u8..5, 0u8..4),
        (opened, established, closed) in (time(), time(), time()),
        (mss, nodelay) in (0u32..2_000, any::<bool>()),
    ) -> Connection {
        Connection { id, pid, peer, transport, role, opened, established, closed, mss, nodelay, ..Connection::default() }
    }
}

prop_compose! {
    fn segment()(
        (time, connection, direction, flags) in (time(), 1u32..6, 0u8..2, prop::sample::select(vec![2u8, 16, 17, 18, 4])),
        (sequence, acknowledged, payload, limit) in (any::<u32>(), any::<u32>(), 0u32..3_000, 0u8..4),
    ) -> Segment {
        Segment { time, connection, direction, flags, sequence, acknowledged, payload, limit }
    }
}

prop_compose! {
    fn switch()((start, runnable, end) in (time(), time(), time()), tid in 1u32..5, reason in 0u8..3) -> Switch {
        Switch { start, runnable, end, tid, waker: 0, reason }
    }
}

prop_compose! {
    fn small_tables()(
        threads in prop::collection::vec((1u32..6, time(), time(), time()), 0..5),
        samples in prop::collection::vec((1u32..5, time(), any::<bool>(), 0u32..3), 0..20),
        events in prop::collection::vec((1u32..6, time(), 1u8..5), 0..10),
        handshakes in prop::collection::vec((1u32..6, time(), time(), any::<bool>()), 0..4),
        records in prop::collection::vec((1u32..6, time(), 20u8..24), 0..10),
        lookups in prop::collection::vec((1u32..5, time(), 0u8..2, 0u16..4), 0..8),
        heads in prop::collection::vec((1u32..6, time(), any::<bool>()), 0..5),
        sums in prop::collection::vec((1u32..6, time(), time(), any::<bool>(), 0u64..40), 0..6),
        losses in prop::collection::vec((time(), time(), prop::sample::select(vec!["calls", "stacks"])), 0..3),
        thinned in prop::collection::vec((time(), time()), 0..3),
    ) -> Recording {
        let mut recording = Recording::default();
        for (tid, start, end, on_cpu) in threads {
            recording.threads.push(Thread { tid, pid: tid / 2 + 1, start, end, on_cpu: Nanos(on_cpu.0 / 8), ..Thread::default() });
            let role = if tid < 3 { "client" } else { "server" }.to_string();
            recording.processes.push(Process { pid: tid / 2 + 1, role, start, end, ..Process::default() });
        }
        for (tid, time, kernel, stack) in samples {
            recording.samples.push(Sample { time, tid, pid: tid / 2 + 1, kernel, stack, ..Sample::default() });
        }
        for (connection, time, event) in events {
            recording.tcp_events.push(TcpEvent { time, connection, event, before: 0, after: 0 });
        }
        for (connection, start, end, resumed) in handshakes {
            recording.handshakes.push(Handshake { start, end, connection, tid: 1, resumed, ..Handshake::default() });
        }
        for (connection, time, content_type) in records {
            recording.tls_records.push(TlsRecord { time, connection, content_type, length: 19, ..TlsRecord::default() });
        }
        for (tid, time, direction, message) in lookups {
            recording.lookups.push(Lookup { time, tid, direction, message, ..Lookup::default() });
        }
        for (connection, time, expects_continue) in heads {
            recording.http_messages.push(HttpMessage { time, connection, expects_continue, ..HttpMessage::default() });
        }
        for (tid, on_cpu, run_delay, has_run_delay, count) in sums {
            let counts = SchedulerSum { voluntary: count, involuntary: count / 3, calls: count * 2, ..SchedulerSum::default() };
            recording.scheduler_sums.push(SchedulerSum { tid, on_cpu, run_delay, has_run_delay, ..counts });
        }
        for (start, end, table) in losses {
            recording.losses.push(Loss { start, end, table: table.to_string(), count: 1, ..Loss::default() });
        }
        recording.thinned.extend(thinned.into_iter().map(|(start, end)| Thinned { start, end }));
        recording.stacks.push(StackFrame { stack: 1, depth: 0, location: 9, complete: true });
        recording
    }
}

prop_compose! {
    fn recording()(
        base in small_tables(),
        calls in prop::collection::vec(call(), 0..80),
        connections in prop::collection::vec(connection(), 0..6),
        segments in prop::collection::vec(segment(), 0..60),
        switches in prop::collection::vec(switch(), 0..40),
        (start, end) in (time(), time()),
    ) -> Recording {
        let mut recording = Recording { calls, connections, segments, switches, ..base };
        // A recording longer than this is in years.
        (recording.manifest.start, recording.manifest.end) = (Nanos(start.0 % (1 << 55)), Nanos(end.0 % (1 << 55)));
        recording.sort();
        recording
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn gives_an_answer_that_adds_up(recording in recording()) {
        let answer = answer(&recording);
        add_up(&answer.ledger);
        prop_assert_eq!(answer.ledger.total, answer.wall_ns);
    }

    #[test]
    fn gives_ledgers_that_add_up(recording in recording()) {
        let analysis = Analysis::new(&recording);
        add_up(&analysis.exchange_ledger());
        analysis.thread_ledgers().iter().for_each(|(_, ledger)| add_up(ledger));
        analysis.exchange_ledgers().iter().for_each(add_up);
    }

    #[test]
    fn can_be_contrasted_with_any_other(one in recording(), other in recording()) {
        let sides = (std::slice::from_ref(&one), std::slice::from_ref(&other));
        let contrasts = contrast(sides.0, sides.1);
        prop_assert_eq!(&contrasts, &contrast(sides.0, sides.1));
        growth((1.0, sides.0), (2.0, sides.1));
        hottest(&one);
        for finding in answer(&one).findings {
            segment_tie(&one, &finding, 100.0);
        }
    }

    #[test]
    fn gives_the_same_answer_twice(recording in recording()) {
        prop_assert_eq!(serde_json::to_string(&answer(&recording)).expect("JSON"),
            serde_json::to_string(&answer(&recording.clone())).expect("JSON"));
    }
}
