//! Files that belong to no package in either world, and differ, or are in the bad one only.

use super::{Change, Difference, UsedWorld, is_c_library, size};
use crate::bisect::content::same;
use case::{Factor, FactorKind};
use record::executable::Elf;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) fn differences(good: &UsedWorld<'_>, bad: &UsedWorld<'_>) -> Vec<Difference> {
    let paths = good.used.keys().chain(bad.used.keys()).collect::<BTreeSet<_>>();
    // One file may be used by several paths.
    let mut files = BTreeMap::<PathBuf, (PathBuf, BTreeSet<PathBuf>)>::new();
    for path in paths.into_iter().filter(|path| !good.is_of_folder(path) && !bad.is_of_folder(path)) {
        let (there, here) = (good.inside.chain(path), bad.inside.chain(path));
        let is_owned =
            there.iter().any(|path| good.owner(path).is_some()) || here.iter().any(|path| bad.owner(path).is_some());
        if !is_owned
            && differ((good, &there), (bad, &here))
            && let Some(file) = there.last()
        {
            let known = files.entry(file.clone()).or_insert_with(|| (path.clone(), BTreeSet::new()));
            known.1.extend(there);
        }
    }
    let only_here = bad.used.iter().filter_map(|(path, chain)| only_in_bad(good, bad, path, chain));
    let only_here = only_here.map(|one| (one.factor.name.clone(), one)).collect::<BTreeMap<_, _>>();
    let differing = files.into_iter().map(|(file, (path, all))| difference(good, bad, (&file, &path), all));
    differing.chain(only_here.into_values()).collect()
}

/// A file of no package that the bad world has and the good one does not: a setting, say, that somebody has put there.
fn only_in_bad(good: &UsedWorld<'_>, bad: &UsedWorld<'_>, path: &Path, chain: &[PathBuf]) -> Option<Difference> {
    let is_owned = chain.iter().any(|path| bad.owner(path).is_some());
    if is_owned || bad.is_of_folder(path) || good.inside.on_host(path).is_some() {
        return None;
    }
    let place = bad.on_host(chain).filter(|place| place.is_file())?;
    if Elf::read(&place).is_some() {
        return None;
    }
    let factor = Factor {
        name: path.display().to_string(),
        kind: FactorKind::Data,
        bad: size(Some(&place)),
        members: vec![path.display().to_string()],
        ..Factor::default()
    };
    Some(Difference { factor, change: Change::Hidden { paths: vec![chain.last()?.clone()] } })
}

/// Whether the file at the end of the first chain is there, and not the same as the other's.
fn differ(good: (&UsedWorld<'_>, &[PathBuf]), bad: (&UsedWorld<'_>, &[PathBuf])) -> bool {
    let found = |(side, chain): (&UsedWorld<'_>, &[PathBuf])| side.inside.entry(chain.last()?);
    let Some((place, metadata)) = found(good).filter(|(_, metadata)| metadata.is_file()) else { return false };
    found(bad).is_none_or(|there| !same((&place, &metadata), (&there.0, &there.1)))
}

fn difference(good: &UsedWorld<'_>, bad: &UsedWorld<'_>, file: (&Path, &Path), paths: BTreeSet<PathBuf>) -> Difference {
    let (real, path) = file;
    let (place, there) = (good.inside.on_host(real), bad.inside.on_host(path));
    let elf = place.as_deref().and_then(Elf::read);
    let is_c_library = place.as_deref().is_some_and(|place| is_c_library(place, &good.loaders, real));
    let name = if elf.is_some() { Path::new(path.file_name().unwrap_or_default()) } else { path };
    let factor = Factor {
        name: name.display().to_string(),
        kind: if elf.is_some() { FactorKind::Library } else { FactorKind::Data },
        good: size(place.as_deref()),
        bad: size(there.as_deref()),
        members: vec![path.display().to_string()],
        ..Factor::default()
    };
    let files = Change::Files { paths: paths.into_iter().collect() };
    Difference { factor, change: if is_c_library { Change::Libc } else { files } }
}
