//! What has to come along with factors taken from the good world, so that programs start and the factors take effect. Found
//! by asking loaders; no trial is run.

#[cfg(test)]
pub(super) mod fixture;
mod index;
mod objects;

use super::content::is_library_name;
use super::differences::Difference;
use super::inside::Inside;
use super::layers::Layers;
use super::linkage::{Linkage, Missing, MissingKind, check};
use super::search::Set;
use crate::LabError;
use crate::treatment::End;
use crate::world::World;
use crate::worlds::Ready;
use index::Index;
use objects::Objects;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What closures are about.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The factors.
    pub differences: &'a [Difference],
    /// Their layers.
    pub layers: &'a Layers,
    /// The good world.
    pub good: &'a Ready,
    /// The bad world.
    pub bad: &'a Ready,
    /// What the subject used in the good world.
    pub used_good: &'a BTreeSet<PathBuf>,
    /// What it used in the bad one.
    pub used_bad: &'a BTreeSet<PathBuf>,
    /// What else a trial's world has.
    pub world: &'a World,
    /// Whose files are switched.
    pub end: End,
}

/// Finds closures, each once. What it says of a set does not depend on what was asked before.
pub struct Closures<'a> {
    ground: Ground<'a>,
    objects: Objects,
    index: Index,
    /// What no set is blamed for: the bad world, or the good one, lacks it as well.
    known: BTreeSet<(MissingKind, String, String)>,
    linkages: BTreeMap<Set, Linkage>,
    closed: BTreeMap<Set, Result<Set, String>>,
    wait: &'a mut dyn FnMut(Duration) -> bool,
}

