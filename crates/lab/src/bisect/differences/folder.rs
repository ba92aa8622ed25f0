//! Libraries of a folder of libraries that differ from those that the other world loads in their place.

use super::{Change, Difference, UsedWorld, size};
use crate::bisect::content::{is_library_name, same};
use case::{Factor, FactorKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn differences(good: &UsedWorld<'_>, bad: &UsedWorld<'_>) -> Vec<Difference> {
    let (in_good, in_bad) = (by_name(good), by_name(bad));
    let mut found = Vec::new();
    for (name, (path, there)) in &in_good {
        let here = in_bad.get(name);
        if !good.is_of_folder(path) && !here.is_some_and(|(path, _)| bad.is_of_folder(path)) {
            continue;
        }
        let Some((place, metadata)) = there.last().and_then(|file| good.inside.entry(file)) else { continue };
        let other = here.and_then(|(_, chain)| bad.inside.entry(chain.last()?));
        if other.as_ref().is_some_and(|other| same((&place, &metadata), (&other.0, &other.1))) {
            continue;
        }
        let factor = Factor {
            name: name.clone(),
            kind: FactorKind::Library,
            good: size(Some(&place)),
            bad: size(other.as_ref().map(|(place, _)| place.as_path())),
            members: vec![path.display().to_string()],
            ..Factor::default()
        };
        // The name by which it is found; what it leads to comes with it.
        found.push(Difference { factor, change: Change::Files { paths: vec![good.inside.settled(path)] } });
    }
    found
}

/// The libraries used, by the names that they were opened by; those of the folder before others.
fn by_name<'a>(side: &'a UsedWorld<'_>) -> BTreeMap<String, (&'a Path, &'a [PathBuf])> {
    let mut found = BTreeMap::new();
    for (path, chain) in &side.used {
        let Some(name) = path.file_name().filter(|name| is_library_name(name)) else { continue };
        let name = name.to_string_lossy().into_owned();
        if side.is_of_folder(path) || !found.contains_key(&name) {
            found.insert(name, (path.as_path(), chain.as_slice()));
        }
    }
    found
}
