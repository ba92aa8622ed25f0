//! Which source packages files belong to, in both worlds.

use super::question::Asked;
use diagnose::LibraryBlame;
use lab::worlds::Packages;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The packages of the bad world and of the good one; none where a world is not made of packages.
pub struct Owners {
    bad: Option<Packages>,
    good: Option<Packages>,
}

impl Owners {
    /// Reads them.
    pub fn read(asked: &Asked) -> Owners {
        Owners { bad: Packages::read(&asked.bad.base).ok(), good: Packages::read(&asked.good.base).ok() }
    }

    /// The sources that own a path, the bad world's first.
    pub fn sources(&self, path: &Path) -> Vec<String> {
        let packages = [&self.bad, &self.good].into_iter().flatten();
        packages.filter_map(|packages| packages.owner(path)).map(|package| package.source.clone()).collect()
    }

    /// The part of the bad world's CPU time, and of the difference, that lies in each source's libraries.
    pub fn shares(&self, blames: &[LibraryBlame]) -> BTreeMap<String, (f64, f64)> {
        let mut shares: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for blame in blames {
            let Some(source) = self.sources(Path::new(&blame.library)).into_iter().next() else { continue };
            let share = shares.entry(source).or_default();
            *share = (share.0 + blame.cpu_share, share.1 + blame.difference);
        }
        shares
    }

    /// The binary packages of a source that own some of these paths in the bad world, and the libraries among these.
    pub fn members(&self, source: &str, used: &BTreeSet<PathBuf>) -> (Vec<String>, Vec<String>) {
        let Some(bad) = &self.bad else { return Default::default() };
        let own = used.iter().filter_map(|path| Some((path, bad.owner(path)?))).filter(|(_, one)| one.source == source);
        let (mut packages, mut libraries) = (BTreeSet::new(), BTreeSet::new());
        for (path, package) in own {
            packages.insert(package.name.clone());
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            libraries.extend(name.filter(|name| name.contains(".so.")));
        }
        (packages.into_iter().collect(), libraries.into_iter().collect())
    }
}
