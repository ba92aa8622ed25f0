//! What differs between two worlds of that which a subject uses: the factors of a bisection.

mod folder;
mod packaged;
mod unowned;
mod used_world;
mod variables;

use crate::LabError;
use crate::worlds::Ready;
use case::{Factor, FactorKind};
use record::executable::Elf;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
pub(super) use used_world::UsedWorld;

/// Why the C library is no factor of a probe.
const C_LIBRARY: &str = "the C library and its loader can only be switched with the whole world";

/// A factor, and how it is taken from the good world.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What it is called, and what it is in either world.
    pub factor: Factor,
    /// What is taken from the good world.
    pub change: Change,
}

/// How a factor is switched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Files are laid over those of the bad world.
    Files {
        /// Their paths inside the good world, links of folders followed; links themselves are among them. Sorted.
        paths: Vec<PathBuf>,
    },
    /// Files of the bad world are hidden, since the good one has none there.
    Hidden {
        /// Their paths inside the bad world, links followed.
        paths: Vec<PathBuf>,
    },
    /// A variable is set, or taken away.
    Variable {
        /// Its name.
        name: String,
        /// Its value in the good world; none where it is not set there.
        value: Option<String>,
    },
    /// The C library and its loader: not at all.
    Libc,
}

/// What differs, of all that the subject used in either world. In this order: packages by the source that they are built
/// from, libraries, data files, variables, the C library.
///
/// Where packages have the same version in both worlds, the files used are compared byte for byte. A file of no package that
/// only the bad world has, and that is no library, is hidden where the good world's state is wanted. A package that only the bad
/// world has is no factor: others need what it brings, and its files stay where they are. The loader's cache is none either: it is an index of its world, stays that of the bad one, and
/// the loader looks into its own folders for what is not in it.
///
/// # Errors
/// Where a world's list of packages cannot be read.
pub fn differences(
    good: &Ready,
    bad: &Ready,
    used_good: &BTreeSet<PathBuf>,
    used_bad: &BTreeSet<PathBuf>,
) -> Result<Vec<Difference>, LabError> {
    let (good, bad) = (UsedWorld::new(good, used_good)?, UsedWorld::new(bad, used_bad)?);
    let mut found = Vec::new();
    if good.world.base != bad.world.base {
        found.extend(packaged::differences(&good, &bad));
        found.extend(unowned::differences(&good, &bad));
    }
    found.extend(folder::differences(&good, &bad));
    found.extend(variables::differences(good.world, bad.world));
    one_c_library(&mut found);
    found.sort_by(|one, other| place(one).cmp(&place(other)));
    Ok(found)
}

fn place(difference: &Difference) -> (u8, &str) {
    let kind = match difference.factor.kind {
        FactorKind::Package | FactorKind::Commit => 0,
        FactorKind::Library => 1,
        FactorKind::Data => 2,
        FactorKind::Environment => 3,
        FactorKind::Libc => 4,
    };
    (kind, &difference.factor.name)
}

/// Joins the parts of the C library into one factor, which cannot be tried.
fn one_c_library(found: &mut Vec<Difference>) {
    let parts = found.extract_if(.., |one| one.change == Change::Libc).collect::<Vec<_>>();
    let Some(first) = parts.first() else { return };
    let members = parts.iter().flat_map(|part| part.factor.members.clone()).collect::<BTreeSet<_>>();
    let factor = Factor {
        kind: FactorKind::Libc,
        members: members.into_iter().collect(),
        untestable: C_LIBRARY.to_string(),
        ..first.factor.clone()
    };
    found.push(Difference { factor, change: Change::Libc });
}

/// The size of a file in words; empty where it is not there.
fn size(path: Option<&Path>) -> String {
    let bytes = path.and_then(|path| path.metadata().ok()).map(|metadata| metadata.len().to_string());
    let Some(digits) = bytes else { return String::new() };
    let apart = digits.char_indices().flat_map(|(at, digit)| {
        let is_apart = at > 0 && (digits.len() - at).is_multiple_of(3);
        is_apart.then_some(',').into_iter().chain([digit])
    });
    format!("{} bytes", apart.collect::<String>())
}

/// Whether a file is the loader, or a part of the C library that goes with it.
fn is_c_library(path: &Path, loaders: &BTreeSet<PathBuf>, real: &Path) -> bool {
    loaders.contains(real) || Elf::read(path).is_some_and(|elf| elf.is_c_library)
}

#[cfg(test)]
mod tests;
