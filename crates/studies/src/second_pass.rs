//! What is left once a cause is switched off: the program is recorded again so, what shows then is tried upon the first
//! cure, and what that proves is added to the answer. Where nothing was confirmed, the function that holds most of the program's
//! time is tried by itself.

mod candidate;
mod worth;

use crate::experiment::{self, Ground, Tried};
use crate::recording::{Quiet, record_quietly};
use crate::{Console, StudyError};
use case::tables::Trial;
use case::{Answer, Case, Finding, Recording, Share, Status};
use lab::{Arm, Arms, Candidate, Metric, SecondPass, Setting, Upon};
use std::time::Duration;
use worth::Worth;

/// Each pass is another run and another round of trials; a third culprit under a second is rare.
const MOST: usize = 2;

/// A program is given so many times the length of its trials, and at least this, before its recording is ended.
const PATIENCE: u32 = 5;
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

/// The experiments upon a cure, and the trials of all experiments.
pub struct SecondPasses {
    /// One for each time that something was left to look for.
    pub all: Vec<SecondPass>,
    /// All trials, those of the first experiment at the beginning.
    pub trials: Vec<Trial>,
}

/// A program that is over sooner is tried for no function: nobody waits for it, and starting it is a good part of it.
const LEAST_ALONE_NS: u64 = 100_000_000;

/// What everything here happens to.
struct Context<'a> {
    ground: &'a Ground<'a>,
    case: &'a Case,
    console: &'a dyn Console,
    /// The length of the recorded run, and its CPU time.
    first: (u64, u64),
}

/// Goes on from a first experiment upon a recording for as long as a cure is found and enough is left.
pub fn second_pass(
    answer: &Answer,
    first: Tried,
    (ground, case, recording): (&Ground, &Case, &Recording),
    console: &dyn Console,
) -> Result<SecondPasses, StudyError> {
    let context = Context { ground, case, console, first: (answer.wall_ns, processor_ns(recording)) };
    let mut passes = SecondPasses { all: Vec::new(), trials: first.trials };
    let mut known = answer.findings.clone();
    let (mut answer, mut experiment, mut arms) = (answer.clone(), first.experiment, first.arms);
    for _ in 0..MOST {
        let Some(cure) = cure(&answer, &experiment, &arms) else { break };
        let rows = experiment.own(&passes.trials);
        let worth = Worth::of(&rows, &cure.arm.name, cure.ratio, context.first.0, ground.subject.server.is_some());
        if !worth.is_some_and(|worth| worth.is_enough()) || console.has_come() {
            break;
        }
        let whole = worth.map_or(Duration::ZERO, |worth| worth.whole());
        console.note(&format!("recording again with {} in place, to see what is left", cure.arm.name));
        let quiet = context.record(&cure.arm, whole)?;
        // What a run shows in which the cure did not take effect is not what is left.
        if cure.arm.parts.iter().any(|part| (part.applied)(&quiet.counters).is_err()) {
            break;
        }
        let Some((pass, tried)) = context.try_what_is_left(&known, &cure.arm, &quiet)? else { break };
        arms.clone_from(&tried.arms);
        passes.extend(Some((pass, tried)));
        let Some(pass) = passes.all.last() else { break };
        let judged = pass.judged(&answer, &passes.trials);
        experiment = pass.experiment.clone();
        answer.findings = judged.findings;
        known.extend(answer.findings.iter().cloned());
    }
    let nothing_is_confirmed = answer.findings.iter().all(|finding| finding.status != Status::Confirmed);
    if passes.all.is_empty() && nothing_is_confirmed && !console.has_come() {
        passes.extend(context.try_hottest(&answer, recording)?);
    }
    Ok(passes)
}

impl SecondPasses {
    fn extend(&mut self, found: Option<(SecondPass, Tried)>) {
        let Some((mut pass, tried)) = found else { return };
        let mut own = tried.trials;
        pass.experiment = tried.experiment;
        pass.experiment.follow(&self.trials, &mut own);
        self.trials.append(&mut own);
        self.all.push(pass);
    }
}

/// What cured most, and by how much.
struct Cure {
    arm: Arm,
    ratio: f64,
}

fn cure(answer: &Answer, experiment: &lab::Experiment, arms: &[Arm]) -> Option<Cure> {
    let confirmed = answer.findings.iter().filter(|finding| finding.status == Status::Confirmed);
    let cures = confirmed.filter_map(|finding| {
        let effect = finding.effect.as_ref()?;
        let is_it =
            |attempt: &&lab::Attempt| attempt.finding == finding.id && attempt.intervention == effect.intervention;
        let attempt = experiment.attempts.iter().find(is_it)?;
        let arm = arms.iter().find(|arm| arm.name == attempt.arm)?.clone();
        Some(Cure { arm, ratio: effect.ratio })
    });
    cures.max_by(|one, other| one.ratio.total_cmp(&other.ratio))
}

