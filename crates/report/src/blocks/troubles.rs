//! What went wrong again and again, in a sentence each.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::located::in_sentence;
use crate::part::{Part, under};
use crate::text::{clean, count as number, counted};
use case::{Nanos, Share, Trouble};

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let troubles = document.answer().map_or(&[][..], |answer| &answer.troubles);
    under("Also seen", [Part::List(troubles.iter().map(sentence).collect())])
});

/// `connect failed 14 times with ECONNREFUSED, client.py:12 in dial.`
fn sentence(trouble: &Trouble) -> String {
    match trouble {
        Trouble::EndedWith { status } => {
            format!("The program ended with exit status {status}: it may not have done its work.")
        }
        Trouble::Failed { call, error, count, place } => {
            let (call, error) = (clean(call), clean(error));
            format!("{call} failed {} with {error}{}.", counted(*count, "time"), in_sentence(place, None))
        }
        Trouble::ErrorAnswers { status, count: 1, of: 1 } => {
            format!("The one request got an answer with status {status}.")
        }
        Trouble::ErrorAnswers { status, count, of } if count == of => {
            format!("All {} requests got an answer with status {status}.", number(*of))
        }
        Trouble::ErrorAnswers { status, count, of } => {
            format!("{} of {} got an answer with status {status}.", number(*count), counted(*of, "request"))
        }
        Trouble::Refused { remote, count } => {
            let by = remote.as_deref().map_or_else(|| "A peer".into(), clean);
            format!("{by} refused {}: nobody listened there.", counted(*count, "connection"))
        }
        Trouble::SynAgain { remote, count } => {
            let to = remote.as_deref().map(|remote| format!(" to {}", clean(remote))).unwrap_or_default();
            format!("A SYN{to} got no answer and was sent again: {}.", counted(*count, "time"))
        }
        Trouble::Reset { count } => format!("The other end reset {}.", counted(*count, "connection")),
        Trouble::Overflow { counter, count } => {
            let counter = clean(counter);
            format!("A kernel queue overflowed {} ({counter}; counted for the whole machine).", counted(*count, "time"))
        }
        Trouble::RunDelay { count, ns_per_exchange, share } => format!(
            "Other programs kept the CPUs: threads that were ready to run waited {} for a millisecond or more, {} of each \
             request ({}).",
            counted(*count, "time"),
            Nanos(*ns_per_exchange),
            Share(*share)
        ),
        Trouble::Stolen { share } => format!(
            "The hypervisor ran others for {} of the time in which this machine had something to run (steal): times are longer \
             for it, since programs wait for a CPU meanwhile.",
            Share(*share)
        ),
        Trouble::Other => "Something this version of whyslow cannot name.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Place;

    #[test]
    fn each_is_a_sentence() {
        let place = Place { function: "dial".into(), file: "/srv/client.py".into(), line: 12, ..Place::default() };
        let refused =
            Trouble::Failed { call: "connect".into(), error: "ECONNREFUSED".into(), count: 1_400, place: vec![place] };
        assert_eq!(sentence(&refused), "connect failed 1,400 times with ECONNREFUSED, client.py:12 in dial.");
        let said = "The program ended with exit status 1: it may not have done its work.";
        assert_eq!(sentence(&Trouble::EndedWith { status: 1 }), said);
        let failed = Trouble::ErrorAnswers { status: 503, count: 1_400, of: 1_500 };
        assert_eq!(sentence(&failed), "1,400 of 1,500 requests got an answer with status 503.");
        let failed = |count| sentence(&Trouble::ErrorAnswers { status: 404, count, of: count });
        assert_eq!(failed(1_500), "All 1,500 requests got an answer with status 404.");
        assert_eq!(failed(1), "The one request got an answer with status 404.");
        let refused = Trouble::Refused { remote: Some("10.0.0.2:80".into()), count: 9 };
        assert_eq!(sentence(&refused), "10.0.0.2:80 refused 9 connections: nobody listened there.");
        let syn = Trouble::SynAgain { remote: Some("10.0.0.2:80".into()), count: 1 };
        assert_eq!(sentence(&syn), "A SYN to 10.0.0.2:80 got no answer and was sent again: 1 time.");
        let kept = Trouble::RunDelay { count: 1_200, ns_per_exchange: 5_600_000, share: 0.64 };
        let said = "Other programs kept the CPUs: threads that were ready to run waited 1,200 times for a millisecond or more, \
                    5.60 ms of each request (64 %).";
        assert_eq!(sentence(&kept), said);
        let said = "The hypervisor ran others for 31 % of the time in which this machine had something to run (steal): times are \
                    longer for it, since programs wait for a CPU meanwhile.";
        assert_eq!(sentence(&Trouble::Stolen { share: 0.31 }), said);
        let overflow = Trouble::Overflow { counter: "TcpExt.ListenOverflows".into(), count: 7 };
        let said = "A kernel queue overflowed 7 times (TcpExt.ListenOverflows; counted for the whole machine).";
        assert_eq!(sentence(&overflow), said);
    }
}
