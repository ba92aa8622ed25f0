//! Whether root may execute a story: its run.sh is executed as whoever runs whyslow, since recording needs root. Nobody may be
//! able to change it who is not root already: by being root, or by owning this very program.

use super::declaration::Story;
use super::error::StoryError;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Writable for the group.
const GROUP: u32 = 0o020;
/// Writable for others.
const OTHERS: u32 = 0o002;
/// What is in such a folder only its owner renames or removes.
const STICKY: u32 = 0o1000;
/// A casebook has some hundred files.
const MOST_FILES: usize = 10_000;

/// Refuses a story that somebody else could have written.
///
/// # Errors
/// Where a file of it, of what its casebook shares, or a folder above is another's or can be written by others; where they cannot be
/// read.
pub(super) fn check(story: &Story) -> Result<(), StoryError> {
    let unread = |error| StoryError::Internal(error);
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    let program = std::env::current_exe().and_then(std::fs::metadata).map_err(unread)?;
    let owners = [0, program.uid()];
    match stranger(&story.folder, &owners).map_err(unread)? {
        Some(path) => Err(StoryError::NotRoots { story: story.name.clone(), path }),
        None => Ok(()),
    }
}

/// The first file or folder that others than these owners can change: above, in a story's folder, or shared beside it.
fn stranger(story: &Path, owners: &[u32]) -> io::Result<Option<PathBuf>> {
    let is_theirs = |found: &Metadata| owners.contains(&found.uid());
    for folder in story.ancestors() {
        let found = folder.metadata()?;
        let is_open = is_open(&found) && found.mode() & STICKY == 0;
        if !is_theirs(&found) || is_open {
            return Ok(Some(folder.to_path_buf()));
        }
    }
    // What is shared lies beside the stories: no story is executed for another.
    let mut left = vec![story.to_path_buf()];
    let beside = std::fs::read_dir(story.parent().unwrap_or(story))?.collect::<io::Result<Vec<_>>>()?;
    left.extend(beside.into_iter().map(|entry| entry.path()).filter(|path| !path.join("story.toml").exists()));
    let mut seen = 0;
    while let Some(path) = left.pop() {
        let found = path.symlink_metadata()?;
        seen += 1;
        // A link itself has no mode; what it leads to is looked at as well.
        let is_link = found.is_symlink();
        if seen > MOST_FILES || !is_theirs(&found) || (!is_link && is_open(&found)) {
            return Ok(Some(path));
        }
        if is_link {
            left.push(path.canonicalize()?);
        } else if found.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                left.push(entry?.path());
            }
        }
    }
    Ok(None)
}

/// Whether others than its owner can write to it. A group of the owner's own, of the same number, is nobody else.
fn is_open(found: &Metadata) -> bool {
    let mode = found.permissions().mode();
    mode & OTHERS != 0 || (mode & GROUP != 0 && found.gid() != found.uid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{chown, symlink};

    fn casebook() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let story = folder.path().join("story");
        fs::create_dir(&story).expect("made");
        for file in ["story/run.sh", "story/story.toml", "session.sh"] {
            fs::write(folder.path().join(file), "").expect("written");
        }
        for path in ["", "story", "story/run.sh", "story/story.toml", "session.sh"] {
            fs::set_permissions(folder.path().join(path), Permissions::from_mode(0o755)).expect("ours");
        }
        (folder, story)
    }

    #[test]
    fn a_story_is_trusted_where_nobody_else_can_write_to_it() {
        let (folder, story) = casebook();
        let own = [0, nix::unistd::geteuid().as_raw()];
        let found = || stranger(&story, &own).expect("looked at");
        assert_eq!(found(), None);
        for path in ["story/run.sh", "session.sh", "story", ""] {
            let path = folder.path().join(path);
            fs::set_permissions(&path, Permissions::from_mode(0o757)).expect("ours");
            assert!(found().is_some(), "{}", path.display());
            fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("ours");
        }
        let elsewhere = tempfile::tempdir().expect("a folder");
        let open = elsewhere.path().join("open.sh");
        fs::write(&open, "").expect("written");
        fs::set_permissions(&open, Permissions::from_mode(0o666)).expect("ours");
        symlink(&open, story.join("link")).expect("linked");
        assert_eq!(found(), Some(open.canonicalize().expect("there")));
        fs::remove_file(story.join("link")).expect("removed");
        // Another story is not executed.
        fs::create_dir(folder.path().join("other")).expect("made");
        fs::write(folder.path().join("other/story.toml"), "").expect("written");
        fs::set_permissions(folder.path().join("other/story.toml"), Permissions::from_mode(0o666)).expect("ours");
        assert_eq!(found(), None);
    }

    #[test]
    fn what_another_user_owns_is_not_trusted() {
        if !testing::is_root() {
            return;
        }
        let (folder, story) = casebook();
        for path in ["story/run.sh", "session.sh", "story"] {
            let path = folder.path().join(path);
            chown(&path, Some(7), Some(7)).expect("root's right");
            assert_eq!(stranger(&story, &[0]).expect("looked at"), Some(path.clone()));
            assert_eq!(stranger(&story, &[0, 7]).expect("looked at"), None, "who owns the program is trusted");
            chown(&path, Some(0), Some(0)).expect("root's right");
        }
        let group = Permissions::from_mode(0o775);
        chown(&story, Some(0), Some(7)).expect("root's right");
        fs::set_permissions(&story, group).expect("root's right");
        assert_eq!(stranger(&story, &[0]).expect("looked at"), Some(story));
    }
}
