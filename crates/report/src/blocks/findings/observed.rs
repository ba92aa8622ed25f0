//! How a finding comes about, in sentences: what its detector says, and what it measured.

use crate::request_kind::request_kind;
use crate::text::{clean, count, counted};
use case::facts::{Input, Observation, WhyFull, WhyNoGrowth};
use case::{Bytes, Finding, Nanos, Share};

/// The mechanism step by step, measurements last.
pub(super) fn mechanism(finding: &Finding) -> Vec<String> {
    finding.mechanism.iter().cloned().chain(finding.observed.iter().map(sentence)).collect()
}

fn sentence(observation: &Observation) -> String {
    match *observation {
        Observation::Logins { connections, ns } => format!(
            "Logging in, which is all that comes before the first statement or command, takes {} of that on average ({}).",
            Nanos(ns),
            counted(connections, "connection")
        ),
        Observation::Behind { ref client, ref server, requests } => format!(
            "These are the {2} that {0} makes to {1}: here {0} is the client, and {1} the server.",
            clean(client),
            clean(server),
            counted(requests, "request")
        ),
        Observation::HeldUp { ref by, requests, of } => format!(
            "Most of the waiting is behind {} of {}: {}.",
            count(requests),
            counted(of, "request"),
            request_kind(by, true)
        ),
        Observation::FilledReads { reads, filled } => filled_reads(reads, filled),
        Observation::CertificatesPerContext { contexts, handshakes, files, bytes } => {
            let files = if files < 1.5 { "one file".to_string() } else { format!("{files:.0} files") };
            let times = match handshakes {
                0 => counted(contexts, "time"),
                _ => format!("{} for {}", counted(contexts, "time"), counted(handshakes, "TLS handshake")),
            };
            format!("Each time, {} of certificates are read from {files}: {times}.", Bytes(bytes))
        }
        Observation::Growth { input, exponent, low, high, smallest, largest, exchanges } => {
            let of = match input {
                Input::RequestBytesSoFar | Input::ResponseBytesSoFar => "byte",
                Input::RequestBytes | Input::ResponseBytes | Input::Exchanges => "request",
            };
            let (grows, over) = match input {
                Input::RequestBytesSoFar => ("what was read of the request before", sizes(smallest, largest)),
                Input::ResponseBytesSoFar => ("what was read of the response before", sizes(smallest, largest)),
                Input::RequestBytes => ("the request's size", sizes(smallest, largest)),
                Input::ResponseBytes => ("the response's size", sizes(smallest, largest)),
                Input::Exchanges => {
                    ("the number of requests so far", format!("from number {} to {}", count(smallest), count(largest)))
                }
            };
            format!(
                "CPU time per {of} grows with {grows} to the power {exponent:.2} ({low:.2} to {high:.2}, 95 % interval): \
                 {} {over}.",
                counted(exchanges, "request")
            )
        }
        Observation::FullHandshakes { handshakes, given, offered, why, of_them, blame: _ } => {
            full_handshakes(handshakes, given, offered, why, of_them)
        }
        Observation::GrowthNotMeasured { why } => format!(
            "How this grows with the input was not measured: {}. whyslow sweep measures it.",
            match why {
                WhyNoGrowth::FewExchanges => "it takes many requests of several sizes to see it in one run",
                WhyNoGrowth::InputsAlike => "all requests of this run were about alike",
            }
        ),
    }
}

/// What was seen, and the end to blame for it.
fn full_handshakes(handshakes: u64, given: u64, offered: u64, why: WhyFull, of_them: u64) -> String {
    let cause = match why {
        WhyFull::NotOffered => {
            "the server had given the client a session, and the client did not offer it: it is the client \
                                that forgets"
        }
        WhyFull::NotAccepted => {
            "the client offered its session, and the server did not take it: it is the server that \
                                 forgets"
        }
        WhyFull::NotGiven => {
            "the client would have taken a session, and the server gave none: it is the server that does \
                              not resume"
        }
        WhyFull::NotWanted => "the client takes no tickets: it is the client that does not resume",
        WhyFull::Unseen => {
            "the client offered nothing, and whether the server had given it anything cannot be seen from \
                            here (TLS 1.3 encrypts it): which end is to blame cannot be told"
        }
    };
    let of = if of_them == handshakes { "each".to_string() } else { count(of_them) };
    format!(
        "Of {} the server had given a session before {}, and the client offered one in {}. In {of} of them {cause}.",
        counted(handshakes, "full handshake"),
        count(given),
        count(offered)
    )
}

