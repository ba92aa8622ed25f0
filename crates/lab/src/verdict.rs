//! From trials to verdicts: what became of each intervention, of each finding, and of the answer. Pure: the same trials
//! give the same verdict.

mod doubts;

pub use doubts::is_told_apart;

use crate::experiment::{Attempt, Experiment, Joint, PLAIN, SHAM};
use crate::interventions;
use crate::metric::Metric;
use crate::pairs::{WORTH, middle, pairs, ratio};
use crate::work;
use case::facts::Work;
use case::tables::{Trial, output};
use case::{
    Answer, Effect, Finding, Measured, Proof, Purpose, Status, Together, Trend, Tried, Verdict, put_proved_first,
    standing,
};
use doubts::{explains_little, gains_by, is_a_change, may_gain_by};
use stats::{Decision, Looks, Ratio};
use std::time::Duration;

/// A gain below this is what attaching the machinery can differ by; it proves nothing, however certain it is.
const LEAST_GAIN: f64 = 1.02;
/// Fewer pairs give an interval that reaches from nothing to anything: no figure to show.
const LEAST_PAIRS: usize = 4;
/// Of the interval of a trend.
const CONFIDENCE: f64 = 0.95;
/// A gain of less than this share of the time suspected is not the gain that was suspected.
const REFUTED_SHARE: f64 = 0.1;
/// So many runs to the program's end tell whether it still does its work: one with the cure, and those that it is compared with.
const WHOLE_RUNS: u64 = 4;
/// Puts into an answer what the trials say of it.
pub fn judge(answer: &mut Answer, experiment: &Experiment, trials: &[Trial]) {
    let trials = &experiment.own(trials)[..];
    if trials.is_empty() {
        answer.proof = (!experiment.not_tried.is_empty()).then(|| proof(experiment, trials));
        return;
    }
    let enough = Duration::from_nanos(experiment.budget_ns + WHOLE_RUNS * answer.wall_ns).as_secs();
    let judge = Judge {
        trials,
        looks: experiment.looks(),
        compares_work: experiment.compares_work,
        ends: answer.subject_exit.is_some(),
        enough: enough.next_multiple_of(10),
        budget: Duration::from_nanos(experiment.budget_ns),
    };
    let before = answer.clone();
    for finding in &mut answer.findings {
        let attempts = experiment.attempts.iter().filter(|attempt| attempt.finding == finding.id);
        judge.finding(finding, &attempts.collect::<Vec<_>>(), &before);
    }
    put_proved_first(&mut answer.findings);
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

/// The arms that cured a finding each, those with the most gain first and each once: of each finding the one whose effect is shown.
pub fn cures(answer: &Answer) -> Vec<String> {
    let mut cures: Vec<(f64, String)> = Vec::new();
    for finding in answer.findings.iter().filter(|finding| finding.status == Status::Confirmed) {
        let shown = finding.effect.as_ref().map(|effect| effect.intervention.as_str());
        let mut causes =
            finding.tried.iter().filter(|one| one.purpose == Purpose::Cause && one.status == Status::Confirmed);
        if let Some(best) = causes.find(|one| Some(one.intervention.as_str()) == shown)
            && cures.iter().all(|(_, name)| *name != best.intervention)
        {
            cures.push((best.ratio, best.intervention.clone()));
        }
    }
    cures.sort_by(|one, other| other.0.total_cmp(&one.0));
    cures.into_iter().map(|(_, name)| name).collect()
}

/// The arms that gain what their finding suspects, each with its ratio: those whose work has to be looked at.
pub fn gains(answer: &Answer, experiment: &Experiment, trials: &[Trial]) -> Vec<(String, f64)> {
    // Whether the work is the same is asked next.
    let experiment = Experiment { compares_work: false, ..experiment.clone() };
    let mut judged = answer.clone();
    judge(&mut judged, &experiment, trials);
    let gains = |attempt: &&Attempt| {
        let finding = judged.findings.iter().find(|finding| finding.id == attempt.finding)?;
        let is_it = |one: &&Tried| one.intervention == attempt.intervention && one.dose == attempt.dose;
        let tried = finding.tried.iter().find(is_it)?;
        let may_cure = matches!(attempt.purpose, Purpose::Cause | Purpose::Incremental);
        (may_cure && tried.status == Status::Confirmed).then(|| (attempt.arm.clone(), tried.ratio))
    };
    let mut all: Vec<(String, f64)> = Vec::new();
    for (arm, ratio) in experiment.attempts.iter().filter_map(|attempt| gains(&attempt)) {
        if all.iter().all(|(known, _)| *known != arm) {
            all.push((arm, ratio));
        }
    }
    all
}

fn proof(experiment: &Experiment, trials: &[Trial]) -> Proof {
    Proof {
        trials: trials.len() as u32,
        rounds: trials.iter().map(|trial| trial.round + 1).max().unwrap_or(0),
        spent_ns: experiment.spent_ns,
        to_verdict_ns: experiment.spent_ns,
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
    compares_work: bool,
    /// Whether the program comes to its end by itself.
    ends: bool,
    /// A budget into which whole runs would fit, in seconds.
    enough: u64,
    /// Time for all trials.
    budget: Duration,
}

impl Judge<'_> {
    fn finding(&self, finding: &mut Finding, attempts: &[&Attempt], answer: &Answer) {
        finding.tried = attempts.iter().filter_map(|attempt| self.tried(finding, attempt)).collect();
        // Where a cause shows only after another is switched off, the step is what proves it.
        let has_cause = attempts.iter().any(|attempt| attempt.purpose == Purpose::Cause);
        let is_decisive = |one: &&Tried| match one.purpose {
            Purpose::Cause => true,
            Purpose::Incremental => !has_cause && is_usual_cause(&one.intervention, &finding.id),
            Purpose::Control | Purpose::Dose | Purpose::Asked => false,
        };
        let beside =
            |one: &Tried| interventions::find(&one.intervention)?.prediction(&finding.id).map(|known| known.beside);
        let is_specific = |one: &&Tried| beside(one).unwrap_or("").is_empty();
        let causes = finding.tried.iter().filter(is_decisive);
        // The first that is declared, and not the luckiest: then the effect that is shown is no better than chance made it.
        let (specific, unspecific): (Vec<&Tried>, Vec<&Tried>) = causes.partition(is_specific);
        let first = |status: Status| {
            let mut of_status = specific.iter().chain(&unspecific).filter(|one| one.status == status && one.applied);
            of_status.find(|one| status != Status::Undecided || one.ratio > 0.0).map(|one| (*one).clone())
        };
        let (confirmed, refuted, open) = (first(Status::Confirmed), first(Status::Refuted), first(Status::Undecided));
        let explained = confirmed.as_ref().filter(|one| !is_specific(one)).and_then(|gain| {
            let mut removed = specific.iter().filter(|one| one.applied && one.work != Work::Other && one.ratio > 0.0);
            let removed = removed.find(|one| one.low <= 1.0)?;
            let both = (gain.intervention.as_str(), removed.intervention.as_str());
            let besides = beside(gain)?;
            // Refuted, or as good as that: no gain shows, and none as large as the other's can be there.
            Some(if removed.high < gain.low { gains_by(both, besides) } else { may_gain_by(both, besides) })
        });
        finding.trend = self.trend(attempts);
        let controlled = confirmed.as_ref().map(|cause| cause.ratio);
        let misled =
            explained.or_else(|| confirmed.as_ref().and_then(|cause| self.doubt(finding, cause, attempts, answer)));
        (finding.status, finding.effect) = match (confirmed, open, refuted) {
            (Some(cause), _, _) if misled.is_some() => (Status::Undecided, self.effect(&cause, attempts, answer)),
            (Some(cause), _, _) => (Status::Confirmed, self.effect(&cause, attempts, answer)),
            (None, Some(open), _) => (Status::Undecided, self.effect(&open, attempts, answer)),
            (None, None, Some(refuted)) => (Status::Refuted, self.effect(&refuted, attempts, answer)),
            (None, None, None) => (Status::Suspected, None),
        };
        finding.caveats.extend(misled);
        // What is certain to gain too little to put the cause in doubt did what it must, however wide its interval is.
        let controls = finding.tried.iter_mut().filter(|one| one.purpose == Purpose::Control && one.applied);
        let did_little = |one: &&mut Tried| {
            one.ratio > 0.0 && controlled.is_some_and(|gain| explains_little(one.ratio, one.high, gain))
        };
        for control in controls.filter(did_little) {
            control.status = Status::Refuted;
        }
        let metric = attempts.first().map(|attempt| &attempt.metric).filter(|_| finding.effect.is_some());
        if metric.and_then(|metric| self.sham(metric)).is_some_and(|sham| is_a_change(&sham)) {
            finding.caveats.push("Attaching the machinery alone changes the program noticeably.".to_string());
        }
    }

    /// How the cost follows the doses of what scales the cause; none where fewer than two doses were tried.
    fn trend(&self, attempts: &[&Attempt]) -> Option<Trend> {
        let first = attempts.iter().find(|attempt| attempt.purpose == Purpose::Dose && attempt.metric.is_time())?;
        let same = |attempt: &&&Attempt| attempt.intervention == first.intervention && attempt.purpose == Purpose::Dose;
        let points = attempts.iter().filter(same).flat_map(|attempt| {
            let dose = attempt.dose.split(' ').next().and_then(|number| number.parse::<f64>().ok());
            let own = self
                .trials
                .iter()
                .filter(|trial| trial.arm == attempt.arm && trial.applied && trial.problem.is_empty());
            own.filter_map(move |trial| Some((dose?, attempt.metric.of(trial)?)))
        });
        let points = points.collect::<Vec<_>>();
        let line = stats::theil_sen(&points, CONFIDENCE)?;
        Some(Trend {
            intervention: first.intervention.clone(),
            metric: first.metric.clone(),
            slope: line.slope,
            low: line.slope_interval.low,
            high: line.slope_interval.high,
            points: points.len() as u32,
        })
    }

    /// What became of one attempt; none where it had no trial.
    fn tried(&self, finding: &Finding, attempt: &Attempt) -> Option<Tried> {
        let own = self.trials.iter().filter(|trial| trial.arm == attempt.arm);
        let problem = own.clone().rfind(|trial| !trial.problem.is_empty()).map(|trial| trial.problem.clone());
        let applied = own.clone().any(|trial| trial.applied);
        own.clone().next()?;
        let pairs = pairs(self.trials, &attempt.metric, &attempt.reference, &attempt.arm);
        let looks = if attempt.claims() { &self.looks } else { &Looks::standard() };
        let ratio = ratio(looks, &pairs).filter(|_| pairs.len() >= LEAST_PAIRS);
        let is_sound = |trial: &&Trial| trial.applied && trial.problem.is_empty();
        let is_harmless = |trial: &Trial| trial.exit >= 0 && trial.output == output::SAME;
        let has_same_output = !attempt.needs_same_output() || own.clone().filter(is_sound).all(is_harmless);
        let did = work::of_arm(&own, self.ends);
        let was_cut = self.ends && own.clone().all(|trial| trial.exit < 0);
        // What only scales the cause, or must do nothing, cures nothing.
        let is_cure = !matches!(attempt.purpose, Purpose::Dose | Purpose::Control);
        let is_same_work = !self.compares_work || did == Work::Same || (!is_cure && did == Work::NotCompared);
        let is_unsettled = own.clone().any(work::is_unsettled);
        let status = match &ratio {
            Some(_) if !has_same_output => Status::Undecided,
            Some(ratio) if applied => match status(ratio) {
                // What gains by doing something else, or nobody knows what, proves nothing.
                Status::Confirmed if !is_same_work => Status::Undecided,
                Status::Undecided if is_far_below(ratio, finding) => Status::Refuted,
                status => status,
            },
            _ => Status::Undecided,
        };
        let predictions = interventions::find(&attempt.intervention).map_or(&[][..], |one| one.predictions);
        // Tried by hand on something else, it has the limits that it has where it is meant to be tried.
        let prediction = predictions.iter().find(|one| one.pathology == finding.id).or(predictions.first());
        let in_spite_of = prediction.map_or("", |one| one.refutes_nothing);
        let is_spared = status == Status::Refuted && !in_spite_of.is_empty();
        let has_side_effect = is_cure && status == Status::Refuted && ratio.as_ref().is_some_and(is_slower);
        let status = if is_spared || has_side_effect { Status::Undecided } else { status };
        let sound = own.filter(is_sound).count();
        let has_gained = ratio.as_ref().is_some_and(|ratio| ratio.low > 1.0);
        // An occasional trial that failed is left out of the pairs; it is a problem where it leaves none.
        let problem = match did {
            _ if ratio.is_none() && applied && problem.is_none() => self.too_few(pairs.len()),
            _ if ratio.is_none() || !applied => problem.unwrap_or_default(),
            _ if !has_same_output => "the program's output was not compared or not the same".to_string(),
            _ if has_side_effect => SIDE_EFFECT.to_string(),
            _ if is_spared => format!("it gained nothing, but that does not rule the cause out: {in_spite_of}"),
            Work::Other if !is_same_work => problem.unwrap_or_default(),
            Work::NotCompared if !is_same_work && has_gained => self.not_compared(is_unsettled, was_cut),
            _ => String::new(),
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
            metric: attempt.metric.clone(),
            purpose: attempt.purpose,
            dose: attempt.dose.clone(),
            before: attempt.metric.shown(middle(pairs.iter().map(|pair| pair.0))),
            after: attempt.metric.shown(middle(pairs.iter().map(|pair| pair.1))),
            trials: if sound == 0 { 0 } else { (sound + pairs.len()) as u32 },
            problem,
            work: did,
            reference: attempt.reference.clone(),
        })
    }

    /// Why it is not known whether trials that gain did the same work.
    fn not_compared(&self, is_unsettled: bool, was_cut: bool) -> String {
        match (is_unsettled, was_cut) {
            (true, _) => format!(
                "the program did something else than without it, and too few runs without it fit into the budget to tell \
                 whether that is usual; --budget {} would",
                self.enough
            ),
            (false, true) => format!(
                "its trials were cut before the program's end, and work that is not done can show late; whole runs would \
                 fit into --budget {}",
                self.enough
            ),
            (false, false) => work::NOT_COMPARED.to_string(),
        }
    }

    /// Why there is no figure though every trial ended well.
    fn too_few(&self, pairs: usize) -> String {
        let enough = self.budget.as_secs() * LEAST_PAIRS as u64 / pairs.max(1) as u64;
        format!(
            "only {pairs} of the {LEAST_PAIRS} pairs of runs that a figure takes fit into the budget; --budget {} would do",
            enough.next_multiple_of(10)
        )
    }

    fn effect(&self, tried: &Tried, attempts: &[&Attempt], answer: &Answer) -> Option<Effect> {
        let attempt = attempts.iter().find(|one| one.intervention == tried.intervention && one.dose == tried.dose)?;
        // Where some requests are taken out, all other figures are of another mix.
        let is_of_same_mix = interventions::find(&tried.intervention).is_none_or(|one| one.judged_by.is_none());
        let others = if is_of_same_mix { attempt.metric.others(answer.exchanges) } else { Vec::new() };
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
        Some(Measured { metric: metric.clone(), ratio: ratio.ratio, low: ratio.low, high: ratio.high })
    }

    fn together(&self, joint: &Joint) -> Option<Together> {
        let pairs = pairs(self.trials, &joint.metric, SHAM, &joint.arm);
        let own = self.trials.iter().filter(|trial| trial.arm == joint.arm);
        let ratio = ratio(&self.looks, &pairs).filter(|_| pairs.len() >= LEAST_PAIRS)?;
        Some(Together {
            interventions: joint.interventions.clone(),
            metric: joint.metric.clone(),
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

/// What a ratio says of an intervention that took effect, whatever was suspected of its cause.
pub fn status(ratio: &Ratio) -> Status {
    match stats::decision(ratio, WORTH) {
        _ if ratio.high < WORTH => Status::Refuted,
        Decision::Differs if ratio.low > 1.0 && ratio.ratio >= LEAST_GAIN => Status::Confirmed,
        _ => Status::Undecided,
    }
}

/// Why what makes a program slower refutes nothing: what takes a cause away and saves nothing leaves the time as it was.
pub const SIDE_EFFECT: &str = "it makes the program slower itself, which hides whatever it saves";

/// Whether a program was made slower, and not left as it was.
pub fn is_slower(ratio: &Ratio) -> bool {
    ratio.high < 1.0 / WORTH
}

/// Whether an interval that is too wide to exclude every gain excludes at least the one that was suspected.
pub fn is_far_below(ratio: &Ratio, finding: &Finding) -> bool {
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
    known.and_then(|one| one.prediction(finding)).is_some_and(|one| one.purpose == Purpose::Cause)
}
