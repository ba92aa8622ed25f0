//! The packages' own way back: the culprit's of the good release, installed over the bad world by apt, and measured.

use super::baseline::Baseline;
use super::bench::Trials;
use super::question::Asked;
use crate::Console;
use crate::StudyError;
use case::{Bisection, Culprit, FactorKind, Probe, ProbeKind, ProbeResult};
use lab::bisect::Probed;
use lab::worlds::{self, Installed, Packages, WorldName};
use lab::{Journal, LabError};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Installs the culprit's packages of the good release over the bad world, and measures that.
pub fn way_back(
    asked: &Asked,
    baseline: &Baseline,
    trials: &mut Trials,
    journal: &Journal,
    console: &dyn Console,
) -> Result<(), StudyError> {
    if console.has_come() {
        return Ok(());
    }
    let WorldName::Debian(suite) = &asked.good.name else { return Ok(()) };
    let Some(culprit) = trials.bisection().culprit.clone() else { return Ok(()) };
    let mut packages = packages_of(asked, baseline, &culprit, trials.bisection());
    if packages.is_empty() {
        let why = "Downgrading with apt was not tried: none of the packages has the same name in both worlds.";
        trials.bisection().not_tried.push(why.to_string());
        return Ok(());
    }
    let mut wait = |longest: Duration| console.next(longest).is_some();
    let mut install = |packages: &[(String, String)]| {
        let (store, say) = (&asked.terms.store, |line: &str| trials.runs.say(line));
        worlds::install_over(&asked.bad.base, suite, packages, store, journal, &say, &mut wait)
    };
    let installed = match with_siblings(asked, &mut packages, &mut install) {
        Ok(installed) => installed,
        Err(LabError::Interrupted) => return Ok(()),
        Err(error) => {
            let error = error.to_string();
            let why = format!("Downgrading with apt was not tried: {}.", error.trim_end_matches(['.', ' ']));
            trials.bisection().not_tried.push(why);
            return Ok(());
        }
    };
    let world = asked.bad.world(&asked.terms.world, asked.terms.end, std::slice::from_ref(&installed.layer));
    let names = packages.iter().map(|(name, version)| format!("{name}={version}")).collect::<Vec<_>>();
    let probe = Probe { kind: ProbeKind::Apt, asked: names.clone(), taken: culprit.cure, ..Probe::default() };
    let probed = match trials.runs.probe(&world, "the packages, downgraded with apt") {
        Err(LabError::Interrupted) => return Ok(()),
        probed => probed?,
    };
    trials.runs.add(probe, &probed);
    enter_way_back(trials, &probed, &names, &installed.command);
    Ok(())
}

/// Installs packages, and where that is refused, with those that may have to go with them.
fn with_siblings(
    asked: &Asked,
    packages: &mut Vec<(String, String)>,
    mut install: impl FnMut(&[(String, String)]) -> Result<Installed, LabError>,
) -> Result<Installed, LabError> {
    let others = siblings(asked, packages);
    match install(packages) {
        Err(LabError::NoWorld { .. }) if !others.is_empty() => {
            packages.extend(others);
            install(packages)
        }
        installed => installed,
    }
}

fn enter_way_back(trials: &mut Trials, probed: &Probed, names: &[String], command: &str) {
    // A command after which the program does not run, or is as slow as before, is no way back.
    let failed = match probed.result {
        ProbeResult::Untestable => trials.runs.failed(),
        ProbeResult::Bad => "it stays slow".to_string(),
        ProbeResult::Good | ProbeResult::Unclear => String::new(),
    };
    if !failed.is_empty() {
        let why = format!("Downgrading with apt does not help: with {}, {failed}.", names.join(", "));
        trials.bisection().not_tried.push(why);
    } else if let Some(culprit) = &mut trials.bisection().culprit {
        culprit.command = command.to_string();
        culprit.command_confirmed = probed.result == ProbeResult::Good;
    }
}

/// The culprit's used binary packages that the bad world has in another version, with the good version: those with code,
/// if there are any; what they need comes along, and a configuration alone is no reason to go back.
fn packages_of(asked: &Asked, baseline: &Baseline, culprit: &Culprit, bisection: &Bisection) -> Vec<(String, String)> {
    let both = [&asked.good, &asked.bad].map(|world| Packages::read(&world.base).ok());
    let [Some(good), Some(bad)] = both else { return Vec::new() };
    let factors = bisection.factors.iter().filter(|factor| culprit.cure.contains(&factor.name));
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
