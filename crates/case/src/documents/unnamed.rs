//! Documents whose fields name things that only they know: what differs between two worlds, a library and its versions.

use crate::{Bisection, Factor, FactorKind, Matrix, WorldSummary};
use std::collections::HashMap;
use storage::Pseudonyms;

/// Replaces names in such documents.
pub(super) struct Unnamed<'p>(pub &'p Pseudonyms);

impl Unnamed<'_> {
    /// A bisection without names. Packages keep theirs, as files of system folders do: they are a distribution's.
    pub(super) fn bisection(&self, from: &Bisection) -> Bisection {
        let mut hidden = from.clone();
        let shown = from.factors.iter().map(|factor| (factor.name.clone(), self.factor_name(factor)));
        let shown = shown.collect::<HashMap<_, _>>();
        for factor in &mut hidden.factors {
            self.factor(factor);
        }
        if let Some(burner) = &mut hidden.burner {
            burner.library = self.0.file_name(&burner.library);
        }
        for name in names_of_factors(&mut hidden) {
            if let Some(shown) = shown.get(name) {
                name.clone_from(shown);
            }
        }
        for world in [&mut hidden.good, &mut hidden.bad] {
            self.world(world);
        }
        let mut hidden: Bisection = self.0.without_names(&hidden);
        hidden.case.clone_from(&from.case);
        hidden
    }

    /// A matrix without names. A library that everybody has keeps its own.
    pub(super) fn matrix(&self, from: &Matrix) -> Matrix {
        let mut hidden = from.clone();
        hidden.library = self.library(&from.library);
        for with in &mut hidden.with {
            if let Some((library, version)) = with.split_once('=') {
                *with = format!("{}={version}", self.library(library));
            }
        }
        for soname in hidden.versions.iter_mut().flat_map(|version| &mut version.sonames) {
            *soname = self.0.file_name(soname);
        }
        let mut hidden: Matrix = self.0.without_names(&hidden);
        hidden.case.clone_from(&from.case);
        hidden
    }

    fn factor(&self, factor: &mut Factor) {
        factor.name = self.factor_name(factor);
        match factor.kind {
            FactorKind::Package | FactorKind::Libc => {}
            FactorKind::Library | FactorKind::Data => {
                for file in &mut factor.members {
                    *file = self.0.path(file);
                }
            }
            FactorKind::Environment | FactorKind::Commit => {
                for name in &mut factor.members {
                    *name = self.name(name);
                }
                for value in [&mut factor.good, &mut factor.bad].into_iter().filter(|value| !value.is_empty()) {
                    *value = self.0.word(value);
                }
            }
        }
    }

    fn factor_name(&self, factor: &Factor) -> String {
        match factor.kind {
            FactorKind::Package | FactorKind::Libc => factor.name.clone(),
            FactorKind::Library | FactorKind::Data => self.0.path(&factor.name),
            FactorKind::Environment | FactorKind::Commit => self.name(&factor.name),
        }
    }

    /// What stands behind the kind of a world: a path, or a commit, whose title is its message.
    fn world(&self, world: &mut WorldSummary) {
        match world.name.split_once(':') {
            Some(("git", revision)) => {
                world.name = format!("git:{}", self.name(revision));
                world.title = format!("commit {}", self.name(&world.title));
            }
            Some((kind @ ("dir" | "libs" | "env"), path)) => world.name = format!("{kind}:{}", self.0.path(path)),
            _ => {}
        }
    }

    fn library(&self, library: &str) -> String {
        let file = format!("lib{library}.so");
        if self.0.file_name(&file) == file { library.to_string() } else { self.name(library) }
    }

    /// A name that is one word in sentences, too.
    fn name(&self, name: &str) -> String {
        let shown = self.0.word(name);
        self.0.as_in_sentences(name, &shown);
        shown
    }
}

/// Wherever factors are named but in the list of them.
fn names_of_factors(bisection: &mut Bisection) -> Vec<&mut String> {
    let mut names = bisection.factors.iter_mut().flat_map(|factor| &mut factor.needs).collect::<Vec<_>>();
    names.extend(bisection.probes.iter_mut().flat_map(|probe| probe.asked.iter_mut().chain(&mut probe.taken)));
    names.extend(bisection.stairs.iter_mut().flat_map(|stair| &mut stair.commits));
    if let Some(culprit) = &mut bisection.culprit {
        names.extend(culprit.cure.iter_mut().chain(&mut culprit.cause).chain([&mut culprit.split]));
        names.extend(culprit.cleared.iter_mut().map(|one| &mut one.factor));
        names.extend(culprit.untested.iter_mut().map(|one| &mut one.factor));
    }
    names.extend(bisection.burner.iter_mut().map(|burner| &mut burner.factor));
    names
}
