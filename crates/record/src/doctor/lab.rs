//! What this host lets the lab do when it tries causes: each thing is done once, on nothing of anybody's, and undone.

use super::{Check, check, first_words, refused};
use crate::error::RecordError;
use crate::meter::Meter;
use crate::nginx::nginx;
use crate::program::{self, Input, Mount, ParentDeathSignal, Program};
use crate::socket_program::{SocketOptions, SocketProgram};
use broker::{MakeGroup, RemoveGroup};
use nix::sys::statvfs::{FsFlags, statvfs};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Tries everything.
pub(super) fn checks() -> Vec<Check> {
    let group = Group::make();
    let sockets = sockets(group.as_ref());
    vec![cgroup(group.as_ref()), sockets, meter(), mounts(), trees(), releases(), proxies(), live_sockets(), preload()]
}

/// A control group for the time of the checks.
struct Group(PathBuf);

impl Group {
    fn make() -> Result<Group, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let point = fields.filter(|fields| fields.get(2) == Some(&"cgroup2")).find_map(|fields| Some(*fields.get(1)?));
        let point = point.ok_or("no cgroup v2 is mounted")?;
        let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let ours = membership.lines().find_map(|line| line.strip_prefix("0::/")).ok_or("whyslow is in no cgroup v2")?;
        let folder = PathBuf::from(point).join(ours).join(group_name());
        match broker::ask(MakeGroup { folder: folder.clone() }, &[]) {
            Ok(_) => Ok(Group(folder)),
            Err(error) => Err(format!("cgroup v2 at {point}, but {} cannot be made: {error}", folder.display())),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Nobody was ever in it, so that nothing keeps it.
        let _ = broker::ask(RemoveGroup { folder: self.0.clone() }, &[]);
    }
}

/// As all groups of a run are named.
pub(super) fn group_name() -> String {
    format!("whyslow-{}-doctor", broker::command_pid())
}

fn cgroup(group: Result<&Group, &String>) -> Check {
    let result = group.map(|group| {
        let parent = group.0.parent().map(|parent| parent.display().to_string()).unwrap_or_default();
        format!("cgroup v2, groups can be created in {parent}")
    });
    let remedy = "sudo whyslow doctor; if none is mounted: sudo mount -t cgroup2 none /sys/fs/cgroup/unified";
    check("control groups", result.map_err(Clone::clone), remedy)
}

fn sockets(group: Result<&Group, &String>) -> Check {
    let attached = group.map_err(|_| "needs a cgroup v2".to_string()).and_then(|group| {
        let program = SocketProgram::attach(&group.0, &SocketOptions::default());
        program.map(drop).map_err(|error| first_words(&error.to_string()))
    });
    let result = attached.map(|()| "TCP_NODELAY and delayed ACKs can be set from outside".to_string());
    check("options of connections", result, "sudo whyslow doctor; without it, causes in TCP cannot be proved")
}

fn meter() -> Check {
    let result = Meter::load().map(|_| "loads and attaches".to_string());
    let result = result.map_err(|error| refused(&error));
    check("meter of trials", result, "sudo whyslow doctor; if that fails, too, see the kernel's message above")
}

/// A file is shown in its own place, to a program that is never executed.
fn mounts() -> Check {
    let file = PathBuf::from("/etc/passwd");
    let program = Program {
        arguments: vec!["true".to_string()],
        mounts: vec![Mount { source: file.clone(), target: file }],
        input: Input::Nothing,
        parent_death_signal: ParentDeathSignal::Terminate,
        ..Program::default()
    };
    let result = program.hold().map(|_| "files can be replaced for the program alone".to_string());
    check("private mounts", result.map_err(|error| error.to_string()), "sudo whyslow doctor")
}

/// The host's own tree, with nothing laid over it, for nobody.
fn trees() -> Check {
    let result = program::try_tree().map(|()| "programs can run in a file tree of their own (bisect)".to_string());
    let remedy = "sudo whyslow doctor; the kernel needs overlayfs: sudo modprobe overlay";
    check("trees of files", result.map_err(|error| error.to_string()), remedy)
}

fn releases() -> Check {
    let result = Command::new("mmdebstrap").arg("--version").output().map_err(|_| "mmdebstrap is missing".to_string());
    let result = result.map(|output| {
        let version = String::from_utf8_lossy(&output.stdout).trim().to_string();
        format!("{version} can make Debian releases")
    });
    check("releases as worlds", result, "sudo apt install mmdebstrap")
}

fn proxies() -> Check {
    let result = nginx().map(|place| format!("{place} can be put between programs and their servers"));
    check("proxies in between", result.ok_or_else(|| "nginx is missing".to_string()), "sudo apt install nginx-light")
}

fn live_sockets() -> Check {
    let result = own_socket().map(|()| "options of open sockets can be set from outside".to_string());
    let remedy = "run Linux 5.6 or later, with pidfd_getfd allowed";
    check("sockets of running programs", result.map_err(|error| error.to_string()), remedy)
}

fn own_socket() -> Result<(), RecordError> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(RecordError::io("making a socket"))?;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&listener);
    crate::set_option_in(std::process::id(), descriptor, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)
}

/// Whether the loader looks at LD_PRELOAD (it complains of what is not there), and a library could be laid down for it.
fn preload() -> Check {
    let folder = std::env::temp_dir();
    let allows = statvfs(&folder).is_ok_and(|found| !found.flags().contains(FsFlags::ST_NOEXEC));
    let loader = Command::new("true").env("LD_PRELOAD", "/whyslow-was-here.so").output();
    let complains = loader.is_ok_and(|output| String::from_utf8_lossy(&output.stderr).contains("LD_PRELOAD"));
    let result = match (complains, allows) {
        (true, true) => Ok("shims load into programs that use libc".to_string()),
        (false, _) => Err("the dynamic loader ignores LD_PRELOAD".to_string()),
        (true, false) => Err(format!("{} is mounted noexec", folder.display())),
    };
    check("shims", result, "set TMPDIR to a folder on a file system without noexec")
}
