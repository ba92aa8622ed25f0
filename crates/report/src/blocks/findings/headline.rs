//! What is wrong, what it costs and where, in one sentence. Where trials measured the cost, that is the figure, with its
//! interval; the ledger's upper bound stands beside it. A cause that touches few requests is told by what it is.

use crate::figure::{clause, range, scaled, single, three, times};
use crate::located::in_sentence;
use crate::text::{clean, counted};
use case::{Effect, Few, Finding, Metric, Moment, Nanos, Status};

/// The sentence, without a full stop. `exchanges` is how many the answer has.
pub(crate) fn headline(finding: &Finding, exchanges: u64) -> String {
    let what = clean(&finding.what);
    let effect = finding.effect.as_ref().filter(|effect| finding.status == Status::Confirmed && effect.ratio > 1.0);
    let costs = match (&finding.cost.few, effect) {
        _ if what.is_empty() => return clean(&finding.title),
        (Some(few), Some(effect)) => format!("{}{}", occurrences(few), in_all(effect, exchanges)),
        (Some(few), None) => occurrences(few),
        (None, Some(effect)) => measured(effect),
        (None, None) => return clean(&finding.title),
    };
    format!("{what}: {costs}{}", in_sentence(&finding.place, finding.place_share))
}

/// `2 stalls of 40.1 ms, while the session starts`.
fn occurrences(few: &Few) -> String {
    let when = match few.when {
        Moment::Start => ", while the session starts",
        Moment::End => ", as the session ends",
        Moment::Throughout => "",
    };
    let of = if few.count == 1 { "of" } else { "of about" };
    format!("{} {of} {}{when}", counted(few.count, "stall"), Nanos(few.ns))
}

/// What the trials saved, with its interval, of what there was.
fn measured(effect: &Effect) -> String {
    let before = single(&effect.metric, effect.before);
    match effect.metric {
        Metric::WallPerExchange => format!("{} of every {before} request", saved(effect, 1.0)),
        Metric::ElapsedPerExchange => format!("{} of every {before} from request to request", saved(effect, 1.0)),
        Metric::CpuPerExchange => format!("{} of every request's {before} of CPU time", saved(effect, 1.0)),
        Metric::Wall => format!("{} of the {before} run", saved(effect, 1.0)),
        Metric::Cpu => format!("{} of the run's {before} of CPU time", saved(effect, 1.0)),
        _ => {
            let without = clause(&effect.metric, effect.before, effect.after);
            format!("without it {without}, {})", times(&effect.metric, effect.ratio, effect.low, effect.high))
        }
    }
}

/// What few requests waited is told for all of them together: no request waits the mean.
fn in_all(effect: &Effect, exchanges: u64) -> String {
    match effect.metric {
        Metric::WallPerExchange | Metric::ElapsedPerExchange => {
            format!("; {} in all", saved(effect, exchanges.max(1) as f64))
        }
        _ => format!("; {}", measured(effect)),
    }
}

/// What went away with the cause, and its interval: `43.9 ms (43.8 to 44.0)`. The interval is the ratio's, put on the
/// figure before: nothing else is known of how far that figure spreads.
fn saved(effect: &Effect, times: f64) -> String {
    let part = |ratio: f64| effect.before * times * (1.0 - 1.0 / ratio.max(1.0));
    let (unit, size) = scaled(&effect.metric, part(effect.ratio));
    let interval = range(part(effect.low) / size, part(effect.high) / size);
    format!("{} {unit} ({interval})", three(part(effect.ratio) / size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::answer as examples;

    #[test]
    fn a_proved_cause_costs_what_was_measured() {
        let mut finding = examples::proved().findings[0].clone();
        let said = headline(&finding, 250);
        let wanted = "Nagle's algorithm and delayed ACKs hold the client's writes: 43.9 ms (43.8 to 43.9) of every \
                      44.1 ms request, client.py:31 in send_body";
        assert_eq!(said, wanted);
        assert!(format!("Confirmed: {said}").split_whitespace().count() <= 25, "{said}");
        finding.status = Status::Suspected;
        assert_eq!(headline(&finding, 250), finding.title);
    }

    #[test]
    fn a_cause_of_few_requests_is_not_spread_over_all() {
        let mut finding = examples::proved().findings[0].clone();
        finding.cost.few = Some(Few { count: 2, ns: 40_100_000, when: Moment::Start });
        let effect = finding.effect.as_mut().expect("it was proved");
        (effect.before, effect.ratio, effect.low, effect.high) = (1_000_000.0, 1.47, 1.4, 1.54);
        let said = headline(&finding, 250);
        assert!(
            said.contains("writes: 2 stalls of about 40.1 ms, while the session starts; 79.9 ms (71.4 to 87.7) in all"),
            "{said}"
        );
        finding.status = Status::Suspected;
        let said = headline(&finding, 250);
        assert!(said.ends_with("2 stalls of about 40.1 ms, while the session starts, client.py:31 in send_body"));
    }
}
