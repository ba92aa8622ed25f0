//! The sentence about the slow few: how slow, what they wait for, and what they ask for.

use crate::activity;
use crate::blocks::waits::who;
use crate::located::in_sentence;
use crate::request_kind::request_kind;
use crate::text::count;
use case::{Nanos, Share, Tail};

/// `10 of 400 requests take 303 ms or longer; the median is 9.40 ms. 98 % of their time is the server python3 asleep
/// (clock_nanosleep), 300 ms each time, server.py:14 in render. They account for 45 % of all request time.`
pub(super) fn sentence(tail: &Tail, of: u64) -> Option<String> {
    let cause = tail.cause()?;
    let share = Share(cause.ns as f64 / tail.waits.of_ns.max(1) as f64);
    let asking = tail.kind.as_ref().map(|kind| format!(" Nearly all of them are {}.", request_kind(kind, true)));
    let connections = tail.connections.as_ref().map(|few| match &few.remote {
        Some(remote) => format!(" All are on one of {} connections, {remote}.", count(few.of)),
        None => format!(" All are on {} of {} connections.", count(few.count), count(few.of)),
    });
    let since = tail.since_ns.map(|since| format!(" The first came {} into the recording.", long(since)));
    Some(format!(
        "{} of {} requests take {} or longer; the median is {}. {share} of their time is {} {}{}. They account for {} of all \
         request time.{}{}{}",
        count(tail.count),
        count(of),
        Nanos(tail.least_ns),
        Nanos(tail.usual_ns),
        who(cause, None),
        activity::of(cause),
        in_sentence(&cause.place, cause.place_share),
        Share(tail.share),
        asking.unwrap_or_default(),
        connections.unwrap_or_default(),
        since.unwrap_or_default(),
    ))
}

/// A time that may be long: `41.2 s`, `20 minutes`.
fn long(ns: u64) -> String {
    let minutes = ns as f64 / 60e9;
    if minutes < 2.0 { Nanos(ns).to_string() } else { format!("{minutes:.0} minutes") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::examples::answer::slow;
    use crate::style::Style;
    use case::facts::Wait;
    use case::{Activity, End, FewConnections, RequestKind, WaitNode, WaitTree};

    fn tail() -> Tail {
        let activity = Activity::Blocked { call: "clock_nanosleep".into(), wait: Wait::Sleep, object: None };
        let node = WaitNode {
            program: "python3".into(),
            end: Some(End::Server),
            activity,
            ns: 300_000_000,
            usual_ns: 300_000_000,
            regular: true,
            ..WaitNode::default()
        };
        let waits = WaitTree { of_ns: 310_000_000, followed: 10, branches: vec![node] };
        Tail { count: 10, least_ns: 303_000_000, usual_ns: 9_400_000, share: 0.45, waits, ..Tail::default() }
    }

    #[test]
    fn the_slow_few_are_told_in_a_sentence() {
        let wanted = "10 of 1,400 requests take 303 ms or longer; the median is 9.40 ms. 97 % of their time is the server python3 \
                      asleep (clock_nanosleep), 300 ms each time. They account for 45 % of all request time.";
        assert_eq!(sentence(&tail(), 1_400).as_deref(), Some(wanted));
        let kind = Some(RequestKind::Http { method: "GET".into(), path: "/report".into() });
        let said = sentence(&Tail { kind, ..tail() }, 1_400).expect("a sentence");
        assert!(said.ends_with(" Nearly all of them are GET /report."), "{said}");
        let connections = Some(FewConnections { count: 1, of: 1_000, remote: Some("10.0.0.7:40112".into()) });
        let said = sentence(&Tail { connections, since_ns: Some(1_203_000_000_000), ..tail() }, 9).expect("a sentence");
        let wanted =
            " All are on one of 1,000 connections, 10.0.0.7:40112. The first came 20 minutes into the recording.";
        assert!(said.ends_with(wanted), "{said}");
        let connections = Some(FewConnections { count: 2, of: 1_000, remote: None });
        let said = sentence(&Tail { connections, ..tail() }, 9).expect("a sentence");
        assert!(said.ends_with(" All are on 2 of 1,000 connections."), "{said}");
    }

    #[test]
    fn they_are_said_first_unless_a_finding_is_about_them() {
        let with = |explained| case::Answer { tail: Some(Tail { explained, ..tail() }), ..slow() };
        let text = |answer: case::Answer| super::super::text(&Document::of(&answer), Style::default());
        assert!(text(with(false)).starts_with("10 of "), "{}", text(with(false)));
        assert!(!text(with(true)).contains("10 of "), "{}", text(with(true)));
    }
}
