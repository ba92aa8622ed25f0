//! How sure a finding is, in sentences: proved, refuted, left open, or a suspicion and why it is no more than that.

use crate::figure::{change, clause, noun, three, times};
use crate::text::{capitalised, clean, counted};
use case::{Effect, Finding, Kind, Measured, Proof, Purpose, Status, Switched, Tried};

/// Another metric did not change where its interval includes 1 and reaches no further than this from it; a wider one
/// leaves that open.
const STAYED: f64 = 1.1;

/// How sure a finding is. `live` is what was switched in a running program, where it was not run again.
pub(crate) fn certainty(finding: &Finding, proof: Option<&Proof>, live: &[Switched]) -> String {
    match (finding.status, &finding.effect) {
        (Status::Suspected, _) => suspicion(finding, proof),
        (Status::Confirmed, Some(effect)) => {
            format!("Proved: {}.{}", compared(finding, effect, live), also(&effect.also))
        }
        (Status::Refuted, Some(effect)) => {
            format!("Switched off: {}: it is not the cause.", compared(finding, effect, live))
        }
        (Status::Undecided, Some(effect)) => {
            let compared = compared(finding, effect, live);
            format!("Undecided: {compared}: this neither proves nor refutes it.{}", also(&effect.also))
        }
        (Status::Confirmed | Status::Refuted | Status::Undecided, None) => String::new(),
    }
}

/// Why a finding was not tried, in a sentence.
pub(crate) fn reason<'a>(finding: &Finding, proof: Option<&'a Proof>) -> Option<&'a str> {
    proof?.untried.iter().find(|one| one.finding == finding.id).map(|one| one.sentence.as_str())
}

fn suspicion(finding: &Finding, proof: Option<&Proof>) -> String {
    let has_dose = finding.tried.iter().any(|one| one.purpose == Purpose::Dose && one.status == Status::Confirmed);
    let what = match (finding.tried.is_empty(), has_dose) {
        (true, _) => "Nothing has been switched off yet",
        (false, true) => "Smaller doses help, but nothing that switches it off gave a result",
        (false, false) => "No trial of it gave a result",
    };
    let reason = reason(finding, proof).map(|reason| format!(" Not tried: {}", clean(reason)));
    let so = match finding.kind {
        Kind::Cause => "this is a suspicion, not a proof",
        Kind::Observation => "this says where the time goes, not why",
    };
    format!("{what}: {so}.{}", reason.unwrap_or_default())
}

/// What an intervention did, against the same program with the same machinery attached and inert; the step of a ladder
/// against the step before it.
fn compared(finding: &Finding, effect: &Effect, live: &[Switched]) -> String {
    let is_step = |one: &Tried| one.intervention == effect.intervention && one.purpose == Purpose::Incremental;
    let is_live = live.iter().any(|one| one.intervention == effect.intervention);
    let basis = match (is_live, finding.tried.iter().any(is_step)) {
        (true, _) => " switched on in the running program",
        (false, true) => ", on top of the step before it,",
        (false, false) => "",
    };
    // Where the budget left no room for trials with nothing attached, there is no figure.
    let sham = if effect.sham_ratio > 0.0 { format!("; sham {}", three(effect.sham_ratio)) } else { String::new() };
    format!(
        "with {}{basis} {}: {}, {}{sham})",
        clean(&effect.intervention),
        clause(&effect.metric, effect.before, effect.after),
        times(&effect.metric, effect.ratio, effect.low, effect.high),
        counted(u64::from(effect.trials), if is_live { "window" } else { "trial" }),
    )
}

/// What the same trials say of other metrics.
fn also(measured: &[Measured]) -> String {
    measured.iter().flat_map(|one| [" ".to_string(), besides(one), ".".to_string()]).collect()
}

fn besides(measured: &Measured) -> String {
    let name = capitalised(&noun(&measured.metric));
    let (ratio, low, high) = (measured.ratio, measured.low, measured.high);
    if low > 1.0 || high < 1.0 {
        let verb = if low > 1.0 { "fell as well" } else { "rose" };
        return format!("{name} {verb}: {})", times(&measured.metric, ratio, low, high));
    }
    let changes = if measured.metric.more_is_better() { [low, high] } else { [1.0 / high, 1.0 / low] };
    let interval = changes.map(change).join(" to ");
    if low * STAYED >= 1.0 && high <= STAYED {
        return format!("{name} did not change (95 % interval {interval})");
    }
    format!("{name} may have changed (95 % interval {interval})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::answer as examples;
    use case::facts::{NotTried, WhyNot};

    #[test]
    fn another_metric_stayed_fell_rose_or_is_unknown() {
        let said = |ratio, low, high| besides(&Measured { metric: "cpu_ns".into(), ratio, low, high });
        assert_eq!(said(1.0, 0.99, 1.01), "CPU time per run did not change (95 % interval 1.0 % less to 1.0 % more)");
        assert_eq!(said(2.0, 1.9, 2.1), "CPU time per run fell as well: 2.00 times less (95 % interval 1.90 to 2.10)");
        assert!(said(0.5, 0.4, 0.8).contains("rose: 2.00 times more (95 % interval 1.25 to 2.50)"));
        assert!(said(1.1, 0.7, 1.6).contains("may have changed (95 % interval 38 % less to 43 % more)"));
    }

    #[test]
    fn a_suspicion_whose_doses_gain_says_so() {
        let mut finding = examples::slow().findings[0].clone();
        finding.tried = vec![examples::tried("small", Purpose::Dose, Status::Confirmed, (8.0, 8.2, 8.4))];
        finding.status = Status::Suspected;
        assert!(certainty(&finding, None, &[]).starts_with("Smaller doses help, but"));
    }

    #[test]
    fn a_suspicion_says_why_it_was_not_tried() {
        let answer = examples::slow();
        let why = |finding: &str, sentence: &str| NotTried {
            why: WhyNot::NotHere,
            finding: finding.into(),
            sentence: sentence.into(),
            ..NotTried::default()
        };
        // What names a finding in words alone is not of it.
        let other = why("P22", "sync-disk: it needs a server, not nagle-delayed-ack.");
        let mut proof = Proof { untried: vec![other], ..Proof::default() };
        assert!(!certainty(&answer.findings[0], Some(&proof), &[]).contains("needs"));
        proof.untried.push(why("P01", "nagle-delayed-ack: it needs a link."));
        let said = certainty(&answer.findings[0], Some(&proof), &[]);
        assert!(said.ends_with("not a proof. Not tried: nagle-delayed-ack: it needs a link."), "{said}");
    }
}
