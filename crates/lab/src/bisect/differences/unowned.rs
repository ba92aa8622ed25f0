//! Files that belong to no package in either world, and differ.

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
    files.into_iter().map(|(file, (path, all))| difference(good, bad, (&file, &path), all)).collect()
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