fn sizes(smallest: u64, largest: u64) -> String {
    format!("of {} to {}", Bytes(smallest), Bytes(largest))
}

fn filled_reads(reads: u64, filled: u64) -> String {
    match filled {
        _ if filled == reads => "Each got all it asked for, so a larger read could have got more.".to_string(),
        _ => {
            let share = Share(filled as f64 / reads.max(1) as f64);
            format!("{share} of them ({filled}) got all they asked for; there, a larger read could have got more.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::RequestKind;

    fn said(observation: Observation) -> String {
        let finding = Finding { mechanism: vec!["First.".into()], observed: vec![observation], ..Finding::default() };
        mechanism(&finding).join(" ")
    }

    #[test]
    fn the_few_that_hold_up_the_others_are_named() {
        let by = RequestKind::Http { method: "GET".into(), path: "/login".into() };
        let text = said(Observation::HeldUp { by, requests: 24, of: 240 });
        assert_eq!(text, "First. Most of the waiting is behind 24 of 240 requests: GET /login.");
    }

    #[test]
    fn logging_in_is_a_part_of_setting_up() {
        assert_eq!(
            said(Observation::Logins { connections: 150, ns: 1_200_000 }),
            "First. Logging in, which is all that comes before the first statement or command, takes 1.20 ms of that on average \
             (150 connections)."
        );
    }

    #[test]
    fn whose_requests_these_are_is_told_where_they_are_not_the_clients() {
        let between = |requests| Observation::Behind { client: "nginx".into(), server: "uwsgi".into(), requests };
        assert_eq!(
            said(between(1_200)),
            "First. These are the 1,200 requests that nginx makes to uwsgi: here nginx is the client, and uwsgi the server."
        );
    }

    #[test]
    fn a_power_is_told_with_its_interval_and_the_range_that_it_was_measured_over() {
        let growth = |input| {
            said(Observation::Growth {
                input,
                exponent: 1.974,
                low: 1.93,
                high: 2.018,
                smallest: 1_200,
                largest: 64_000,
                exchanges: 200,
            })
        };
        assert_eq!(
            growth(Input::ResponseBytes),
            "First. CPU time per request grows with the response's size to the power 1.97 (1.93 to 2.02, 95 % interval): \
             200 requests of 1200 bytes to 64 kB."
        );
        assert!(growth(Input::Exchanges).contains("the number of requests so far"), "{}", growth(Input::Exchanges));
        let none = said(Observation::GrowthNotMeasured { why: WhyNoGrowth::InputsAlike });
        assert!(none.contains("was not measured: all requests of this run were about alike"), "{none}");
    }

    #[test]
    fn the_end_to_blame_for_full_handshakes_is_named_or_said_not_to_be_told() {
        let full = |why: WhyFull| {
            let blame = why.blame();
            said(Observation::FullHandshakes { handshakes: 9, given: 8, offered: 0, why, of_them: 9, blame })
        };
        assert!(full(WhyFull::NotOffered).contains("it is the client that forgets"));
        assert!(full(WhyFull::NotAccepted).contains("it is the server that forgets"));
        assert!(full(WhyFull::NotGiven).contains("the server gave none"));
        assert!(full(WhyFull::Unseen).contains("cannot be told"));
        assert!(full(WhyFull::NotWanted).contains("Of 9 full handshakes the server had given a session before 8"));
    }

    #[test]
    fn a_share_of_the_reads_is_never_called_each() {
        let reads = |filled| said(Observation::FilledReads { reads: 1_000, filled });
        assert_eq!(reads(1_000), "First. Each got all it asked for, so a larger read could have got more.");
        assert!(reads(850).contains("85 % of them (850)") && !reads(850).contains("Each"), "{}", reads(850));
        assert!(reads(999).contains("99.9 % of them (999)"), "{}", reads(999));
    }
}
