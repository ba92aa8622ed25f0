//! Commits that change documents only: they are not built, since what they are built into is what it was before them.

use super::{Commit, Repository};
use crate::error::LabError;
use std::collections::BTreeSet;

/// How names of documents end.
const ENDINGS: [&str; 8] = [".md", ".markdown", ".rst", ".adoc", ".texi", ".html", ".pdf", ".png"];
/// How they begin, wherever they are: what projects tell their readers, and those who keep them.
const BEGINNINGS: [&str; 14] = [
    "readme",
    "changelog",
    "changes",
    "news",
    "authors",
    "contributors",
    "contributing",
    "copying",
    "license",
    "todo",
    "history",
    ".gitignore",
    ".gitattributes",
    ".mailmap",
];
/// Folders of what is not built, at the top.
const FOLDERS: [&str; 6] = ["doc/", "docs/", "man/", ".github/", ".gitlab/", ".circleci/"];
/// What is never a document, whatever its name begins with: sources, and what builds them.
const SOURCES: [&str; 16] =
    [".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".go", ".py", ".sh", ".pl", ".rb", ".js", ".in", ".am", ".mk", ".cmake"];

/// Whether a path of a repository is by its name a document, which nothing is built from.
pub(super) fn is_document(path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    if SOURCES.iter().any(|ending| name.ends_with(ending)) || name.starts_with("makefile") || name == "cmakelists.txt" {
        return false;
    }
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || FOLDERS.iter().any(|folder| lower.starts_with(folder))
}

impl Repository {
    /// Those of a line's commits, as [`Repository::commits`] lists them, that change nothing but documents, by their hashes.
    /// None where this git cannot tell what a merge changes (before 2.31).
    ///
    /// # Errors
    /// Where git cannot be started.
    pub fn documents_only(&self, commits: &[Commit]) -> Result<BTreeSet<String>, LabError> {
        let Some((first, last)) = commits.first().zip(commits.last()) else { return Ok(BTreeSet::new()) };
        let span = format!("{}^1..{}", first.hash, last.hash);
        let changes = ["--diff-merges=first-parent", "--no-renames", "--name-only", "--format=%x00%H"];
        let words = [&["-c", "core.quotePath=false", "log", "--first-parent"], &changes[..], &[&span]].concat();
        let output = self.run(&self.folder, &words)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let of_documents = text.split('\0').filter_map(|commit| {
            let mut lines = commit.lines().filter(|line| !line.is_empty());
            let hash = lines.next()?;
            let paths = lines.collect::<Vec<_>>();
            // One without any change tells nothing: it may have been written that way to begin something.
            (!paths.is_empty() && paths.iter().all(|path| is_document(path))).then(|| hash.to_string())
        });
        Ok(of_documents.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::is_document;

    #[test]
    fn documents_are_known_by_their_names_and_sources_are_none() {
        for path in ["README", "README.md", "src/README.txt", "docs/logo.svg", ".github/workflows/ci.yml", "ChangeLog"]
        {
            assert!(is_document(path), "{path}");
        }
        for path in ["src/main.c", "history.c", "doc/Makefile", "CMakeLists.txt", "docs/gen.py", "data.txt", "news.h"] {
            assert!(!is_document(path), "{path}");
        }
    }
}
