//! From trials to verdicts: what became of each intervention, of each finding, and of the answer. Pure: the same trials
//! give the same verdict.

use crate::experiment::{Attempt, Experiment, Joint, PLAIN, SHAM};
use crate::interventions;
use crate::metric::Metric;
use crate::pairs::{WORTH, middle, pairs, ratio};
use case::tables::{Trial, output};
use case::{Answer, Effect, Finding, Measured, Proof, Purpose, Status, Together, Tried, Verdict, standing};
use stats::{Decision, Looks};

/// A gain below this is what attaching the machinery can differ by; it proves nothing, however certain it is.
const LEAST_GAIN: f64 = 1.02;
/// Fewer pairs give an interval that reaches from nothing to anything: no figure to show.
const LEAST_PAIRS: usize = 4;
/// A control that gains this share of the cause's own gain (in logarithms) was no control: the mechanism is another.
const CONTROL_SHARE: f64 = 0.5;
/// A gain of less than this share of the time suspected is not the gain that was suspected.
const REFUTED_SHARE: f64 = 0.1;
/// A sham this far from nothing attached is itself a change.
const SHAM_BOUND: f64 = 1.05;

/// Puts into an answer what the trials say of it.
pub fn judge(answer: &mut Answer, experiment: &Experiment, trials: &[Trial]) {
    let trials = &experiment.own(trials)[..];
    if trials.is_empty() {
        answer.proof = (!experiment.not_tried.is_empty()).then(|| proof(experiment, trials));
        return;
    }
    let judge = Judge { trials, looks: Looks::standard() };
    let before = answer.clone();
    for finding in &mut answer.findings {
        let attempts = experiment.attempts.iter().filter(|attempt| attempt.finding == finding.id);
        judge.finding(finding, &attempts.collect::<Vec<_>>(), &before);
    }
    answer.together = experiment.joints.iter().filter_map(|joint| judge.together(joint)).collect();
    let first = experiment.attempts.first().map(|attempt| &attempt.metric);
    answer.proof = Some(Proof { sham: first.and_then(|metric| judge.sham(metric)), ..proof(experiment, trials) });
    let has = |status: Status| answer.findings.iter().any(|finding| finding.status == status);
    if let Some(rest) = answer.summary.strip_prefix(&standing(&before.findings)) {
        answer.summary = standing(&answer.findings) + rest;
    }
    answer.verdict = match () {
        () if has(Status::Confirmed) => Verdict::Confirmed,
        () if has(Status::Suspected) || has(Status::Undecided) => Verdict::Suspected,
        () => Verdict::None,
    };
}

/// The arms that cured a finding each, best first and each once.
pub fn cures(answer: &Answer) -> Vec<String> {
    let mut cures: Vec<(f64, String)> = Vec::new();
    for finding in answer.findings.iter().filter(|finding| finding.status == Status::Confirmed) {
        let causes =
            finding.tried.iter().filter(|one| one.purpose == Purpose::Cause && one.status == Status::Confirmed);
        if let Some(best) = causes.max_by(|one, other| one.low.total_cmp(&other.low))
            && cures.iter().all(|(_, name)| *name != best.intervention)
        {
            cures.push((best.ratio, best.intervention.clone()));
        }
    }
    cures.sort_by(|one, other| other.0.total_cmp(&one.0));
    cures.into_iter().map(|(_, name)| name).collect()
}

fn proof(experiment: &Experiment, trials: &[Trial]) -> Proof {
    Proof {
        trials: trials.len() as u32,
        rounds: trials.iter().map(|trial| trial.round + 1).max().unwrap_or(0),
        spent_ns: experiment.spent_ns,
        budget_ns: experiment.budget_ns,
        sham: None,
        output: experiment.output.clone(),
        stopped: experiment.stopped,
        not_tried: experiment.not_tried.iter().map(|one| one.sentence.clone()).collect(),
        untried: experiment.not_tried.clone(),
    }
}

struct Judge<'a> {
    trials: &'a [Trial],
    looks: Looks,
}

