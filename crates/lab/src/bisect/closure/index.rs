//! Which factor has what in the good world.

use super::{Ground, lacking, name_of};
use crate::LabError;
use crate::bisect::content::is_library_name;
use crate::bisect::differences::{Change, Difference};
use crate::bisect::inside::Inside;
use crate::bisect::linkage::{Missing, MissingKind};
use crate::bisect::search::Set;
use crate::bisect::target::target;
use crate::worlds::{Packages, Ready};
use record::executable::Elf;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A program or library of the good world that the subject used there.
struct Used {
    /// The factor that it belongs to; none where it is the same in both worlds.
    factor: Option<usize>,
    /// Its own name, and its SONAME.
    names: BTreeSet<String>,
    elf: Elf,
}

/// Who has what.
pub(super) struct Index {
    /// Factors by the names of the libraries that they have.
    libraries: BTreeMap<String, usize>,
    /// What is used of the good world.
    used: Vec<Used>,
    /// For each factor, the links of its that lead into another: where they are laid, and the other.
    links: Vec<Vec<(PathBuf, usize)>>,
    variables: Set,
    /// The packages of the bad world, and which factor each belongs to.
    packages: Packages,
    members: BTreeMap<String, usize>,
}

impl Index {
    pub fn new(ground: &Ground<'_>) -> Result<Index, LabError> {
        let Ground { differences, good, bad, used_good, .. } = *ground;
        let mut owners = BTreeMap::new();
        let (mut libraries, mut variables, mut members) = (BTreeMap::new(), Set::new(), BTreeMap::new());
        for (number, difference) in differences.iter().enumerate() {
            for path in paths(difference) {
                owners.entry(path.clone()).or_insert(number);
                if path.file_name().is_some_and(is_library_name) {
                    libraries.entry(name_of(path)).or_insert(number);
                }
            }
            if matches!(difference.change, Change::Variable { .. }) {
                variables.insert(number);
            }
            members.extend(difference.factor.members.iter().map(|member| (member.clone(), number)));
        }
        let inside = Inside::of_world(good);
        let used = used_good.iter().filter_map(|path| used_file(path, &inside, &owners)).collect();
        let links = differences.iter().map(|one| links(one, &owners, (good, bad), &inside)).collect();
        Ok(Index { libraries, used, links, variables, packages: Packages::read(&bad.base)?, members })
    }

    pub fn is_variable(&self, factor: usize) -> bool {
        self.variables.contains(&factor)
    }

    /// Whether libraries of a factor are used in the good world.
    pub fn has_libraries(&self, factor: usize) -> bool {
        self.used.iter().any(|used| used.factor == Some(factor) && used.elf.loader.is_none())
    }

    /// The factor that has a library that is not found.
    pub fn library(&self, name: &str, now: &Set) -> Result<usize, String> {
        if self.is_c_library(|used| used.names.contains(name)) {
            return Err(format!("the library {name} is not found: it needs the good world's C library"));
        }
        let factor = self.libraries.get(name).filter(|factor| !now.contains(factor)).copied();
        let missing =
            Missing { kind: MissingKind::Library, what: name.into(), of: String::new(), wanted_by: "".into() };
        factor.ok_or_else(|| lacking(&missing))
    }

    /// The factor that should provide a version or a symbol to a file of the good world.
    pub fn provider(&self, missing: &Missing, now: &Set) -> Result<usize, String> {
        let (who, what) = (name_of(&missing.wanted_by), &missing.what);
        let of = name_of(Path::new(&missing.of));
        let offers = |used: &Used| match missing.kind {
            MissingKind::Version => used.names.contains(&of),
            _ => used.elf.offers.contains(what),
        };
        if self.is_c_library(offers) {
            let version = if missing.of.is_empty() || missing.kind == MissingKind::Version { "" } else { &missing.of };
            let what = if version.is_empty() { what } else { version };
            return Err(format!("{who} needs {what}, and so the good world's C library"));
        }
        let wanting = self.used.iter().find(|used| used.names.contains(&who));
        let is_needed = |used: &&Used| {
            wanting.is_none_or(|wanting| wanting.elf.needed.iter().any(|needed| used.names.contains(needed)))
        };
        let mut offering = self.used.iter().filter(|used| offers(used));
        let first = offering.clone().find(is_needed).or_else(|| offering.next()).and_then(|used| used.factor);
        let named = || self.libraries.get(&of).copied().filter(|_| missing.kind == MissingKind::Version);
        first.or_else(named).filter(|factor| !now.contains(factor)).ok_or_else(|| lacking(missing))
    }

