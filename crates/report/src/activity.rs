//! What a thread did, in words that go behind its name.

use crate::text::clean;
use case::facts::{Object, Wait};
use case::{Activity, Ender, Nanos, WaitNode};

/// `waiting for a lock or another thread (futex)`.
pub(crate) fn blocked(call: &str, wait: Wait, object: Option<&Object>) -> String {
    let call = clean(call);
    match (wait, object) {
        (Wait::Lock, Some(Object::File { path: Some(path) })) => {
            format!("waiting for a lock on {} ({call})", clean(path))
        }
        (Wait::Lock | Wait::Events | Wait::Object, Some(Object::TimeOut)) => format!("waiting for a time-out ({call})"),
        (Wait::Lock, _) => format!("waiting for a lock or another thread ({call})"),
        (Wait::Sleep, _) => format!("asleep ({call})"),
        (Wait::Child, _) => format!("waiting for a child process ({call})"),
        (Wait::Events | Wait::Object, Some(Object::Connection { remote: Some(remote) })) => {
            format!("waiting for {} ({call})", clean(remote))
        }
        (Wait::Events, _) => format!("waiting for other events ({call})"),
        (Wait::Object, Some(Object::File { path: Some(path) })) => format!("blocked in {call} of {}", clean(path)),
        (Wait::Object, _) => format!("blocked in {call}"),
    }
}

fn ends_by_a_clock(node: &WaitNode) -> bool {
    node.mostly_ended_by() == Some(&Ender::Timer)
}

/// A wait that nobody ended: `waiting for a time-out (epoll_wait)`.
pub(crate) fn untimed(node: &WaitNode) -> String {
    match &node.activity {
        Activity::Blocked { call, .. } => format!("waiting for a time-out ({})", clean(call)),
        _ => of(node),
    }
}

/// What a node's program did; where a clock ends its waits, with their length.
pub(crate) fn of(node: &WaitNode) -> String {
    let what = match &node.activity {
        Activity::OnCpu => "on CPU".into(),
        Activity::RunDelay => "waiting for a CPU".into(),
        Activity::Blocked { call, wait: Wait::Lock | Wait::Events, .. } if ends_by_a_clock(node) => {
            format!("waiting for a time-out ({})", clean(call))
        }
        Activity::Blocked { call, wait, object } => blocked(call, *wait, object.as_ref()),
        Activity::PageFault => "waiting for a disk outside calls".into(),
        Activity::BlockedElsewhere => "blocked outside recorded calls".into(),
        Activity::Other => "doing something else".into(),
    };
    let what = format!("{what}{}", asking(node));
    if node.regular { format!("{what}, {} each time", Nanos(node.usual_ns)) } else { what }
}

/// What was asked for meanwhile, behind a comma: `, asking SELECT orders`; empty where that is not known.
pub(crate) fn asking(node: &WaitNode) -> String {
    if node.asked.is_empty() { String::new() } else { format!(", asking {}", clean(&node.asked)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_says_what_was_asked_for() {
        let activity = Activity::Blocked { call: "poll".into(), wait: Wait::Events, object: None };
        let node = WaitNode { activity, asked: "SELECT orders".into(), ..WaitNode::default() };
        assert_eq!(of(&node), "waiting for other events (poll), asking SELECT orders");
    }
}