impl Judge<'_> {
    fn finding(&self, finding: &mut Finding, attempts: &[&Attempt], answer: &Answer) {
        finding.tried = attempts.iter().filter_map(|attempt| self.tried(finding, attempt)).collect();
        // Where a cause can only be told on top of another that was switched off, the step is what proves it.
        let has_cause = attempts.iter().any(|attempt| attempt.purpose == Purpose::Cause);
        let is_decisive = |one: &&Tried| match one.purpose {
            Purpose::Cause => true,
            Purpose::Ladder => !has_cause && is_usual_cause(&one.intervention, &finding.id),
            Purpose::Control | Purpose::Dose | Purpose::Asked => false,
        };
        let causes = finding.tried.iter().filter(is_decisive);
        let best = |status: Status| {
            let of_status = causes.clone().filter(|one| one.status == status && one.applied);
            of_status.max_by(|one, other| one.low.total_cmp(&other.low)).cloned()
        };
        let (confirmed, refuted, open) =
            (best(Status::Confirmed), best(Status::Refuted), best(Status::Undecided).filter(|one| one.ratio > 0.0));
        let misled = confirmed.as_ref().and_then(|cause| self.doubt(finding, cause, attempts));
        (finding.status, finding.effect) = match (confirmed, open, refuted) {
            (Some(cause), _, _) if misled.is_some() => (Status::Undecided, self.effect(&cause, attempts, answer)),
            (Some(cause), _, _) => (Status::Confirmed, self.effect(&cause, attempts, answer)),
            (None, Some(open), _) => (Status::Undecided, self.effect(&open, attempts, answer)),
            (None, None, Some(refuted)) => (Status::Refuted, self.effect(&refuted, attempts, answer)),
            (None, None, None) => (Status::Suspected, None),
        };
        finding.caveats.extend(misled);
        let metric = attempts.first().map(|attempt| &attempt.metric).filter(|_| finding.effect.is_some());
        if metric.and_then(|metric| self.sham(metric)).is_some_and(|sham| is_a_change(&sham)) {
            finding.caveats.push("Attaching the machinery alone changes the program noticeably.".to_string());
        }
    }

    /// Why a gain that is certain proves nothing all the same.
    fn doubt(&self, finding: &Finding, cause: &Tried, attempts: &[&Attempt]) -> Option<String> {
        if let Some(control) = control_that_gains(&finding.tried, cause) {
            return Some(format!("{control}, which should do nothing, gains as well: the mechanism is another."));
        }
        let metric = &attempts.iter().find(|attempt| attempt.intervention == cause.intervention)?.metric;
        // The sham carries what all arms carry; an arm that carries less would gain by that alone.
        if let Some(sham) = self.sham(metric).filter(|sham| sham.high < 1.0 && cause.low * sham.ratio <= 1.0) {
            let cost = (sham.ratio.recip() - 1.0) * 100.0;
            return Some(format!("The gain is no more than what attaching the machinery costs ({cost:.0} %)."));
        }
        let is_own_figure = matches!(metric, Metric::Output { .. });
        let is_step = cause.purpose == Purpose::Ladder;
        (!is_own_figure && !is_step && cause.high < a_part_of(finding)).then(|| {
            "The gain is less than a tenth of the time suspected: what holds most of it is something else.".to_string()
        })
    }

    /// What became of one attempt; none where it had no trial.
    fn tried(&self, finding: &Finding, attempt: &Attempt) -> Option<Tried> {
        let own = self.trials.iter().filter(|trial| trial.arm == attempt.arm);
        let problem = own.clone().rfind(|trial| !trial.problem.is_empty()).map(|trial| trial.problem.clone());
        let applied = own.clone().any(|trial| trial.applied);
        own.clone().next()?;
        let pairs = pairs(self.trials, &attempt.metric, &attempt.reference, &attempt.arm);
        let ratio = ratio(&self.looks, &pairs).filter(|_| pairs.len() >= LEAST_PAIRS);
        let is_sound = |trial: &&Trial| trial.applied && trial.problem.is_empty();
        let is_harmless = |trial: &Trial| trial.exit >= 0 && trial.output == output::SAME;
        let is_proof = !attempt.needs_same_output() || own.clone().filter(is_sound).all(is_harmless);
        let status = match &ratio {
            Some(_) if !is_proof => Status::Undecided,
            Some(ratio) if applied => match status(ratio) {
                Status::Undecided if is_far_below(ratio, finding) => Status::Refuted,
                status => status,
            },
            _ => Status::Undecided,
        };
        let sound = own.filter(is_sound).count();
        // An occasional trial that failed is left out of the pairs; it is a problem where it leaves none.
        let problem = match (ratio.is_none() || !applied, is_proof) {
            (true, _) => problem.unwrap_or_default(),
            (false, false) => "the program's output was not compared, or not the same".to_string(),
            (false, true) => String::new(),
        };
        let prefix = format!("{}: ", attempt.intervention);
        let problem = problem.strip_prefix(&prefix).map(str::to_string).unwrap_or(problem);
        Some(Tried {
            intervention: attempt.intervention.clone(),
            ratio: ratio.as_ref().map_or(0.0, |ratio| ratio.ratio),
            low: ratio.as_ref().map_or(0.0, |ratio| ratio.low),
            high: ratio.as_ref().map_or(0.0, |ratio| ratio.high),
            applied,
            status,
            metric: attempt.metric.to_string(),
            purpose: attempt.purpose,
            dose: attempt.dose.clone(),
            before: attempt.metric.shown(middle(pairs.iter().map(|pair| pair.0))),
            after: attempt.metric.shown(middle(pairs.iter().map(|pair| pair.1))),
            trials: if sound == 0 { 0 } else { (sound + pairs.len()) as u32 },
            problem,
        })
    }

    fn effect(&self, tried: &Tried, attempts: &[&Attempt], answer: &Answer) -> Option<Effect> {
        let attempt = attempts.iter().find(|one| one.intervention == tried.intervention && one.dose == tried.dose)?;
        let others = attempt.metric.others(answer.exchanges);
        let measured = |metric: &Metric| self.measured(metric, &attempt.reference, &attempt.arm);
        Some(Effect {
            intervention: tried.intervention.clone(),
            metric: tried.metric.clone(),
            before: tried.before,
            after: tried.after,
            ratio: tried.ratio,
            low: tried.low,
            high: tried.high,
            trials: tried.trials,
            sham_ratio: self.sham(&attempt.metric).map_or(0.0, |sham| sham.ratio),
            also: others.iter().filter_map(measured).collect(),
        })
    }

    /// Nothing attached against the sham.
    fn sham(&self, metric: &Metric) -> Option<Measured> {
        self.measured(metric, PLAIN, SHAM)
    }

    fn measured(&self, metric: &Metric, before: &str, after: &str) -> Option<Measured> {
        let pairs = pairs(self.trials, metric, before, after);
        let ratio = ratio(&self.looks, &pairs).filter(|_| pairs.len() >= LEAST_PAIRS)?;
        Some(Measured { metric: metric.to_string(), ratio: ratio.ratio, low: ratio.low, high: ratio.high })
    }

    fn together(&self, joint: &Joint) -> Option<Together> {
        let pairs = pairs(self.trials, &joint.metric, SHAM, &joint.arm);
        let own = self.trials.iter().filter(|trial| trial.arm == joint.arm);
        let ratio = ratio(&self.looks, &pairs).filter(|_| pairs.len() >= LEAST_PAIRS)?;
        Some(Together {
            interventions: joint.interventions.clone(),
            metric: joint.metric.to_string(),
            before: joint.metric.shown(middle(pairs.iter().map(|pair| pair.0))),
            after: joint.metric.shown(middle(pairs.iter().map(|pair| pair.1))),
            ratio: ratio.ratio,
            low: ratio.low,
            high: ratio.high,
            step: self.measured(&joint.metric, &joint.before, &joint.arm),
            trials: (own.clone().count() + pairs.len()) as u32,
            applied: own.clone().any(|trial| trial.applied),
        })
    }
}