    /// The factor that a file of the bad world belongs to: by the name that it is loaded by, or by its package.
    pub fn owner_in_bad(&self, path: &Path, real: &Path) -> Option<usize> {
        let member = |path: &Path| self.members.get(path.to_str()?).copied();
        let package = || self.members.get(&self.packages.owner(real)?.name).copied();
        package()
            .or_else(|| self.libraries.get(&name_of(path)).copied())
            .or_else(|| member(path))
            .or_else(|| member(real))
    }

    /// The factors that need a library of this one in the good world, or lead to it by a link.
    pub fn consumers(&self, factor: usize) -> Set {
        let own = self.used.iter().filter(|used| used.factor == Some(factor) && used.elf.loader.is_none());
        let names = own.flat_map(|used| &used.names).collect::<BTreeSet<_>>();
        let needs = |used: &&Used| used.elf.needed.iter().any(|needed| names.contains(needed));
        let needing = self.used.iter().filter(needs).filter_map(|used| used.factor);
        let leads_here = |links: &[(PathBuf, usize)]| links.iter().any(|(_, owner)| *owner == factor);
        let leading = self.links.iter().enumerate().filter(|(_, links)| leads_here(links)).map(|(number, _)| number);
        needing.chain(leading).filter(|other| *other != factor).collect()
    }

    /// The links of these factors that lead into others, with those.
    pub fn links_of<'a>(&'a self, now: &'a Set) -> impl Iterator<Item = (&'a Path, usize)> {
        let links = now.iter().filter_map(|factor| self.links.get(*factor)).flatten();
        links.map(|(path, owner)| (path.as_path(), *owner))
    }

    fn is_c_library(&self, chosen: impl Fn(&Used) -> bool) -> bool {
        self.used.iter().any(|used| used.elf.is_c_library && chosen(used))
    }
}

fn paths(difference: &Difference) -> &[PathBuf] {
    match &difference.change {
        Change::Files { paths } => paths,
        Change::Hidden { .. } | Change::Variable { .. } | Change::Libc => &[],
    }
}

fn used_file(path: &Path, inside: &Inside, owners: &BTreeMap<PathBuf, usize>) -> Option<Used> {
    let chain = inside.chain(path);
    let (place, _) = inside.entry(chain.last()?)?;
    let elf = Elf::read(&place)?;
    let names = chain.iter().map(|path| name_of(path)).chain(elf.soname.clone()).collect();
    Some(Used { factor: chain.iter().rev().find_map(|path| owners.get(path)).copied(), names, elf })
}

/// The links of a factor whose ends belong to another factor.
fn links(
    difference: &Difference,
    owners: &BTreeMap<PathBuf, usize>,
    (good, bad): (&Ready, &Ready),
    inside: &Inside,
) -> Vec<(PathBuf, usize)> {
    let own = paths(difference).iter().collect::<BTreeSet<_>>();
    let inside_bad = Inside::of_world(bad);
    let lead = own.iter().filter_map(|path| {
        inside.entry(path).filter(|(_, metadata)| metadata.is_symlink())?;
        let end = inside.real(path).filter(|end| !own.contains(end))?;
        Some((target(path, good, bad, &inside_bad), *owners.get(&end)?))
    });
    lead.collect()
}
