//! The programs and plug-ins that loaders are asked about.

use super::Ground;
use crate::LabError;
use crate::bisect::inside::Inside;
use crate::bisect::linkage::{Linkage, check};
use crate::world::World;
use crate::worlds::Ready;
use record::executable::Elf;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is asked about, by the paths used.
pub(super) struct Objects {
    /// Programs of both worlds.
    pub programs: Vec<PathBuf>,
    /// These, and the libraries that programs opened in the bad world while they ran.
    pub asked: Vec<PathBuf>,
    /// The libraries that programs opened only in the good world.
    pub beside: Vec<PathBuf>,
    /// What the subject opens in the bad world by itself: all but the libraries that its programs need.
    pub opened: Vec<PathBuf>,
    /// Real paths of the plug-ins of the bad world.
    plug_ins: BTreeSet<PathBuf>,
}

impl Objects {
    /// Whether a library of the bad world was opened by a program while it ran.
    pub fn is_plug_in(&self, real: &Path) -> bool {
        self.plug_ins.contains(real)
    }
}

/// What one world has.
struct Found {
    programs: Vec<PathBuf>,
    plug_ins: Vec<PathBuf>,
    /// All files used but libraries that programs need.
    opened: Vec<PathBuf>,
    linkage: Linkage,
}

/// Finds them, with what the loader says of the good world's.
pub(super) fn find(
    ground: &Ground<'_>,
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<(Objects, Linkage), LabError> {
    let Ground { good, bad, used_good, used_bad, world, end, .. } = *ground;
    let mut of = |ready: &Ready, used| found(ready, used, &ready.world(world, end, &[]), ground, wait);
    let (there, here) = (of(good, used_good)?, of(bad, used_bad)?);
    let programs = here.programs.iter().chain(&there.programs).cloned().collect::<BTreeSet<_>>();
    let programs = programs.into_iter().collect::<Vec<_>>();
    let inside = Inside::of_world(bad);
    let objects = Objects {
        asked: [programs.clone(), here.plug_ins.clone()].concat(),
        programs,
        beside: there.plug_ins.into_iter().filter(|path| !here.plug_ins.contains(path)).collect(),
        plug_ins: here.plug_ins.iter().filter_map(|path| inside.real(path)).collect(),
        opened: here.opened,
    };
    Ok((objects, there.linkage))
}

fn found(
    ready: &Ready,
    used: &BTreeSet<PathBuf>,
    world: &World,
    ground: &Ground<'_>,
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Found, LabError> {
    let inside = Inside::of(ready.root(&[]));
    let (mut programs, mut libraries, mut opened) = (Vec::new(), BTreeMap::new(), Vec::new());
    for path in used {
        let Some(place) = inside.on_host(path).filter(|place| place.is_file()) else { continue };
        match Elf::read(&place) {
            Some(elf) if elf.loader.is_some() => programs.push(path.clone()),
            Some(elf) => {
                libraries.insert(path.clone(), elf);
                continue;
            }
            None if is_executable(&place) => programs.push(path.clone()),
            None => {}
        }
        opened.push(path.clone());
    }
    let needed = check(world, ground.end, &programs, wait)?;
    let needed = needed.loaded.values().filter_map(|path| inside.real(path)).collect::<BTreeSet<_>>();
    let plug_ins = plug_ins(&libraries, &needed, &inside);
    opened.extend(plug_ins.iter().cloned());
    let linkage = check(world, ground.end, &[programs.clone(), plug_ins.clone()].concat(), wait)?;
    Ok(Found { programs, plug_ins, opened, linkage })
}

/// The libraries that neither programs nor other libraries need: opened by name.
fn plug_ins(libraries: &BTreeMap<PathBuf, Elf>, needed: &BTreeSet<PathBuf>, inside: &Inside) -> Vec<PathBuf> {
    let names = libraries.values().flat_map(|elf| &elf.needed).collect::<BTreeSet<_>>();
    let is_plug_in = |(path, elf): &(&PathBuf, &Elf)| {
        let mut own = path.file_name().and_then(|name| name.to_str()).into_iter().chain(elf.soname.as_deref());
        let is_needed = own.any(|name| names.contains(&name.to_string()));
        !is_needed && inside.real(path).is_some_and(|real| !needed.contains(&real))
    };
    libraries.iter().filter(is_plug_in).map(|(path, _)| path.clone()).collect()
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}