impl Context<'_> {
    fn record(&self, arm: &Arm, whole: Duration) -> Result<Quiet, StudyError> {
        let folder = self.case.folder().join(experiment::file_name(&format!("after-{}", arm.name)));
        let longest = (whole * PATIENCE).max(LEAST_PATIENCE);
        record_quietly(
            "recording what is left",
            self.ground.subject,
            self.ground.world,
            &arm.treatment,
            &folder,
            longest,
            self.console,
        )
    }

    /// Tries what a run with a cure shows, upon that cure; none where it shows nothing that could be tried.
    fn try_what_is_left(
        &self,
        known: &[Finding],
        upon: &Arm,
        quiet: &Quiet,
    ) -> Result<Option<(SecondPass, Tried)>, StudyError> {
        let mut left = quiet.answer.clone();
        left.findings.retain(|finding| is_new(finding, known));
        let (arms, candidate) = match (left.findings.is_empty(), quiet.answer.findings.is_empty()) {
            (false, _) => (self.arms_of_findings(&mut left, upon, quiet), None),
            // What was known already and is still there is no reason to accuse a function.
            (true, false) => return Ok(None),
            (true, true) => match self.arms_of_function(&mut left, Some(upon), &quiet.recording) {
                Some((arms, candidate)) => (arms, Some(candidate)),
                None => return Ok(None),
            },
        };
        let tried = experiment::experiment(&left, arms, self.ground, &quiet.recording.manifest, self.console)?;
        let (wall, cpu) = (self.first.0.max(1) as f64, self.first.1.max(1) as f64);
        let second_pass = SecondPass {
            upon: upon.name.clone(),
            case: quiet.folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            findings: left.findings,
            candidate,
            exchanges: left.exchanges,
            share_of_wall: left.wall_ns as f64 / wall,
            share_of_cpu: processor_ns(&quiet.recording) as f64 / cpu,
            ..SecondPass::default()
        };
        Ok(Some((second_pass, tried)))
    }

    fn arms_of_findings(&self, left: &mut Answer, upon: &Arm, quiet: &Quiet) -> Arms {
        for finding in &mut left.findings {
            finding.caveats.push(format!("Seen only once {} is in place.", upon.name));
        }
        Arms::of(&self.setting(left, &quiet.recording, Some(upon), self.ground.wish.metric.as_ref()))
    }

    /// Tries the function that holds most of the program as it is, if the program may do without.
    fn try_hottest(&self, answer: &Answer, recording: &Recording) -> Result<Option<(SecondPass, Tried)>, StudyError> {
        let is_short = answer.wall_ns < LEAST_ALONE_NS;
        // Of a program with a server of ours, or that waits for others', the recording has shown where its time goes.
        if is_short || self.ground.subject.server.is_some() || !candidate::has_output(recording) {
            return Ok(None);
        }
        let mut alone = answer.clone();
        let Some((arms, candidate)) = self.arms_of_function(&mut alone, None, recording) else { return Ok(None) };
        let Candidate { function, share } = &candidate;
        let share = Share(*share);
        self.console.note(&format!("nothing is confirmed; {function} takes {share} of the CPU time: is it needed?"));
        let tried = experiment::experiment(&alone, arms, self.ground, &recording.manifest, self.console)?;
        let second_pass = SecondPass {
            findings: alone.findings,
            candidate: Some(candidate),
            exchanges: answer.exchanges,
            share_of_wall: 1.0,
            share_of_cpu: 1.0,
            ..SecondPass::default()
        };
        Ok(Some((second_pass, tried)))
    }

    /// Nothing known is left: the function that holds most of the rest, if the program may do without.
    fn arms_of_function(
        &self,
        left: &mut Answer,
        upon: Option<&Arm>,
        recording: &Recording,
    ) -> Option<(Arms, Candidate)> {
        if !self.ground.wish.compares_output || candidate::could_go_unseen(recording) {
            return None;
        }
        let hottest = diagnose::hottest(recording)?;
        let asked = format!("switch-off={}", hottest.function);
        let asked = asked.parse::<lab::Asked>().ok()?;
        left.findings = vec![candidate::finding(&hottest, recording, left, upon.map(|upon| upon.name.as_str()))];
        let metric = self.ground.wish.metric.clone().unwrap_or(Metric::Wall);
        let setting = self.setting(left, recording, upon, Some(&metric));
        let arms = match Arms::of_one(&setting, &asked) {
            Ok(arms) => arms,
            Err(why) => {
                Arms::not_to_be_had(format!("switch-off for {}: {}", candidate::brief(&hottest.function), why.0))
            }
        };
        let function = candidate::brief(&hottest.function).to_string();
        Some((arms, Candidate { function, share: hottest.share }))
    }

    fn setting<'s>(
        &'s self,
        left: &'s Answer,
        recording: &'s Recording,
        upon: Option<&'s Arm>,
        metric: Option<&'s Metric>,
    ) -> Setting<'s> {
        Setting {
            answer: left,
            recording,
            world: self.ground.world,
            has_server: self.ground.subject.server.is_some(),
            metric,
            asked: &[],
            compares_output: self.ground.wish.compares_output,
            upon: upon.map(|arm| Upon { arm, without: Duration::from_nanos(self.first.0) }),
        }
    }
}

/// Whether a finding is not among those that are known: another pathology, or the same in another place.
fn is_new(finding: &Finding, known: &[Finding]) -> bool {
    known.iter().all(|one| one.id != finding.id || one.place.first() != finding.place.first())
}

/// CPU time of all threads.
pub fn processor_ns(recording: &Recording) -> u64 {
    recording.threads.iter().map(|thread| thread.on_cpu.0).sum()
}
