//! What of the host is seen inside a world: what a subject works with, and never what the world is made of.

use super::script;
use std::path::{Path, PathBuf};

/// What every program expects to be as it is outside: the kernel's own, what comes and goes, and the user's files.
const ALWAYS: [&str; 11] =
    ["/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp", "/home", "/root", "/mnt", "/media", "/srv"];
/// Who is who, and which host is where.
const FILES: [&str; 4] = ["/etc/resolv.conf", "/etc/hosts", "/etc/passwd", "/etc/group"];
/// What a world has of its own: anything in these folders comes from it.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/var/lib"];

/// What is the user's or comes and goes: nothing that a library is built by.
const OTHERS: [&str; 9] = ["/sys", "/run", "/tmp", "/var/tmp", "/home", "/root", "/mnt", "/media", "/srv"];

/// Whether a path belongs to the system, and thus to the world.
pub(super) fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// What is shared with a command that runs in a folder.
pub(super) fn shared(command: &[String], folder: &Path) -> Vec<PathBuf> {
    let mut shared = ALWAYS.iter().chain(&FILES).map(PathBuf::from).collect::<Vec<_>>();
    let in_script = script::words(command);
    let named = command.iter().chain(&in_script).map(|word| folder.join(word)).filter(|path| path.exists());
    let folders = named.filter_map(|path| Some(path.parent()?.to_path_buf()));
    for folder in std::iter::once(folder.to_path_buf()).chain(folders) {
        // The name that is used, and where it leads when links are followed.
        let real = folder.canonicalize().ok();
        let plain =
            std::path::absolute(&folder).ok().filter(|path| path.components().all(|part| part.as_os_str() != ".."));
        plain.into_iter().chain(real).for_each(|folder| add(&mut shared, folder));
    }
    shared
}

/// Adds a folder, unless it is in the world's part of the tree or above it, or seen already.
pub(super) fn add(shared: &mut Vec<PathBuf>, folder: PathBuf) {
    let hides = SYSTEM.iter().any(|system| Path::new(system).starts_with(&folder));
    let is_seen = shared.iter().any(|known| folder.starts_with(known));
    if !hides && !is_seen && !is_of_system(&folder) {
        shared.push(folder);
    }
}

/// What is shared with a build: its own folder, the kernel's files, and where else the system's programs lie. Whatever it writes
/// elsewhere goes to memory, and what hangs in the tree of others' files is not there.
pub(crate) fn for_build(folder: &Path) -> Vec<PathBuf> {
    let mut shared = ["/proc", "/dev"].map(PathBuf::from).to_vec();
    shared.push(folder.to_path_buf());
    add_mounts(&mut shared);
    let is_others = |path: &PathBuf| path != folder && OTHERS.iter().any(|others| path.starts_with(others));
    shared.retain(|path| !is_others(path));
    shared
}

/// Where other file systems hang in the host's tree: a layer over `/` shows their empty folders only.
pub(super) fn add_mounts(shared: &mut Vec<PathBuf>) {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut points = text.lines().filter_map(|line| line.split(' ').nth(4)).map(unescaped).collect::<Vec<_>>();
    points.sort();
    for point in points {
        let is_seen = shared.iter().any(|known| point.starts_with(known));
        if point != Path::new("/") && !is_seen {
            shared.push(point);
        }
    }
}

/// A path as the kernel writes it into a list: a blank is `\040`.
fn unescaped(text: &str) -> PathBuf {
    let parts = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    PathBuf::from(parts.iter().fold(text.to_string(), |text, (code, letter)| text.replace(code, letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_subjects_folders_are_seen_and_the_worlds_are_not_hidden() {
        let place = tempfile::tempdir_in("/var").expect("a folder");
        let place = place.path().canonicalize().expect("a path");
        std::fs::write(place.join("program"), "").expect("written");
        let program = place.join("program").display().to_string();
        let seen = shared(&words(&["sh", "-c", &format!("{program} once")]), Path::new("/"));
        assert!(seen.contains(&place), "{seen:?}");
        let seen = shared(&words(&[&program, "/usr/bin/env", "/etc/passwd", "/nothing/there"]), Path::new("/"));
        assert!(seen.contains(&place), "{seen:?}");
        for hidden in ["/", "/usr", "/usr/bin", "/etc", "/nothing", "/var"] {
            assert!(!seen.contains(&PathBuf::from(hidden)), "{hidden}");
        }
    }

    #[test]
    fn what_lies_in_a_shared_folder_is_not_shared_again() {
        let seen = shared(&words(&["./x"]), Path::new("/tmp"));
        assert_eq!(seen.len(), ALWAYS.len() + FILES.len());
    }
}
