//! Which arm's trials belong to an intervention, and which to what it is compared with.

use case::views::{ArmDots, Dot};
use case::{Metric, Together, Tried};

/// The arm with all machinery attached, inert.
pub(super) const SHAM: &str = "nothing";
/// The arm with nothing attached.
pub(super) const PLAIN: &str = "plain";

/// The trials of an arm by a metric; empty where there are none.
pub(super) fn dots<'a>(arms: &'a [ArmDots], arm: &str, metric: &Metric) -> &'a [Dot] {
    arms.iter().find(|one| one.arm == arm && one.metric == *metric).map_or(&[], |one| &one.dots)
}

/// The arm of an intervention, and the one that it is compared with. The steps of a ladder, and what was found on top of
/// something else, carry what they stand on before a `+`, and are compared with that.
pub(super) fn of_tried<'a>(arms: &'a [ArmDots], tried: &Tried) -> Option<(&'a str, &'a str)> {
    let of_metric = || arms.iter().filter(|one| one.metric == tried.metric).map(|one| one.arm.as_str());
    // A case that was made before each arm had a sham of its own does not say.
    let reference = of_metric().find(|arm| *arm == tried.reference).unwrap_or(SHAM);
    let alone = of_metric().find(|arm| is_of(arm, tried)).map(|arm| (arm, reference));
    let upon = || {
        of_metric().find_map(|arm| {
            let (below, own) = arm.rsplit_once('+')?;
            (is_of(own, tried) && of_metric().any(|other| other == below)).then_some((arm, below))
        })
    };
    alone.or_else(upon)
}

/// The arm of interventions tried together.
pub(super) fn of_together<'a>(arms: &'a [ArmDots], together: &Together) -> Option<&'a str> {
    let names = arms.iter().filter(|one| one.metric == together.metric).map(|one| one.arm.as_str());
    let parts = |arm: &str| arm.split('+').map(unescaped).collect::<Vec<_>>();
    names.into_iter().find(|arm| parts(arm) == together.interventions)
}

/// Whether an arm is of this intervention alone, in this dose.
fn is_of(arm: &str, tried: &Tried) -> bool {
    // Where two findings ask the same intervention for different things, its later arms end in apostrophes.
    let name = unescaped(arm);
    let name = name.trim_end_matches('\'');
    if tried.dose.is_empty() {
        return name == tried.intervention;
    }
    let dose = name.strip_prefix(tried.intervention.as_str()).and_then(|rest| rest.strip_prefix('='));
    dose.is_some_and(|dose| dose == tried.dose || dose == tried.dose.replace(' ', ""))
}

/// A name of an arm has `%2B` where a plus sign belongs to the name itself.
fn unescaped(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        if let Some(escaped) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(escaped);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arms(names: &[&str]) -> Vec<ArmDots> {
        let arm = |name: &&str| ArmDots { arm: (*name).into(), metric: "wall_ns".into(), dots: Vec::new() };
        names.iter().map(arm).collect()
    }

    fn tried(intervention: &str, dose: &str) -> Tried {
        let mut tried = crate::examples::answer::not_applied(intervention, "");
        (tried.dose, tried.metric) = (dose.into(), "wall_ns".into());
        tried
    }

    #[test]
    fn an_intervention_is_compared_with_the_sham_and_a_step_with_what_it_stands_on() {
        let arms = arms(&["nothing", "cap=8ms", "bound", "bound+off=a%2Bb"]);
        assert_eq!(of_tried(&arms, &tried("cap", "8 ms")), Some(("cap=8ms", "nothing")));
        assert_eq!(of_tried(&arms, &tried("bound", "")), Some(("bound", "nothing")));
        assert_eq!(of_tried(&arms, &tried("off", "a+b")), Some(("bound+off=a%2Bb", "bound")));
        assert_eq!(of_tried(&arms, &tried("cap", "20 ms")), None);
    }
}
