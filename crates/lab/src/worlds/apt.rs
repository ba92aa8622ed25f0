//! Packages of another release installed into a world by apt, as its user would: in an overlay, so that the world stays as
//! it is.

use super::debian::{ARCHIVES, refused};
use super::making;
use super::mirror::{self, PATIENCE};
use super::sandbox;
use super::store::Store;
use super::tool::{self, Watch};
use crate::LabError;
use crate::journal::{Entry, Journal};
use crate::staged;
use record::Program;
use std::fs::{DirBuilder, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where layers are made: on a file system of its own, so that they can be laid over `/` too.
const PLACE: &str = "/dev/shm";
/// What a user types, too.
const INSTALL: [&str; 3] = ["install", "--no-install-recommends", "--allow-downgrades"];
/// The keys, under a name that no package has.
const KEYRING: &str = "usr/share/keyrings/whyslow.gpg";
/// Puts the overlay together, in a mount namespace that goes with its last process, and runs apt in it. Its words: our
/// folder, the base, the folder of archives, the packages.
const SCRIPT: &str = r#"set -e
own=$1 base=$2 archives=$3 root=$1/root
shift 3
mount -t overlay overlay -o "redirect_dir=off,metacopy=off,index=off,lowerdir=$own/aside:$base,upperdir=$own/upper,workdir=$own/work" "$root"
for part in proc sys dev; do mount --rbind "/$part" "$root/$part"; done
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/var/lib/apt/lists"
mount --bind "$archives" "$root/var/cache/apt/archives"
export APT_CONFIG=/etc/apt/whyslow.conf
chroot "$root" apt-get --error-on=any update
chroot "$root" apt-get -y INSTALL "$@"
"#;

/// Packages that were installed over a world.
#[derive(Debug)]
pub struct Installed {
    /// What differs from the world: a layer to be laid over it. It goes when this is dropped.
    pub layer: PathBuf,
    /// What a user types to the same end, the line for apt's sources included.
    pub command: String,
    /// What apt did, a line each: `Setting up libcurl4:amd64 (7.74.0-1.3+deb11u13)`, `Removing ...`.
    pub done: Vec<String>,
    _kept: Kept,
}

/// What keeps the layer there.
#[derive(Debug)]
enum Kept {
    /// We do: the folder that it is in.
    ByUs { folder: PathBuf, journal: Journal, entry: Entry },
    /// The process of root's that has made it, for as long as this is open.
    ByMaker { _socket: OwnedFd },
}

/// Installs packages of a suite, by name and version, over a world. Takes root's rights; the world is not changed, no
/// service is started.
///
/// # Errors
/// Where apt cannot install them, with its words; where the mirror cannot be reached; [`LabError::Interrupted`].
pub fn install_over(
    base: &Path,
    suite: &str,
    packages: &[(String, String)],
    store: &Store,
    journal: &Journal,
    say: &dyn Fn(&str),
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Installed, LabError> {
    mirror::check_suite(suite)?;
    packages.iter().try_for_each(|(name, _)| mirror::check_package(name))?;
    if broker::has_dropped() {
        let (layer, command, done, socket) = making::install(suite, packages, base, say, wait)?;
        return Ok(Installed { layer, command, done, _kept: Kept::ByMaker { _socket: socket } });
    }
    let mirror = mirror::mirror();
    let (folder, entry) = staged::make_in(Path::new(PLACE), journal)?;
    let names = packages.iter().map(|(name, version)| format!("{name}={version}")).collect::<Vec<_>>();
    let (layer, command) = (folder.join("upper"), command(&mirror, suite, &names));
    let kept = Kept::ByUs { folder: folder.clone(), journal: journal.clone(), entry };
    let mut installed = Installed { layer, command, done: Vec::new(), _kept: kept };
    lay_out(&folder, &mirror, suite)?;
    say(&format!("installing {} from {suite}, in an overlay", names.join(", ")));
    let own = [&folder, &base.to_path_buf(), &store.folder(ARCHIVES)?].map(|path| path.display().to_string());
    let script = SCRIPT.replace("INSTALL", &INSTALL.join(" "));
    let start = ["unshare", "--mount", "--propagation", "private", "sh", "-c", &script, "sh"].map(String::from);
    let plain =
        [("LC_ALL", "C.UTF-8"), ("DEBIAN_FRONTEND", "noninteractive"), ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")];
    let program = Program {
        arguments: start.into_iter().chain(own).chain(names).collect(),
        environment: plain.map(|(name, value)| (name.into(), Some(value.into()))).to_vec(),
        folder: Some("/".into()),
        ..Program::default()
    };
    let done = tool::run(program, &folder.join("log"), &Watch::SILENT, say, wait)?;
    if !done.is_well() {
        return Err(refused::refused(suite, &mirror, &[], &done));
    }
    let is_deed = |line: &&str| line.starts_with("Setting up ") || line.starts_with("Removing ");
    installed.done =
        done.said.lines().filter(is_deed).map(|line| line.trim_end_matches([' ', '.']).to_string()).collect();
    Ok(installed)
}

/// What is seen inside besides and belongs to no layer: the suite, its keys, apt's settings, and that no service starts.
fn lay_out(folder: &Path, mirror: &str, suite: &str) -> Result<(), LabError> {
    for part in ["upper", "work", "root", "aside"] {
        let path = folder.join(part);
        std::fs::create_dir(&path).map_err(LabError::io(&path))?;
        // What lies on top gives the whole its mode, and apt's own user has to pass.
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(LabError::io(path))?;
    }
    let aside = folder.join("aside");
    let settings = [
        // The base's own, whatever its number: all that it needs inside is open to it.
        (sandbox::SETTING, sandbox::USER),
        ("Dir::Cache::pkgcache", ""),
        ("Dir::Cache::srcpkgcache", ""),
        ("Acquire::Languages", "none"),
        ("Dpkg::Use-Pty", "0"),
        ("Dpkg::Options::", "--force-confold"),
    ];
    let settings = settings.iter().chain(&PATIENCE).map(|(name, value)| format!("{name} \"{value}\";\n"));
    let source = format!("deb [signed-by=/{KEYRING}] {mirror} {suite} main\n");
    let keys = mirror::keyring()?;
    let files = [
        ("etc/apt/sources.list.d/whyslow.list", source.into_bytes(), 0o644),
        ("etc/apt/whyslow.conf", settings.collect::<String>().into_bytes(), 0o644),
        (KEYRING, std::fs::read(&keys).map_err(LabError::io(&keys))?, 0o644),
        // 101: the action is forbidden (invoke-rc.d(8)).
        ("usr/sbin/policy-rc.d", b"#!/bin/sh\nexit 101\n".to_vec(), 0o755),
        ("etc/resolv.conf", std::fs::read("/etc/resolv.conf").unwrap_or_default(), 0o644),
    ];
    for (name, content, mode) in files {
        let path = aside.join(name);
        let made = path.parent().map_or(Ok(()), |folder| DirBuilder::new().recursive(true).mode(0o755).create(folder));
        let written = made.and_then(|()| std::fs::write(&path, content));
        let set = written.and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(mode)));
        set.map_err(LabError::io(path))?;
    }
    Ok(())
}

/// What a user types.
fn command(mirror: &str, suite: &str, names: &[String]) -> String {
    format!(
        "echo 'deb {mirror} {suite} main' | sudo tee /etc/apt/sources.list.d/{suite}.list && sudo apt update && \
         sudo apt {} {}",
        INSTALL.join(" "),
        names.join(" ")
    )
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Kept::ByUs { folder, journal, entry } = self else { return };
        if std::fs::remove_dir_all(folder).is_ok() {
            journal.tick_off(*entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_source_and_each_version() {
        let command = command("http://mirror/debian", "bullseye", &["a=1".into(), "b=2~x".into()]);
        assert!(command.starts_with("echo 'deb http://mirror/debian bullseye main' | sudo tee"), "{command}");
        assert!(
            command.ends_with("sudo apt install --no-install-recommends --allow-downgrades a=1 b=2~x"),
            "{command}"
        );
    }
}
