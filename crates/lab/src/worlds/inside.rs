//! Paths inside a tree that is not `/`: links in it lead where they would lead for a program that runs there.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// The folders that are links into /usr on a merged system.
pub(super) const MERGED: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// The paths that a path leads over, as far as links go: after each link that was followed, the rest of the path. The
/// last is where it ends.
pub(super) fn steps(base: &Path, path: &Path) -> Vec<PathBuf> {
    let mut steps = Vec::new();
    let mut left = names(path);
    let mut reached = PathBuf::from("/");
    while let Some(name) = left.pop_front() {
        if name == ".." {
            reached.pop();
            continue;
        }
        reached.push(&name);
        let on_host = base.join(reached.strip_prefix("/").unwrap_or(&reached));
        let Ok(target) = std::fs::read_link(on_host) else { continue };
        if steps.len() == MOST_LINKS {
            return steps;
        }
        reached.pop();
        if target.is_absolute() {
            reached = PathBuf::from("/");
        }
        names(&target).into_iter().rev().for_each(|name| left.push_front(name));
        steps.push(left.iter().fold(reached.clone(), |path, name| path.join(name)));
    }
    steps.push(reached);
    steps
}

fn names(path: &Path) -> VecDeque<OsString> {
    let name = |component| match component {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_where_they_would_lead_inside() {
        let base = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(base.path().join("usr/lib")).expect("made");
        symlink("usr/lib", base.path().join("lib")).expect("linked");
        symlink("/usr/lib/b", base.path().join("usr/lib/a")).expect("linked");
        symlink("../lib/c", base.path().join("usr/lib/b")).expect("linked");
        let steps = steps(base.path(), Path::new("/lib/a"));
        assert_eq!(steps, ["/usr/lib/a", "/usr/lib/b", "/usr/lib/../lib/c", "/usr/lib/c"].map(PathBuf::from));
    }

    #[test]
    fn a_circle_of_links_has_an_end() {
        let base = tempfile::tempdir().expect("a folder");
        symlink("b", base.path().join("a")).expect("linked");
        symlink("a", base.path().join("b")).expect("linked");
        assert_eq!(steps(base.path(), Path::new("/a")).len(), MOST_LINKS);
    }
}
