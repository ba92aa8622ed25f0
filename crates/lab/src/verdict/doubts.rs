//! Why a gain that is certain proves nothing all the same: controls that gain as well, machinery that costs as much, gains that are
//! smaller or larger than what was suspected.

use super::{Judge, LEAST_GAIN, a_part_of};
use crate::experiment::{Attempt, PLAIN};
use crate::metric::Metric;
use case::{Answer, Finding, Measured, Purpose, Tried};
use stats::Ratio;

/// A control that gains this share of the cause's own gain (in logarithms) was no control: the mechanism is another.
const CONTROL_SHARE: f64 = 0.1;
/// One that is certain to gain less than this share explains too little of the cause's gain to be measured any longer.
const EXPLAINS_LITTLE: f64 = 0.5;
/// And this is the most that is little, beside a cause that gains however much.
const LITTLE: f64 = 1.25;
/// Sleeps take somewhat longer than they are asked to, and less so where nothing is recorded.
const MORE_THAN_ALL: f64 = 1.1;
/// A sham this far from nothing attached is itself a change.
const SHAM_BOUND: f64 = 1.05;

impl Judge<'_> {
    /// Why a gain that is certain proves nothing all the same.
    pub(super) fn doubt(
        &self,
        finding: &Finding,
        cause: &Tried,
        attempts: &[&Attempt],
        answer: &Answer,
    ) -> Option<String> {
        if saves_more_than_it_costs(finding, cause, answer.exchanges) {
            return Some(format!(
                "{} saves more than the sleeps of this finding can cost: the program sleeps elsewhere as well, or gave something up.",
                cause.intervention
            ));
        }
        if let Some(trend) = finding.trend.as_ref().filter(|trend| trend.high <= 0.0) {
            return Some(format!(
                "The cost does not rise with the dose of {}, which scales this cause: the mechanism must be a different one.",
                trend.intervention
            ));
        }
        let attempt = attempts.iter().find(|attempt| attempt.intervention == cause.intervention)?;
        let metric = &attempt.metric;
        let sham = self.measured(metric, PLAIN, &attempt.reference).filter(|_| attempt.reference != PLAIN);
        if let Some(control) = control_that_gains(&finding.tried, cause, sham.as_ref()) {
            return Some(format!(
                "{control}, which should have no effect, helps as well: the mechanism must be a different one."
            ));
        }
        // The sham carries what all arms carry; an arm that carries less would gain by that alone.
        if let Some(sham) = sham.filter(|sham| sham.high < 1.0 && cause.low * sham.ratio <= 1.0) {
            let cost = (sham.ratio.recip() - 1.0) * 100.0;
            return Some(format!("The gain is no larger than the overhead of attaching the machinery ({cost:.0} %)."));
        }
        let is_own_figure = metric.is_of_the_program();
        let is_step = cause.purpose == Purpose::Incremental;
        (!is_own_figure && !is_step && cause.high < a_part_of(finding)).then(|| {
            "The gain is less than a tenth of the suspected time: something else takes most of it.".to_string()
        })
    }
}

/// Whether a run became shorter by more than the sleeps between its requests that are suspected, which is certain. A client that looks
/// a certain number of times and then goes on without what it waited for is finished soon, and may write the same.
fn saves_more_than_it_costs(finding: &Finding, cause: &Tried, exchanges: u64) -> bool {
    let saved = cause.before * (1.0 - 1.0 / cause.low);
    let most = finding.cost.ns_per_exchange as f64 * exchanges as f64;
    finding.cost.is_between_requests() && cause.metric == Metric::Wall && saved > most * MORE_THAN_ALL
}

/// Why the gain of one intervention proves nothing where the other, the specific one, gains nothing.
pub(super) fn gains_by((gain, removed): (&str, &str), besides: &str) -> String {
    format!(
        "{gain} helps, but {removed}, which removes this cause and nothing else, does not: {besides}, and that explains the gain."
    )
}

/// Why it proves nothing where that is not certain of the other.
pub(super) fn may_gain_by((gain, removed): (&str, &str), besides: &str) -> String {
    format!(
        "{gain} helps, but whether {removed}, which removes this cause and nothing else, helps as well remains open: {besides}, \
         and that could explain the gain."
    )
}

/// The gain of a control that puts a cause's gain in doubt.
fn suspect_in_a_control(gain: f64) -> f64 {
    gain.max(1.0).powf(CONTROL_SHARE).max(LEAST_GAIN)
}

/// Whether a control is told apart from a cause with this gain: certain to put it in doubt, or to explain little of it.
pub fn is_told_apart(control: &Ratio, gain: f64) -> bool {
    control.low > suspect_in_a_control(gain) || explains_little(control.ratio, control.high, gain)
}

/// Whether a control that gains so much, and `most` at most, explains too little of a cause's gain to put it in doubt.
pub(super) fn explains_little(ratio: f64, most: f64, gain: f64) -> bool {
    let suspect = suspect_in_a_control(gain);
    most < suspect || (ratio < suspect && most < gain.powf(EXPLAINS_LITTLE).min(LITTLE))
}

/// Whether the sham is certain to differ from nothing attached by more than noise is forgiven.
pub(super) fn is_a_change(sham: &Measured) -> bool {
    sham.low > SHAM_BOUND || sham.high < SHAM_BOUND.recip()
}

/// A control that gains too much to be one.
fn control_that_gains(tried: &[Tried], cause: &Tried, sham: Option<&Measured>) -> Option<String> {
    let controls = tried.iter().filter(|one| one.purpose == Purpose::Control && one.applied && one.ratio > 0.0);
    // As much as the machinery itself may make out.
    let allowed = sham.map_or(1.0, |sham| sham.high).max(LEAST_GAIN);
    let gains = |one: &&Tried| one.low > allowed && one.ratio >= suspect_in_a_control(cause.ratio);
    controls.into_iter().find(gains).map(|one| one.intervention.clone())
}

#[cfg(test)]
mod tests {
    use super::explains_little;

    #[test]
    fn a_control_explains_little_only_where_it_gains_little_beside_the_cause() {
        assert!(explains_little(1.0, 1.24, 5.0));
        // It gains enough to put this cause in doubt, or may explain all of that one's gain.
        assert!(!explains_little(1.2, 1.24, 5.0) && !explains_little(1.0, 1.24, 1.1));
        assert!(!explains_little(1.0, 1.3, 5.0), "a quarter is no little");
        assert!(!explains_little(1.0, 2.0, 100.0));
    }
}
