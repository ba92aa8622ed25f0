//! What a recording shows, made by hand for the tests of the sections.

use crate::document::{Body, Document, SideViews};
use case::facts::Transport;
use case::views::{
    Bin, CallView, Caller, ConnectionView, Fact, HandshakeState, Lengths, LossView, Moment, Outlier, Quantile, Rest,
    Views,
};
use case::{Answer, End, Verdict};

/// A string that would run, end an attribute or turn the direction of writing, were it not escaped.
pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202e}\u{1b}[31m";

/// Lengths of all that is given, in milliseconds; they ended one after another.
pub(crate) fn lengths(milliseconds: &[f64]) -> Lengths {
    let mut sorted = milliseconds.iter().map(|length| (length * 1e6) as u64).collect::<Vec<_>>();
    sorted.sort_unstable();
    let total = sorted.len();
    let mut at = 0;
    let over_time = milliseconds.iter().map(|length| {
        let ns = (length * 1e6) as u64;
        at += ns;
        Moment { at, count: 1, median_ns: ns, p95_ns: ns, most_ns: ns }
    });
    let over_time = over_time.collect::<Vec<_>>();
    let worst = over_time.iter().enumerate().map(|(index, moment)| Outlier {
        number: index as u64 + 1,
        at: moment.at,
        length_ns: moment.most_ns,
    });
    let mut worst = worst.collect::<Vec<_>>();
    worst.sort_by_key(|one| std::cmp::Reverse(one.length_ns));
    worst.truncate(100);
    let share = |index: usize| (index + 1) as f64 / total as f64;
    Lengths {
        count: total as u64,
        total_ns: sorted.iter().sum(),
        quantiles: sorted.iter().enumerate().map(|(index, ns)| Quantile { share: share(index), ns: *ns }).collect(),
        histogram: bins(&sorted),
        over_time,
        worst,
    }
}

/// Bins that grow by a quarter.
fn bins(sorted: &[u64]) -> Vec<Bin> {
    let Some((first, last)) = sorted.first().zip(sorted.last()) else { return Vec::new() };
    let mut bins = Vec::new();
    let mut from = *first;
    while from <= *last {
        let to = (from as f64 * 1.25).ceil() as u64 + 1;
        let count = sorted.iter().filter(|ns| (from..to).contains(*ns)).count() as u64;
        bins.push(Bin { from_ns: from, to_ns: to, count });
        from = to;
    }
    bins
}

/// A connection of a client with 100 requests over TLS.
pub(crate) fn connection() -> ConnectionView {
    ConnectionView {
        id: 1,
        end: Some(End::Client),
        process: "python3 (4711)".into(),
        transport: Transport::Tcp,
        local: "10.0.0.1:40000".into(),
        remote: "10.0.0.2:443".into(),
        at: 12_000_000,
        length_ns: 4_410_000_000,
        exchanges: 100,
        exchange_ns: 4_400_000_000,
        bytes_out: 15_300,
        bytes_in: 9_100,
        tls_version: "TLS 1.3".into(),
        cipher: "TLS_AES_256_GCM_SHA384".into(),
        handshake: Some(HandshakeState::Full),
        handshake_ns: 3_100_000,
        server_name: "casebook.test".into(),
        nodelay: false,
        mss: 1_448,
        srtt_ns: 56_000,
        retransmitted: 0,
    }
}

/// What a run of 100 requests shows, two of them very slow.
pub(crate) fn views() -> Views {
    let milliseconds = (0..100).map(|index| match index {
        41 => 802.0,
        73 => 1_210.0,
        _ => 43.5 + f64::from(index % 7) * 0.1,
    });
    let call = |call: &str, about: &str, count: u64| CallView {
        call: call.into(),
        about: about.into(),
        who: Some(Caller::End(End::Client)),
        count,
        per_exchange: count as f64 / 100.0,
        total_ns: count * 4_000,
        blocked_ns: count * 3_000,
        bytes: count * 90,
        failed: 0,
    };
    let fact =
        |group: &str, name: &str, value: &str| Fact { group: group.into(), name: name.into(), value: value.into() };
    Views {
        wall_ns: 6_500_000_000,
        lengths: lengths(&milliseconds.collect::<Vec<_>>()),
        connections: vec![connection()],
        calls: vec![
            call("read", "tcp socket", 500),
            call("write", "tcp socket", 400),
            call("openat", "/etc/hosts", 20),
        ],
        environment: vec![
            fact("Machine", "kernel", "6.1.0"),
            fact("Programs", "python3", "3.11.7"),
            fact("Kernel counters", "TcpRetransSegs", "0"),
        ],
        ..Views::default()
    }
}

/// What a run shows in which every string is hostile.
pub(crate) fn hostile() -> Views {
    let text = || HOSTILE.to_string();
    let base = connection();
    let connection = ConnectionView {
        process: text(),
        local: text(),
        remote: text(),
        tls_version: text(),
        cipher: text(),
        server_name: text(),
        ..base
    };
    let call =
        CallView { call: text(), about: text(), who: Some(Caller::Program(text())), count: 1, ..CallView::default() };
    Views {
        connections: vec![connection],
        connections_left_out: Rest { rows: 3, exchanges: 4, bytes: 5 },
        calls: vec![call],
        environment: vec![Fact { group: text(), name: text(), value: text() }],
        losses: vec![LossView { table: text(), reason: text(), count: 7, from: 1, to: 2 }],
        ..views()
    }
}

/// The answer of a run in which nothing was found.
pub(crate) fn answer() -> Answer {
    Answer {
        schema: case::SCHEMA,
        command: vec!["client".into()],
        case: "/var/cases/one".into(),
        wall_ns: 6_500_000_000,
        exchanges: 100,
        subject_exit: Some(0),
        verdict: Verdict::None,
        summary: "93 % is the server thinking.".into(),
        missing: vec!["Kernel stacks: perf_event_paranoid is 3.".into()],
        ..Answer::default()
    }
}

/// Document of one recording.
pub(crate) fn document<'a>(body: Body<'a>, sides: Vec<(&str, Views)>) -> Document<'a> {
    let sides = sides.into_iter().map(|(name, views)| SideViews { name: name.into(), views }).collect();
    Document { body, sides, differences: Vec::new(), arms: Vec::new(), manifest: None }
}

/// Fails where HTML runs something from outside, or holds what is no number where a number belongs.
pub(crate) fn assert_harmless(html: &str) {
    assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains('\u{202e}'), "{html}");
    assert!(!html.contains('\u{1b}'), "{html}");
    let attributes = html.split('"').skip(1).step_by(2);
    for attribute in attributes {
        let numbers = attribute.split(|letter: char| " ,=".contains(letter));
        for part in numbers {
            let part = part.trim_start_matches(|letter: char| "MLHVhvZ-".contains(letter));
            assert!(!part.eq_ignore_ascii_case("nan") && !part.eq_ignore_ascii_case("inf"), "{attribute}");
        }
    }
}
