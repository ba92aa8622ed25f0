//! Packages that differ, grouped by the source that they are built from.

use super::{Change, Difference, UsedWorld};
use crate::bisect::content::same;
use crate::bisect::target::target;
use crate::worlds::Package;
use case::{Factor, FactorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The packages of one source in both worlds, by their names.
#[derive(Default)]
struct Group<'a> {
    good: BTreeMap<&'a str, &'a Package>,
    bad: BTreeMap<&'a str, &'a Package>,
}

pub(super) fn differences(good: &UsedWorld<'_>, bad: &UsedWorld<'_>) -> Vec<Difference> {
    let groups = groups(good, bad);
    let c_library = good.c_library().into_iter().chain(bad.c_library()).collect::<BTreeSet<_>>();
    let differing = groups.iter().filter(|(_, group)| !group.good.is_empty() && group.differs(good, bad));
    let difference = |(source, group): (&&str, &Group<'_>)| {
        let files = || Change::Files { paths: group.files(good) };
        let change = if c_library.contains(source) { Change::Libc } else { files() };
        Difference { factor: group.factor(source), change }
    };
    differing.map(difference).collect()
}

/// The packages used in either world, by the source of the good world: that of a compiler has another name in each release.
fn groups<'a>(good: &'a UsedWorld<'_>, bad: &'a UsedWorld<'_>) -> BTreeMap<&'a str, Group<'a>> {
    let mut groups = BTreeMap::<&str, Group<'_>>::new();
    for (name, package) in good.used_packages() {
        let group = groups.entry(&package.source).or_default();
        group.good.insert(name, package);
        if let Some(same) = bad.packages.get(name) {
            group.bad.insert(&same.name, same);
        }
    }
    for (name, package) in bad.used_packages() {
        let same = good.packages.get(name);
        let group = groups.entry(same.map_or(&package.source, |same| &same.source)).or_default();
        group.bad.insert(name, package);
        if let Some(same) = same {
            group.good.insert(&same.name, same);
        }
    }
    groups
}

impl Group<'_> {
    fn differs(&self, good: &UsedWorld<'_>, bad: &UsedWorld<'_>) -> bool {
        let versions = |packages: &BTreeMap<&str, &Package>| {
            packages.iter().map(|(name, package)| ((*name).to_string(), package.version.clone())).collect::<Vec<_>>()
        };
        versions(&self.good) != versions(&self.bad) || self.has_other_bytes(good, bad)
    }

    /// Whether a used file is another one in the bad world although its package has the same version.
    fn has_other_bytes(&self, good: &UsedWorld<'_>, bad: &UsedWorld<'_>) -> bool {
        let is_own =
            |path: &&PathBuf| good.owner(path).is_some_and(|owner| self.good.contains_key(owner.name.as_str()));
        // What was used in the bad world only lies in the good one at the same path, if at all.
        let used = good.used.values().chain(bad.used.values()).flatten().collect::<BTreeSet<_>>();
        used.into_iter().filter(is_own).any(|path| {
            let Some((place, metadata)) = good.inside.entry(path) else { return false };
            let there = bad.inside.entry(&target(path, good.world, bad.world, &bad.inside));
            there.is_none_or(|there| !same((&place, &metadata), (&there.0, &there.1)))
        })
    }

    fn factor(&self, source: &str) -> Factor {
        let members = self.good.keys().chain(self.bad.keys()).collect::<BTreeSet<_>>();
        let version = |packages: &BTreeMap<&str, &Package>| {
            packages.values().next().map(|package| package.version.clone()).unwrap_or_default()
        };
        Factor {
            name: source.to_string(),
            kind: FactorKind::Package,
            good: version(&self.good),
            bad: version(&self.bad),
            members: members.into_iter().map(ToString::to_string).collect(),
            ..Factor::default()
        }
    }

    /// All files of the packages, and those used that were made of them when they were set up.
    fn files(&self, good: &UsedWorld<'_>) -> Vec<PathBuf> {
        let is_own = |path: &&PathBuf| good.owner(path).is_some_and(|one| self.good.contains_key(one.name.as_str()));
        let made = good.used.values().flatten().filter(is_own).cloned();
        let files = self.good.keys().flat_map(|name| good.packages.files(name));
        let settled = files.map(|file| good.inside.settled(&file)).chain(made);
        let is_file = |path: &PathBuf| good.inside.entry(path).is_some_and(|(_, found)| !found.is_dir());
        settled.filter(is_file).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