impl<'a> Closures<'a> {
    /// Asks the loaders of both worlds what programs load as they are. `wait` passes the time, and is true where the user
    /// wants an end.
    ///
    /// # Errors
    /// Where a loader cannot be asked.
    pub fn new(ground: Ground<'a>, wait: &'a mut dyn FnMut(Duration) -> bool) -> Result<Closures<'a>, LabError> {
        let (objects, good) = objects::find(&ground, wait)?;
        let index = Index::new(&ground)?;
        let (known, linkages) = (good.missing.iter().map(key).collect(), BTreeMap::new());
        let mut closures = Closures { ground, objects, index, known, linkages, closed: BTreeMap::new(), wait };
        let bad = closures.linkage(&Set::new())?;
        closures.known.extend(bad.missing.iter().map(key));
        Ok(closures)
    }

    /// The factors that have to be taken with these: what they need so that programs start, and, where nobody would load a
    /// factor's libraries (they have other names than those of the bad world), what needs these.
    ///
    /// # Errors
    /// Why programs do not start, whatever is added: one sentence without a full stop.
    pub fn closed(&mut self, set: &Set) -> Result<Set, String> {
        if let Some(known) = self.closed.get(set) {
            return known.clone();
        }
        let factors = set.iter().filter_map(|factor| self.ground.differences.get(*factor));
        if let Some(fixed) = factors.map(|one| &one.factor.untestable).find(|why| !why.is_empty()) {
            return Err(fixed.clone());
        }
        let mut now = set.clone();
        let found = loop {
            // What the laboratory fails at says nothing about the set, and is not kept.
            let linkage = self.linkage(&now).map_err(|error| error.to_string())?;
            match self.additions(&now, &linkage) {
                Ok(more) if more.is_subset(&now) => break Ok(now),
                Ok(more) => now.extend(more),
                Err(why) => break Err(why),
            }
        };
        self.closed.insert(set.clone(), found.clone());
        found
    }

    /// The factors of a set that take effect: whose libraries are loaded, whose files are those that the subject opens in the
    /// bad world, or that are variables.
    pub fn loaded(&mut self, set: &Set) -> Set {
        let Ok(linkage) = self.linkage(set) else { return Set::new() };
        let inside = self.inside(set);
        let active = self.active(&linkage, &inside);
        set.iter().copied().filter(|factor| self.takes_effect(*factor, &active)).collect()
    }

    /// Of a factor that brings libraries, one of them counts: its configuration may be read by the bad world's libraries too.
    fn takes_effect(&self, factor: usize, active: &BTreeSet<PathBuf>) -> bool {
        let files = self.ground.layers.files(factor);
        let is_library = |file: &Path| file.file_name().is_some_and(is_library_name);
        let has_libraries = self.index.has_libraries(factor) && files.iter().any(|file| is_library(file));
        let counts = |file: &Path| active.contains(file) && (is_library(file) || !has_libraries);
        self.index.is_variable(factor) || files.iter().any(|file| counts(file))
    }

    /// The files that programs load or open in a world, as far as can be known without running them.
    fn active(&self, linkage: &Linkage, inside: &Inside) -> BTreeSet<PathBuf> {
        let loaded = linkage.loaded.values().flat_map(|path| inside.chain(path));
        let opened = self.objects.opened.iter().flat_map(|path| inside.chain(path));
        loaded.chain(opened).collect()
    }

    fn inside(&self, set: &Set) -> Inside {
        let Ground { layers, bad, world, end, .. } = self.ground;
        let world = layers.world(set, bad, world, end);
        world.root_of(end).map_or_else(|| Inside::of_world(bad), |root| Inside::of(root.clone()))
    }

    fn linkage(&mut self, set: &Set) -> Result<Linkage, LabError> {
        if let Some(known) = self.linkages.get(set) {
            return Ok(known.clone());
        }
        let Ground { layers, bad, world, end, .. } = self.ground;
        let world = layers.world(set, bad, world, end);
        let mut linkage = check(&world, end, &self.objects.asked, self.wait)?;
        linkage.missing.extend(self.lacking_beside(set, &world)?);
        self.linkages.insert(set.clone(), linkage.clone());
        Ok(linkage)
    }

    /// The libraries that plug-ins of the good world need and do not find where they are laid. Whether they are opened, and by
    /// which program, is not known before a trial: what else they want is not asked, and they count as loaded by nobody.
    fn lacking_beside(&mut self, set: &Set, world: &World) -> Result<Vec<Missing>, LabError> {
        let inside = self.inside(set);
        let laid = self.objects.beside.iter().filter(|path| inside.real(path).is_some()).cloned().collect::<Vec<_>>();
        if laid.is_empty() {
            return Ok(Vec::new());
        }
        let linkage = check(world, self.ground.end, &[self.objects.programs.clone(), laid].concat(), self.wait)?;
        Ok(linkage.missing.into_iter().filter(|one| one.kind == MissingKind::Library).collect())
    }

    /// What a set lacks. Libraries first: what else is missing may be for want of them.
    fn additions(&self, now: &Set, linkage: &Linkage) -> Result<Set, String> {
        let inside = self.inside(now);
        let missing = linkage.missing.iter().filter(|one| !self.known.contains(&key(one))).collect::<Vec<_>>();
        let mut more = Set::new();
        for one in missing.iter().filter(|one| one.kind == MissingKind::Library) {
            more.insert(self.index.library(&one.what, now)?);
        }
        if more.is_empty() {
            for one in &missing {
                more.extend(self.addition(one, now, &inside)?);
            }
        }
        more.extend(self.index.links_of(now).filter(|(path, _)| inside.real(path).is_none()).map(|(_, owner)| owner));
        if more.is_subset(now) {
            let active = self.active(linkage, &inside);
            let idle = now.iter().filter(|factor| !self.takes_effect(**factor, &active));
            let idle = idle.filter(|factor| !self.ground.layers.files(**factor).is_empty());
            more.extend(idle.flat_map(|factor| self.index.consumers(*factor)));
        }
        Ok(more)
    }

    /// The factor that mends a version or a symbol that is missing; none where nothing needs to be mended.
    fn addition(&self, missing: &Missing, now: &Set, inside: &Inside) -> Result<Option<usize>, String> {
        let real = inside.real(&missing.wanted_by).unwrap_or_else(|| missing.wanted_by.clone());
        let mut taken = now.iter().filter(|factor| self.ground.layers.files(**factor).contains(&real));
        if taken.next().is_some() {
            return self.index.provider(missing, now).map(Some);
        }
        match self.index.owner_in_bad(&missing.wanted_by, &real) {
            Some(owner) if !now.contains(&owner) => Ok(Some(owner)),
            // A plug-in of the bad world's that lies beside those of the good one, which are opened now.
            Some(_) if self.objects.is_plug_in(&real) => Ok(None),
            _ => Err(lacking(missing)),
        }
    }
}

/// What tells one missing thing from another, wherever the libraries lie.
fn key(missing: &Missing) -> (MissingKind, String, String) {
    (missing.kind, missing.what.clone(), name_of(&missing.wanted_by))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Why programs do not start.
fn lacking(missing: &Missing) -> String {
    let (who, what) = (name_of(&missing.wanted_by), &missing.what);
    match missing.kind {
        MissingKind::Library => format!("the library {what} is not found, and none of the differences provides it"),
        MissingKind::Version => {
            format!("{who} needs version {what} of {}, which it does not have", name_of(Path::new(&missing.of)))
        }
        MissingKind::Symbol => format!("{who} needs the symbol {what}, which no library provides"),
    }
}

#[cfg(test)]
mod tests;
