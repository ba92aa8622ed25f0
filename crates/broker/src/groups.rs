//! Control groups of a run: made, set, entered and removed, each by a path that is checked to be one of ours.

use crate::request::{Reply, Request, reply};
use crate::role::{command_pid, is_broker};
use crate::watched::check_subject;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::Mode;
use nix::sys::statfs::fstatfs;
use nix::unistd::{UnlinkatFlags, unlinkat};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// `CGROUP_SUPER_MAGIC` and `CGROUP2_SUPER_MAGIC` of linux/magic.h.
const GROUP_FILE_SYSTEMS: [i64; 2] = [0x0027_e0eb, 0x6367_7270];
/// What may be set in a group of ours.
const SETTINGS: [&str; 6] =
    ["cgroup.kill", "cpu.max", "cpu.cfs_period_us", "cpu.cfs_quota_us", "memory.max", "memory.limit_in_bytes"];

/// Asks for a group.
#[derive(Serialize, Deserialize)]
pub struct MakeGroup {
    /// Its folder.
    pub folder: PathBuf,
}

/// Asks for something to be written into a file of a group.
#[derive(Serialize, Deserialize)]
pub struct SetGroup {
    /// The group's folder.
    pub folder: PathBuf,
    /// The file's name.
    pub file: String,
    /// What is written.
    pub value: String,
}

/// Asks for a process to be moved into a group.
#[derive(Serialize, Deserialize)]
pub struct Enter {
    /// The group's folder.
    pub folder: PathBuf,
    /// The process.
    pub pid: u32,
}

/// Asks for an empty group to be removed.
#[derive(Serialize, Deserialize)]
pub struct RemoveGroup {
    /// Its folder.
    pub folder: PathBuf,
}

impl Request for MakeGroup {
    const NAME: &'static str = "make-group";
    const CHECKS: &'static str =
        "on a file system of control groups, without links, named after this run or inside of one that is";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        check_group(&self.folder)?;
        let (parent, name) = parted(&self.folder)?;
        nix::sys::stat::mkdirat(open(parent)?, name, Mode::from_bits_truncate(0o755))?;
        reply(())
    }
}

impl Request for SetGroup {
    const NAME: &'static str = "set-group";
    const CHECKS: &'static str =
        "as make-group; six settings: the limits of CPU time and memory, and the end of all in it";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        check_group(&self.folder)?;
        if is_broker() && !SETTINGS.contains(&self.file.as_str()) {
            return Err(refused());
        }
        write(&self.folder, &self.file, &self.value)
    }
}

impl Request for Enter {
    const NAME: &'static str = "enter-group";
    const CHECKS: &'static str = "as make-group, or the command's own group; the process is the subject's";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        if !is_commands(&self.folder) {
            check_group(&self.folder)?;
        }
        check_subject(self.pid)?;
        write(&self.folder, "cgroup.procs", &self.pid.to_string())
    }
}

impl Request for RemoveGroup {
    const NAME: &'static str = "remove-group";
    const CHECKS: &'static str = "as make-group; the kernel removes none in which a process runs";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        check_group(&self.folder)?;
        let (parent, name) = parted(&self.folder)?;
        unlinkat(open(parent)?, name, UnlinkatFlags::RemoveDir)?;
        reply(())
    }
}

/// Whether a folder is a group of this run, or in one; outside of a broker it is left to the kernel.
///
/// # Errors
/// Where it is another's.
pub fn check_group(folder: &Path) -> io::Result<()> {
    let ours = format!("whyslow-{}-", command_pid());
    let is_ours = |name: &Path| name.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&ours));
    let is_named = is_ours(folder) || folder.parent().is_some_and(is_ours);
    if !is_broker() || (is_plain(folder) && is_named) { Ok(()) } else { Err(refused()) }
}

/// Whether a folder is a control group: on a file system of theirs, and reached over no link. What looks like one elsewhere may list
/// anybody's processes.
pub fn is_group(folder: &Path) -> bool {
    is_plain(folder) && opened(folder).is_ok_and(|(_, is_group)| is_group)
}

/// Writes a value into a file of a group.
///
/// # Errors
/// Where the folder is no control group, or the kernel refuses.
pub fn write_in_group(folder: &Path, file: &str, value: &str) -> io::Result<()> {
    write(folder, file, value).map(|_| ())
}

/// Whether it is the group, in some hierarchy, that the command runs in: to it a subject is handed back.
fn is_commands(folder: &Path) -> bool {
    let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", command_pid())).unwrap_or_default();
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    // The mount may show a part of the hierarchy only, so that the end of the path is what can be compared.
    let is_it = |path: &str| if path.is_empty() { is_top(folder) } else { folder.ends_with(path) };
    is_plain(folder) && paths.map(|path| path.trim_start_matches('/')).any(is_it)
}

/// Whether a hierarchy is mounted there.
fn is_top(folder: &Path) -> bool {
    let device = |path: &Path| path.symlink_metadata().map(|found| found.dev()).ok();
    folder.parent().is_some_and(|above| device(above) != device(folder))
}

fn is_plain(folder: &Path) -> bool {
    folder.is_absolute() && folder.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

fn parted(folder: &Path) -> io::Result<(&Path, &std::ffi::OsStr)> {
    folder.parent().zip(folder.file_name()).ok_or_else(refused)
}

/// The folder, opened without following a link; an error where it is no control group.
fn open(folder: &Path) -> io::Result<OwnedFd> {
    let (opened, is_group) = opened(folder)?;
    if !is_broker() || is_group { Ok(opened) } else { Err(refused()) }
}

/// The folder, opened without following a link, and whether it is a control group.
fn opened(folder: &Path) -> io::Result<(OwnedFd, bool)> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let how = OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    let opened = openat2(nix::fcntl::AT_FDCWD, folder, how)?;
    let kind = fstatfs(opened.as_fd())?.filesystem_type().0 as i64;
    Ok((opened, GROUP_FILE_SYSTEMS.contains(&kind)))
}

fn write(folder: &Path, file: &str, value: &str) -> io::Result<Reply<()>> {
    let how = OpenHow::new().flags(OFlag::O_WRONLY | OFlag::O_CLOEXEC).resolve(ResolveFlag::RESOLVE_BENEATH);
    let opened = openat2(open(folder)?, file, how)?;
    File::from(opened).write_all(value.as_bytes())?;
    reply(())
}

fn refused() -> io::Error {
    io::Error::from_raw_os_error(libc::EPERM)
}
