//! What of the cache is root's: whole worlds, which only root makes and only root gets to, for old programs with root's rights are
//! in them. Under sudo the command asks the broker for them; what it fetches and builds itself it keeps in a folder of its own.

use super::{Made, Store};
use crate::LabError;
use crate::worlds::refusal::Refusal;
use broker::{Reply, Request, ask, reply, with_files};
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::fstat;
use nix::unistd::{Gid, Uid, fchown};
use serde::{Deserialize, Serialize};
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// Asks for the folder of the cache that is the caller's own.
#[derive(Serialize, Deserialize)]
pub(crate) struct OpenCache;

/// Where it is.
#[derive(Serialize, Deserialize)]
pub(crate) struct Cache {
    /// The folder.
    pub own: PathBuf,
    /// The empty folder of root's in which trees are put together.
    pub place: PathBuf,
}

impl Request for OpenCache {
    const NAME: &'static str = "open-cache";
    const CHECKS: &'static str = "nothing to choose: a folder of the cache named after the caller, and the caller's; the cache is below folders that \
         only root can exchange";
    type Answer = Cache;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Cache>> {
        let store = roots()?;
        let place = store.place().map_err(io::Error::other)?;
        let Some(owner) = broker::becomes() else {
            return reply(Cache { own: store.root().to_path_buf(), place });
        };
        let own = store.root().join(format!("of-{}", owner.uid));
        match DirBuilder::new().mode(0o755).create(&own) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let how = OpenHow::new().flags(OFlag::O_DIRECTORY | OFlag::O_CLOEXEC).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
        let folder = openat2(nix::fcntl::AT_FDCWD, &own, how)?;
        if ![0, owner.uid].contains(&fstat(&folder)?.st_uid) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        fchown(&folder, Some(Uid::from_raw(owner.uid)), Some(Gid::from_raw(owner.gid)))?;
        reply(Cache { own, place })
    }
}

/// Asks which worlds there are.
#[derive(Serialize, Deserialize)]
pub(crate) struct ListWorlds;

impl Request for ListWorlds {
    const NAME: &'static str = "list-worlds";
    const CHECKS: &'static str = "nothing to choose: the worlds of root's cache, and what root has written of each";
    type Answer = Vec<Made>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Vec<Made>>> {
        reply(roots()?.worlds().map_err(io::Error::other)?)
    }
}

/// Asks for the files of a world.
#[derive(Serialize, Deserialize)]
pub(crate) struct OpenWorld {
    pub name: String,
}

impl Request for OpenWorld {
    const NAME: &'static str = "open-world";
    const CHECKS: &'static str =
        "a whole world of root's cache, by its name; for reading, and its programs gain no rights by their mode";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        let worlds = roots()?.worlds().map_err(io::Error::other)?;
        let world = worlds.into_iter().find(|world| world.name == self.name).ok_or(io::ErrorKind::NotFound)?;
        with_files((), vec![record::trees::hand_over(&world.tree)?])
    }
}

/// Asks for the removal of a world, or of all and of the packages that they were made of.
#[derive(Serialize, Deserialize)]
pub(crate) struct RemoveWorld {
    pub name: Option<String>,
}

impl Request for RemoveWorld {
    const NAME: &'static str = "remove-world";
    const CHECKS: &'static str =
        "a world of root's cache by its name, or all of them and the packages downloaded for them";
    type Answer = Result<(), Refusal>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        let store = roots()?;
        let removed = self.name.as_deref().map_or_else(|| store.clear(), |name| store.remove(name));
        reply(removed.map_err(Refusal::from))
    }
}

/// The cache as root has it. Under sudo nobody else can have put another in its place.
pub(in crate::worlds) fn roots() -> io::Result<Store> {
    let root = Store::place_of_root().ok_or(io::ErrorKind::NotFound)?;
    let is_there = root.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    if broker::becomes().is_some() && !is_there.is_some_and(record::trees::is_roots) {
        let why = format!("{} is below a folder that others than root can exchange", root.display());
        return Err(io::Error::other(why));
    }
    Store::at(&root).map_err(io::Error::other)
}

/// Root's worlds as the command sees them.
pub(super) fn worlds() -> Result<Vec<Made>, LabError> {
    let listed = ask(ListWorlds, &[]).map_err(LabError::io("the cache of worlds"))?.answer;
    let opened = |world: Made| {
        let opened = ask(OpenWorld { name: world.name.clone() }, &[]).ok()?.files.pop()?;
        Some(Made { files: record::trees::keep(&world.tree, opened), ..world })
    };
    Ok(listed.into_iter().filter_map(opened).collect())
}

/// Removes root's worlds.
pub(super) fn remove(name: Option<&str>) -> Result<(), LabError> {
    let removed =
        ask(RemoveWorld { name: name.map(String::from) }, &[]).map_err(LabError::io("the cache of worlds"))?;
    removed.answer.map_err(LabError::from)
}
