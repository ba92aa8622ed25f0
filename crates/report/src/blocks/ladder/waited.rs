//! Who waited for whom in the exchange that is shown, as one sentence: from the one that the user waits for to the last one
//! that is known, each with its place and for how long.

use super::sentence::request;
use crate::blocks::waits::{ended_by, who};
use crate::document::Document;
use crate::escape::escape;
use crate::located::in_sentence;
use crate::style::Style;
use crate::text::{clean, wrap};
use case::facts::{Object, Wait};
use case::{Activity, Ender, Nanos, RequestWaits, WaitNode, WaitTree};

/// `the client python3 (client.py:26 in post) waits 250 ms for the server python3 (lock.py:31 in answer), which sleeps 249 ms.`
/// Empty where it leads to nobody.
pub(super) fn sentence(tree: &WaitTree) -> String {
    let branch = tree.main_branch();
    let Some(last) = branch.last().filter(|_| branch.len() > 1) else { return String::new() };
    let mut said = String::new();
    for (step, node) in branch.iter().enumerate() {
        let before = step.checked_sub(1).map(|before| branch[before]);
        let place = in_sentence(&node.place, node.place_share);
        let place = place.strip_prefix(", ").map(|place| format!(" ({place})")).unwrap_or_default();
        let which = if before.is_some() { ", which" } else { "" };
        said += &format!("{}{place}{which} ", who(node, before));
        match branch.get(step + 1) {
            Some(_) => said += &format!("waits {} for ", Nanos(node.ns)),
            None => said += &at_the_end(last),
        }
    }
    said + "."
}

/// What the last one does: it is on CPU, or what ended its wait is no thread that was recorded.
fn at_the_end(node: &WaitNode) -> String {
    let ns = Nanos(node.ns);
    match &node.activity {
        Activity::OnCpu => format!("is on CPU for {ns}"),
        Activity::RunDelay => format!("waits {ns} for a CPU"),
        Activity::PageFault => format!("waits {ns} for a disk outside calls"),
        Activity::BlockedElsewhere => format!("is blocked for {ns} outside recorded calls"),
        Activity::Other => format!("does something else for {ns}"),
        Activity::Blocked { call, wait: Wait::Sleep, .. } => format!("sleeps {ns} ({})", clean(call)),
        Activity::Blocked { call, object, .. } => {
            let call = clean(call);
            match (node.mostly_ended_by(), object) {
                (Some(Ender::Timer), _) => format!("waits {ns} ({call}) until that times out"),
                (Some(Ender::Disk), Some(Object::File { path: Some(path) })) => {
                    format!("waits {ns} for {} ({call})", clean(path))
                }
                (Some(by), _) => format!("waits {ns} ({call}) for {}", what(by)),
                (None, _) => format!("waits {ns} ({call})"),
            }
        }
    }
}

fn what(by: &Ender) -> String {
    if *by == Ender::Unknown { "something that was not recorded".into() } else { ended_by(by) }
}

/// Where it leads no further than to what the kernel holds or the network carries, the finding and the ledger say it better.
fn says_more_than_a_finding(tree: &WaitTree) -> bool {
    let last = tree.main_branch().last().and_then(|last| last.mostly_ended_by());
    !matches!(last, Some(Ender::Network | Ender::Unknown))
}

fn of(document: &Document) -> Option<(String, String)> {
    let RequestWaits { number, tree } = document.answer()?.request.as_ref()?;
    let said = sentence(tree);
    (!said.is_empty()).then(|| (request(*number, document.answer().map_or(0, |answer| answer.exchanges)), said))
}

/// The terminal shows it behind a finding; where none is said first, it shows the tree of all requests instead.
pub(super) fn text(document: &Document, style: Style) -> String {
    let Some(answer) = document.answer().filter(|answer| answer.leading_account().is_none()) else {
        return String::new();
    };
    if !answer.request.as_ref().is_some_and(|request| says_more_than_a_finding(&request.tree)) {
        return String::new();
    }
    let Some((which, said)) = of(document) else { return String::new() };
    wrap(&format!("A typical request ({which}): {said}"), style.columns(), "", "  ")
}

pub(super) fn markdown(document: &Document) -> String {
    let Some((which, said)) = of(document) else { return String::new() };
    format!("### Who waited for whom in a typical request ({which})\n\n{}\n", escape(&said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::{Answer, End, Ended, Place};

    fn node(program: &str, end: End, call: &str, ns: u64, line: u32) -> WaitNode {
        let wait = if call == "clock_nanosleep" { Wait::Sleep } else { Wait::Object };
        WaitNode {
            program: program.into(),
            pid: Some(if end == End::Client { 4 } else { 7 }),
            end: Some(end),
            activity: Activity::Blocked { call: call.into(), wait, object: None },
            ns: ns * 1_000_000,
            place: vec![Place { function: "f".into(), file: format!("/srv/{end}.py"), line, ..Place::default() }],
            ..WaitNode::default()
        }
    }

    fn answer(last: WaitNode) -> Answer {
        let lock = WaitNode { waits_for: vec![last], ..node("python3", End::Server, "futex", 249, 31) };
        let client = WaitNode { waits_for: vec![lock], ..node("curl", End::Client, "recvfrom", 250, 26) };
        let tree = WaitTree { of_ns: 251_000_000, followed: 1, branches: vec![client] };
        Answer { exchanges: 100, request: Some(RequestWaits { number: 51, tree }), ..Answer::default() }
    }

    #[test]
    fn it_goes_from_the_one_that_the_user_waits_for_to_the_one_that_sleeps() {
        let answer = answer(node("python3", End::Server, "clock_nanosleep", 248, 12));
        let text = text(&Document::of(&answer), Style::default());
        let wanted = "A typical request (51 of 100): the client curl (client.py:26 in f) waits 250 ms\n  \
                      for the server python3 (server.py:31 in f), which waits 249 ms for another\n  \
                      thread (server.py:12 in f), which sleeps 248 ms (clock_nanosleep).\n";
        assert_eq!(text, wanted);
        let markdown = markdown(&Document::of(&answer));
        assert!(markdown.contains("request (51 of 100)\n\n") && markdown.contains("sleeps 248 ms"), "{markdown}");
    }

    #[test]
    fn what_the_kernel_holds_is_left_to_the_finding() {
        let held = |by: Ender| {
            let ended = vec![Ended { by, ns: 248_000_000 }];
            answer(WaitNode { ended, ..node("python3", End::Server, "epoll_wait", 248, 12) })
        };
        let said = |answer: &Answer| {
            let text = text(&Document::of(answer), Style::default());
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(said(&held(Ender::Network)), "");
        assert!(
            said(&held(Ender::Timer)).contains("(epoll_wait) until that times out."),
            "{}",
            said(&held(Ender::Timer))
        );
        assert!(markdown(&Document::of(&held(Ender::Network))).contains("bytes in flight"));
        let peer = said(&held(Ender::Peer { remote: Some("10.0.0.1:5432".into()) }));
        assert!(peer.contains("10.0.0.1:5432, which was not recorded"), "{peer}");
    }

    #[test]
    fn who_waits_for_nobody_is_left_to_the_ledger() {
        let alone = WaitTree { of_ns: 10, followed: 1, branches: vec![node("curl", End::Client, "read", 10, 1)] };
        assert_eq!(sentence(&alone), "");
    }
}
