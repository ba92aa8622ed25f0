//! A world in which some factors are taken from the good one: a folder a factor, laid over the bad world's files.

mod copy;

use super::differences::{Change, Difference};
use super::inside::Inside;
use super::search::Set;
use super::target::{LIBRARIES, target};
use crate::error::LabError;
use crate::journal::{Entry, Journal};
use crate::staged;
use crate::treatment::End;
use crate::world::World;
use crate::worlds::Ready;
use copy::Copying;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where layers lie: in memory, and on no file system that a world's base lies on, which the kernel would refuse.
const PLACE: &str = "/dev/shm";
/// The variable that names folders of libraries to the loader.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// The layers of all factors. They are removed when dropped.
pub struct Layers {
    folder: PathBuf,
    factors: Vec<Factor>,
    journal: Journal,
    entry: Entry,
}

/// What one factor brings.
struct Factor {
    /// Its layer; none where it has no files, or where all are as in the bad world.
    layer: Option<PathBuf>,
    /// Paths of its files inside.
    files: Vec<PathBuf>,
    change: Change,
    is_testable: bool,
    has_libraries: bool,
}

impl Layers {
    /// Copies the files of all factors from the good world to where they belong in the bad one; documentation and what is
    /// the same in the bad world is left out.
    ///
    /// # Errors
    /// Where there is no room in /dev/shm, or a file of the good world cannot be read.
    pub fn lay(differences: &[Difference], good: &Ready, bad: &Ready, journal: &Journal) -> Result<Layers, LabError> {
        let (folder, entry) = staged::make_in(Path::new(PLACE), journal)?;
        let mut layers = Layers { folder, factors: Vec::new(), journal: journal.clone(), entry };
        for (number, difference) in differences.iter().enumerate() {
            let layer = layers.folder.join(number.to_string());
            let factor = lay_factor(difference, good, bad, layer)?;
            layers.factors.push(factor);
        }
        Ok(layers)
    }

    /// A trial's world like `other`, in which an end sees the bad world with the factors of a set taken from the good one.
    #[must_use]
    pub fn world(&self, set: &Set, bad: &Ready, other: &World, end: End) -> World {
        let factors = set.iter().filter_map(|number| self.factors.get(*number)).collect::<Vec<_>>();
        let layers = factors.iter().filter_map(|factor| factor.layer.clone()).collect::<Vec<_>>();
        let mut world = bad.world(other, end, &layers);
        for factor in &factors {
            if let Change::Variable { name, value } = &factor.change {
                world.environment.insert(name.clone(), value.clone());
            }
        }
        if factors.iter().any(|factor| factor.has_libraries) {
            let ours = std::env::var(LIBRARY_PATH).ok();
            let behind = world.environment.get(LIBRARY_PATH).cloned().unwrap_or(ours);
            let path = [Some(LIBRARIES.to_string()), behind.filter(|path| !path.is_empty())];
            let path = path.into_iter().flatten().collect::<Vec<_>>().join(":");
            world.environment.insert(LIBRARY_PATH.to_string(), Some(path));
        }
        world
    }

    /// All factors that can be switched: all but the C library.
    pub fn all_testable(&self) -> Set {
        (0..self.factors.len()).filter(|number| self.factors[*number].is_testable).collect()
    }

    /// The paths inside of a factor's files that differ from the bad world's, sorted.
    pub fn files(&self, factor: usize) -> &[PathBuf] {
        self.factors.get(factor).map(|factor| factor.files.as_slice()).unwrap_or_default()
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        if std::fs::remove_dir_all(&self.folder).is_ok() {
            self.journal.tick_off(self.entry);
        }
    }
}

fn lay_factor(difference: &Difference, good: &Ready, bad: &Ready, layer: PathBuf) -> Result<Factor, LabError> {
    let targets = targets(&difference.change, good, bad);
    let has_libraries = targets.values().any(|target| target.starts_with(LIBRARIES));
    let copying = Copying { good: Inside::of_world(good), bad: Inside::of_world(bad), layer: layer.clone() };
    let mut files = Vec::new();
    for (path, target) in targets {
        if copying.copy(&path, &target)? {
            files.push(target);
        }
    }
    if let Change::Hidden { paths } = &difference.change {
        for path in paths {
            copying.hide(path)?;
            files.push(path.clone());
        }
    }
    files.sort();
    Ok(Factor {
        layer: (!files.is_empty()).then_some(layer),
        files,
        change: difference.change.clone(),
        is_testable: difference.change != Change::Libc,
        has_libraries,
    })
}

/// Where each file of the good world goes.
fn targets(change: &Change, good: &Ready, bad: &Ready) -> BTreeMap<PathBuf, PathBuf> {
    let Change::Files { paths } = change else { return BTreeMap::new() };
    let inside = Inside::of_world(bad);
    paths.iter().map(|path| (path.clone(), target(path, good, bad, &inside))).collect()
}

#[cfg(test)]
mod tests;
