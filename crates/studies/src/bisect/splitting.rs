//! Which member of a bundle it is: other versions of one member alone, over the bad world.

use super::baseline::Baseline;
use super::bench::Trials;
use super::owners::Owners;
use super::question::Asked;
use crate::Console;
use crate::StudyError;
use case::{Bond, Probe, ProbeKind, ProbeResult};
use diagnose::LibraryBlame;
use lab::bisect::split::{self, Member, Tried, Way};
use lab::bisect::{Linkage, check};
use lab::matrix::{Sources, Workshop};
use lab::worlds::{self, WorldName};
use lab::{LabError, World};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the names of libraries' packages got for the 64-bit time of Debian's 13th release.
const TIME_ENDING: &str = "t64";

/// Splits the culprit, where it is a bundle of packages, and enters what came of it.
pub fn split(
    asked: &Asked,
    baseline: &Baseline,
    (owners, blames): (&Owners, &[LibraryBlame]),
    console: &dyn Console,
    trials: &mut Trials,
) -> Result<(), StudyError> {
    let Some(culprit) = trials.bisection().culprit.clone().filter(|culprit| culprit.bond == Bond::Bundle) else {
        return Ok(());
    };
    let [_, used] = baseline.used(asked);
    let shares = owners.shares(blames);
    let members = culprit.cure.iter().map(|name| {
        let (packages, sonames) = owners.members(name, &used);
        let factor = trials.bisection().factors.iter().find(|factor| factor.name == *name);
        let version = factor.map(|factor| factor.bad.clone()).unwrap_or_default();
        let share = (!blames.is_empty() && !sonames.is_empty()).then(|| shares.get(name).copied().unwrap_or_default());
        let (cpu_share, difference) = (share.map(|share| share.0), share.map(|share| share.1));
        Member { name: name.clone(), version, packages, sonames, cpu_share, difference }
    });
    let members = members.collect::<Vec<_>>();
    let ways = split::ways(&members, &suites(asked), &kept());
    let programs = baseline.programs(asked);
    let mut attempt =
        |way: &Way| Splitting { asked, console, members: &members, programs: &programs, trials }.attempt(way);
    let outcome = split::split(&members, &ways, &mut attempt);
    let (split, _) = match outcome {
        Err(LabError::Interrupted) => return Ok(()),
        outcome => outcome?,
    };
    if let Some(culprit) = &mut trials.bisection().culprit {
        (culprit.split, culprit.reasons) = (split.split, split.reasons);
        (culprit.cleared, culprit.untested) = (split.cleared, split.untested);
    }
    Ok(())
}

/// Releases that may have other versions.
fn suites(asked: &Asked) -> Vec<String> {
    match (&asked.good.name, &asked.bad.name) {
        (WorldName::Debian(good), WorldName::Debian(bad)) => split::other_suites(good, bad),
        (_, WorldName::Debian(bad)) => split::other_suites(bad, bad),
        _ => Vec::new(),
    }
}

/// What `whyslow matrix` has built.
fn kept() -> Vec<lab::matrix::Prefix> {
    let there = Workshop::open().ok().zip(Sources::with(&[]).ok());
    there.map(|(workshop, sources)| workshop.kept(&sources)).unwrap_or_default()
}

/// A bundle that is being split.
struct Splitting<'a, 't, 'b, 'l> {
    asked: &'a Asked,
    console: &'a dyn Console,
    members: &'a [Member],
    programs: &'a [PathBuf],
    trials: &'t mut Trials<'b, 'l>,
}

