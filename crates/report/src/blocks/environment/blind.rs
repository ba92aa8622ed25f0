//! What was not looked for, in words: all of it a sentence each, or in one line.

use crate::text::{clean, counted};
use case::facts::{Blind, NotLookedFor};

/// What makes Node.js write down what it compiles, in the world of a run.
const NAMES_JAVASCRIPT: &str = "--env NODE_OPTIONS=--perf-basic-prof";

/// One reason, and what it hides.
pub(super) fn sentence(one: &NotLookedFor) -> String {
    let names = one.pathologies.iter().map(|one| clean(&one.name)).collect::<Vec<_>>().join(", ");
    let hidden = |what: &str| if names.is_empty() { String::new() } else { format!(" {what}: {names}.") };
    let not_seen = || hidden("Not seen for that reason");
    match &one.why {
        Blind::NoDetector => {
            let known = counted(one.pathologies.len() as u64, "known cause");
            format!("whyslow has no detector yet for {known}: {names}.")
        }
        Blind::ServerNotRecorded => {
            format!("The server was not recorded (--server).{}", hidden("Not seen in it"))
        }
        Blind::WireOnly => {
            format!("What the processes did: a capture shows the wire only.{}", hidden("Not looked for"))
        }
        Blind::NoTcp => format!("Nothing was sent over TCP.{}", not_seen()),
        Blind::Udp { sockets } => format!(
            "{} moved data over UDP or QUIC, which is not split into requests.{}",
            counted(*sockets, "socket"),
            hidden("Not looked for there")
        ),
        Blind::Http2Streams { connections } => format!(
            "The streams within HTTP/2 are not told apart ({}).{}",
            counted(*connections, "connection"),
            hidden("Not looked for there")
        ),
        Blind::KernelTls { sockets } => {
            format!(
                "The kernel encrypts on {}: its TLS records are not seen.{}",
                counted(*sockets, "socket"),
                not_seen()
            )
        }
        Blind::AsynchronousIo { calls } => format!(
            "What happens in the queues of io_uring is not seen ({}).{}",
            counted(*calls, "call"),
            hidden("Not looked for there")
        ),
        Blind::LookupElsewhere => {
            format!("Another process on this machine looks names up, and was not recorded.{}", hidden("Not seen in it"))
        }
        Blind::NoScriptLines { language } => {
            format!(
                "Lines of {} are not read: places are functions of its interpreter or runtime. Those of compiled code are \
                 named where the runtime writes a map for profilers (node --perf-basic-prof).",
                clean(language)
            )
        }
        Blind::NoSamples => format!("No CPU samples were taken.{}", not_seen()),
        Blind::Lost { table, rows } => {
            format!("{} of {} were lost: what they would have shown is not known.", counted(*rows, "row"), clean(table))
        }
        Blind::Other => format!("For a reason that this version does not know.{}", not_seen()),
    }
}

/// All of it in one line for the terminal; what was lost is told there by itself.
pub(super) fn summary(all: &[NotLookedFor]) -> Option<String> {
    let clauses = all.iter().filter_map(|one| match &one.why {
        Blind::NoDetector => {
            Some(format!("{} without a detector", counted(one.pathologies.len() as u64, "known cause")))
        }
        Blind::ServerNotRecorded => Some("what happens in the server".into()),
        Blind::WireOnly => Some("what the processes did, which a capture does not show".into()),
        Blind::NoTcp => Some("what takes TCP".into()),
        Blind::Udp { .. } => Some("requests over UDP or QUIC".into()),
        Blind::Http2Streams { .. } => Some("streams within HTTP/2".into()),
        Blind::KernelTls { .. } => Some("TLS records in the kernel".into()),
        Blind::AsynchronousIo { .. } => Some("work within io_uring".into()),
        Blind::LookupElsewhere => Some("look-ups by another process".into()),
        Blind::NoScriptLines { language } if language == "JavaScript" => {
            Some(format!("lines of {language} ({NAMES_JAVASCRIPT} names compiled code)"))
        }
        Blind::NoScriptLines { language } => Some(format!("lines of {}", clean(language))),
        Blind::NoSamples => Some("CPU time by function".into()),
        Blind::Lost { .. } | Blind::Other => None,
    });
    let clauses = clauses.collect::<Vec<_>>();
    (!clauses.is_empty()).then(|| format!("{} (listed on the page and in --json)", clauses.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::answer::not_looked_for as one;

    #[test]
    fn reasons_name_what_they_hide() {
        let said = sentence(&one(Blind::ServerNotRecorded, &[("P05", "busy-spin"), ("P39", "sync-disk")]));
        assert_eq!(said, "The server was not recorded (--server). Not seen in it: busy-spin, sync-disk.");
        let said = sentence(&one(Blind::NoDetector, &[("P06", "sleep-polling"), ("P38", "lock-convoy")]));
        assert_eq!(said, "whyslow has no detector yet for 2 known causes: sleep-polling, lock-convoy.");
    }

    #[test]
    fn the_terminal_has_one_line() {
        let node = Blind::NoScriptLines { language: "JavaScript".into() };
        let lost = Blind::Lost { table: "calls".into(), rows: 3 };
        let all = [one(Blind::NoDetector, &[("P06", "sleep-polling")]), one(node, &[]), one(lost, &[])];
        let said = summary(&all).expect("a line");
        assert_eq!(
            said,
            "1 known cause without a detector; lines of JavaScript (--env NODE_OPTIONS=--perf-basic-prof names compiled \
             code) (listed on the page and in --json)"
        );
        assert_eq!(summary(&[]), None);
    }
}
