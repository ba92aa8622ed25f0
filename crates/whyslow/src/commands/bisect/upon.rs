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
use std::path::{Path, PathBuf};
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
    let mut packages = packages_of(asked, baseline, &culprit, trials.told());
    if packages.is_empty() {
        let why = "The packages' own way back was not tried: none of them has the same name in both worlds.";
        trials.told().not_tried.push(why.to_string());
        return Ok(());
    }
    let mut wait = |longest: Duration| interrupts.next(longest).is_some();
    let say = |line: &str| trials.runs.say(line);
    let mut install = |packages: &[(String, String)]| {
        worlds::install_over(&asked.bad, suite, packages, &asked.terms.store, journal, &say, &mut wait)
    };
    let mut installed = install(&packages);
    let others = siblings(asked, &packages);
    if matches!(&installed, Err(error) if !matches!(error, lab::LabError::Interrupted)) && !others.is_empty() {
        packages.extend(others);
        installed = install(&packages);
    }
    let installed = match installed {
        Ok(installed) => installed,
        Err(lab::LabError::Interrupted) => return Ok(()),
        Err(error) => {
            let error = error.to_string();
            let why = format!("The packages' own way back was not tried: {}.", error.trim_end_matches(['.', ' ']));
            trials.told().not_tried.push(why);
            return Ok(());
        }
    };
    let world = asked.bad.world(&asked.terms.world, asked.terms.end, std::slice::from_ref(&installed.layer));
    let names = packages.iter().map(|(name, version)| format!("{name}={version}")).collect::<Vec<_>>();
    let probe = Probe { kind: ProbeKind::Apt, asked: names.clone(), taken: culprit.cure, ..Probe::default() };
    let probed = match trials.runs.probe(&world, "the packages, installed by apt") {
        Err(lab::LabError::Interrupted) => return Ok(()),
        probed => probed?,
    };
    trials.runs.tell(probe, &probed);
    // A command after which the program does not run, or is as slow as before, is no way back.
    let failed = match probed.result {
        ProbeResult::Untestable => trials.runs.failed(),
        ProbeResult::Bad => "it stays slow".to_string(),
        ProbeResult::Good | ProbeResult::Unclear => String::new(),
    };
    if !failed.is_empty() {
        let why = format!("The packages' own way back leads nowhere: with {}, {failed}.", names.join(", "));
        trials.told().not_tried.push(why);
    } else if let Some(culprit) = &mut trials.told().culprit {
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
    let code =
        used.iter().filter(|path| path.to_string_lossy().contains(".so") || path.parent().is_some_and(is_of_programs));
    let with_code =
        code.filter_map(|path| good.owner(path)).map(|package| package.name.clone()).collect::<BTreeSet<_>>();
    let (code, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| with_code.contains(name));
    if code.is_empty() { rest } else { code }
}

fn is_of_programs(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "bin" || name == "sbin")
}

/// What else both worlds have of the same sources in another version: binary packages of a source often want each other in
/// the very same one.
fn siblings(asked: &Asked, packages: &[(String, String)]) -> Vec<(String, String)> {
    let both = [&asked.good, &asked.bad].map(|world| Packages::read(&world.base).ok());
    let [Some(good), Some(bad)] = both else { return Vec::new() };
    let is_asked = |name: &str| packages.iter().any(|(asked, _)| asked == name);
    let sources = good.iter().filter(|package| is_asked(&package.name)).map(|package| &package.source);
    let sources = sources.collect::<BTreeSet<_>>();
    let of_them = good.iter().filter(|package| sources.contains(&package.source) && !is_asked(&package.name));
    let differ = of_them.filter(|package| bad.get(&package.name).is_some_and(|other| other.version != package.version));
    differ.map(|package| (package.name.clone(), package.version.clone())).collect()
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
