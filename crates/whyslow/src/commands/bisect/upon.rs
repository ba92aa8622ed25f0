//! What stands upon a found culprit: the packages' own way back, what cures the bad world without one, and the control.

use super::baseline::{Baseline, contest};
use super::bench::Trials;
use super::question::Asked;
use crate::commands::answer;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::plan::{Limits, Plan};
use crate::proof::{self, Wish};
use crate::{output, page};
use case::{Bisection, Case, Culprit, FactorKind, Probe, ProbeKind, ProbeResult, Recording};
use lab::compare::{compared, metrics_of};
use lab::worlds::{self, Packages, WorldName};
use lab::{Journal, Laboratory};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// The part of the budget for trying what would cure the bad world.
const CURES_PART: u32 = 3;

/// Runs the control in both worlds.
pub fn control(
    asked: &Asked,
    baseline: &Baseline,
    laboratory: &mut Laboratory,
    told: &mut Bisection,
) -> Result<(), Failure> {
    let Some(subject) = &asked.terms.control else { return Ok(()) };
    let bad = &baseline.bad_run().answer;
    let metrics = metrics_of(&[bad], &baseline.extent, asked.terms.metric.as_ref());
    let contested = contest(asked, subject, &metrics, baseline.extent, baseline.seed, laboratory)?;
    if contested.unlike.is_some() {
        told.not_tried.push("The control was not compared: it does not end the same way in both worlds.".to_string());
        return Ok(());
    }
    told.runs += contested.trials.len() as u32;
    told.control = compared(&contested.trials, &metrics);
    told.control.sort_by_key(|one| one.metric != baseline.metric.to_string());
    Ok(())
}

/// Installs the culprit's packages of the good release over the bad world, and measures that.
pub fn way_back(
    asked: &Asked,
    baseline: &Baseline,
    trials: &mut Trials,
    journal: &Journal,
    interrupts: &Interrupts,
) -> Result<(), Failure> {
    if interrupts.has_come() {
        return Ok(());
    }
    let WorldName::Debian(suite) = &asked.good.name else { return Ok(()) };
    let Some(culprit) = trials.told().culprit.clone() else { return Ok(()) };
    let packages = packages_of(asked, baseline, &culprit, trials.told());
    if packages.is_empty() {
        let why = "The packages' own way back was not tried: none of them has the same name in both worlds.";
        trials.told().not_tried.push(why.to_string());
        return Ok(());
    }
    let mut wait = |longest: Duration| interrupts.next(longest).is_some();
    let say = |line: &str| trials.runs.say(line);
    let installed = worlds::install_over(&asked.bad, suite, &packages, &asked.terms.store, journal, &say, &mut wait);
    let installed = match installed {
        Ok(installed) => installed,
        Err(lab::LabError::Interrupted) => return Ok(()),
        Err(error) => {
            let why = format!("The packages' own way back was not tried: {error}.");
            trials.told().not_tried.push(why);
            return Ok(());
        }
    };
    let world = asked.bad.world(&asked.terms.world, asked.terms.end, std::slice::from_ref(&installed.layer));
    let names = packages.iter().map(|(name, version)| format!("{name}={version}")).collect();
    let probe = Probe { kind: ProbeKind::Apt, asked: names, taken: culprit.cure, ..Probe::default() };
    let probed = match trials.runs.probe(&world, "the packages, installed by apt") {
        Err(lab::LabError::Interrupted) => return Ok(()),
        probed => probed?,
    };
    trials.runs.tell(probe, &probed);
    if let Some(culprit) = &mut trials.told().culprit {
        culprit.command.clone_from(&installed.command);
        culprit.command_confirmed = probed.result == ProbeResult::Good;
    }
    Ok(())
}

/// The culprit's used binary packages that the bad world has in another version, with the good version: those with code,
/// if there are any; what they need comes along, and a configuration alone is no reason to go back.
fn packages_of(asked: &Asked, baseline: &Baseline, culprit: &Culprit, told: &Bisection) -> Vec<(String, String)> {
    let both = [&asked.good, &asked.bad].map(|world| Packages::read(&world.base).ok());
    let [Some(good), Some(bad)] = both else { return Vec::new() };
    let factors = told.factors.iter().filter(|factor| culprit.cure.contains(&factor.name));
    let members = factors.filter(|factor| factor.kind == FactorKind::Package).flat_map(|factor| &factor.members);
    let versions = members.filter_map(|name| {
        let (in_good, in_bad) = (good.get(name)?, bad.get(name)?);
        (in_good.version != in_bad.version).then(|| (name.clone(), in_good.version.clone()))
    });
    let all = versions.collect::<Vec<_>>();
    let [used, _] = baseline.used(asked);
    let code = used.iter().filter(|path| path.to_string_lossy().contains(".so") || path.starts_with("/usr/bin"));
    let with_code =
        code.filter_map(|path| good.owner(path)).map(|package| package.name.clone()).collect::<BTreeSet<_>>();
    let (code, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| with_code.contains(name));
    if code.is_empty() { rest } else { code }
}

/// Looks in the recorded bad run for what makes it slow, and tries what would cure that.
pub fn cures(asked: &Asked, baseline: &Baseline, interrupts: &Interrupts, told: &mut Bisection) -> Result<(), Failure> {
    let run = baseline.bad_run();
    let case = Case::open(&run.folder)?;
    let plan = Plan {
        subject: asked.terms.subject.clone(),
        world: asked.bad.world(&asked.terms.world, asked.terms.end, &[]),
        proof: Wish {
            is_wanted: true,
            asked: Vec::new(),
            budget: asked.terms.budget / CURES_PART,
            compares_output: true,
            metric: asked.terms.metric.clone(),
        },
        limits: Limits::default(),
        folder: PathBuf::from(&run.folder),
        options: record::Options::default(),
    };
    output::say("what would cure the bad world without going back is tried");
    let recording = Recording::load(&case)?;
    let mut answer = answer::draw(&recording, &case, crate::arguments::AnswerArguments::default());
    let proved = proof::prove(&mut answer, &case, recording, &plan, interrupts);
    answer.page = page::keep(&case, || Ok(page::of_answer(&answer, &Recording::load(&case)?)));
    case.keep("answer.json", &answer)?;
    told.cures = answer.findings;
    proved
}