impl Splitting<'_, '_, '_, '_> {
    /// Tries a way; none where it cannot be had.
    fn attempt(&mut self, way: &Way) -> Result<Option<Tried>, LabError> {
        // What passed the time may have seen the interrupt and taken it for a way that cannot be had.
        if self.console.has_come() {
            return Err(LabError::Interrupted);
        }
        let (folders, version) = match way {
            Way::DropIn { prefix, .. } => (vec![prefix.folder.clone()], prefix.version.clone()),
            Way::OtherSuite { suite, packages, .. } => match self.fetched(suite, packages)? {
                Some(fetched) => fetched,
                None => return Ok(None),
            },
        };
        let member = &self.members[way.factor()];
        if version == member.version {
            return Ok(None);
        }
        let libraries = folders.iter().flat_map(|folder| library_folders(folder)).collect::<Vec<_>>();
        let world = self.world(&folders, &libraries);
        let what = format!("{} {version}", member.name);
        let mut tried = Tried { way: way.clone(), version, result: ProbeResult::Untestable, place: None };
        if let Some(why) = self.refused(&world, &libraries, member)? {
            let probe = Probe {
                kind: ProbeKind::Split,
                asked: vec![what],
                result: tried.result,
                note: why,
                ..Probe::default()
            };
            self.trials.bisection().probes.push(probe);
            return Ok(Some(tried));
        }
        let probed = self.trials.runs.probe(&world, &what)?;
        (tried.result, tried.place) = (probed.result, probed.place);
        self.trials.runs.add(Probe { kind: ProbeKind::Split, asked: vec![what], ..Probe::default() }, &probed);
        Ok(Some(tried))
    }

    /// Fetches packages of a release, under the names that they have there: their folders, and the version.
    fn fetched(&self, suite: &str, packages: &[String]) -> Result<Option<(Vec<PathBuf>, String)>, LabError> {
        let mut all = Vec::new();
        for package in packages {
            let mut wait = |longest: Duration| self.console.next(longest).is_some();
            let say = |line: &str| self.trials.runs.say(line);
            let names = [package.clone(), format!("{package}{TIME_ENDING}")];
            let store = &self.asked.terms.store;
            let mut found = None;
            for name in names {
                match worlds::fetch(store, suite, &[name], &say, &mut wait) {
                    Err(LabError::Interrupted) => return Err(LabError::Interrupted),
                    Err(_) => {}
                    Ok(fetched) => {
                        found = fetched.into_iter().next();
                        break;
                    }
                }
            }
            let Some(found) = found else { return Ok(None) };
            all.push(found);
        }
        let version = all.first().map(|first| first.version.clone()).unwrap_or_default();
        Ok((!all.is_empty()).then(|| (all.into_iter().map(|one| one.folder).collect(), version)))
    }

    /// The bad world with these folders of libraries in front of its own.
    fn world(&self, folders: &[PathBuf], libraries: &[PathBuf]) -> World {
        let terms = &self.asked.terms;
        let mut world = self.asked.bad.world(&terms.world, terms.end, &[]);
        if let Some(tree) = &mut world.tree {
            tree.root.shared.extend(folders.iter().cloned());
        }
        let before = world.environment.get("LD_LIBRARY_PATH").cloned().flatten();
        let paths = libraries.iter().map(|path| path.display().to_string()).chain(before);
        let path = paths.collect::<Vec<_>>().join(":");
        world.environment.insert("LD_LIBRARY_PATH".to_string(), Some(path));
        world
    }

    /// Why the version cannot be run there; none where programs start with it and load it.
    fn refused(&self, world: &World, libraries: &[PathBuf], member: &Member) -> Result<Option<String>, LabError> {
        let terms = &self.asked.terms;
        let mut wait = |longest: Duration| self.console.next(longest).is_some();
        let plain = self.asked.bad.world(&terms.world, terms.end, &[]);
        let before = check(&plain, terms.end, self.programs, &mut wait)?.missing.into_iter().collect::<BTreeSet<_>>();
        let Linkage { loaded, missing } = check(world, terms.end, self.programs, &mut wait)?;
        if let Some(one) = missing.iter().find(|one| !before.contains(one)) {
            let who = one.wanted_by.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            return Ok(Some(format!("{} is missing in the bad world, and {who} needs it", one.what)));
        }
        let is_ours = |soname: &String| {
            loaded.get(soname).is_some_and(|path| libraries.iter().any(|folder| path.starts_with(folder)))
        };
        let takes_effect = member.sonames.iter().any(is_ours);
        Ok((!takes_effect).then(|| "its libraries have other names, so nothing loads them".to_string()))
    }
}

/// The folders below that hold shared libraries.
fn library_folders(folder: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let places = ["usr/lib", "lib", "lib64"].map(|place| folder.join(place));
    let places =
        places.iter().flat_map(|place| [place.clone()].into_iter().chain(below(place).filter(|path| path.is_dir())));
    let has_library = |place: &PathBuf| below(place).any(|path| path.to_string_lossy().contains(".so."));
    places.filter(has_library).collect()
}