/// What a ratio says of an intervention that took hold, whatever was suspected of its cause.
pub fn status(ratio: &stats::Ratio) -> Status {
    match stats::decision(ratio, WORTH) {
        _ if ratio.high < WORTH => Status::Refuted,
        Decision::Differs if ratio.low > 1.0 && ratio.ratio >= LEAST_GAIN => Status::Confirmed,
        _ => Status::Undecided,
    }
}

/// Whether an interval that is too wide to exclude every gain excludes at least the one that was suspected.
pub fn is_far_below(ratio: &stats::Ratio, finding: &Finding) -> bool {
    ratio.low <= 1.0 && ratio.high < a_part_of(finding)
}

/// The gain, as a ratio, if a tenth of the time suspected were saved: the whole over what would be left of it. The tenth is
/// of time: of a ratio of 20 it would still be 2.
pub fn a_part_of(finding: &Finding) -> f64 {
    let share = finding.cost.share_of_wall.max(finding.cost.share_of_cpu).clamp(0.0, 1.0);
    1.0 / (1.0 - share * REFUTED_SHARE)
}

/// Whether an intervention would be tried as the cause, did it not stand on another here. Steps above it only show what
/// more can be had.
fn is_usual_cause(intervention: &str, finding: &str) -> bool {
    let known = interventions::find(intervention);
    known.is_some_and(|one| one.tried_for.contains(&(finding, Purpose::Cause)))
}

/// Whether the sham is certain to differ from nothing attached by more than noise is forgiven.
fn is_a_change(sham: &Measured) -> bool {
    sham.low > SHAM_BOUND || sham.high < SHAM_BOUND.recip()
}

/// A control that gains too much to be one.
fn control_that_gains(tried: &[Tried], cause: &Tried) -> Option<String> {
    let controls = tried.iter().filter(|one| one.purpose == Purpose::Control && one.applied && one.ratio > 0.0);
    let gains = |one: &&Tried| one.low > 1.0 && one.ratio.ln() >= CONTROL_SHARE * cause.ratio.ln();
    controls.into_iter().find(gains).map(|one| one.intervention.clone())
}
