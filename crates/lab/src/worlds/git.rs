//! Commits of a git repository as worlds: each is checked out into a folder of the cache's and built there. The user's
//! repository is only read: no worktree, no branch, no file of it is touched.
//!
//! | file | what it knows |
//! |---|---|
//! | `artefact` | what it was built into, as a digest |
//! | `built` | a commit, checked out and built, kept for the next time |
//! | `documents` | which commits change documents only |

mod artefact;
mod built;
mod documents;

use super::{Ready, WorldName};
use crate::error::LabError;
use built::Checkout;
use record::User;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Letters of a hash that are shown.
const SHORT: usize = 10;

/// A repository, and how its commits are built.
#[derive(Clone, Debug)]
pub struct Repository {
    /// A folder in it.
    pub folder: PathBuf,
    /// What is run with `sh -c` in each commit's folder; empty for nothing.
    pub build: String,
    /// Where commits are kept that were built.
    pub cache: PathBuf,
    /// Who builds, and owns what is built; none is who we are.
    pub user: Option<User>,
    /// What is to run in the commits' folders; empty for nothing in particular.
    pub command: Vec<String>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its whole hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// When it was committed: seconds since 1970.
    pub seconds: i64,
}

impl Commit {
    /// The hash's first letters, as people write it.
    pub fn short(&self) -> &str {
        self.hash.get(..SHORT).unwrap_or(&self.hash)
    }
}

impl Repository {
    /// The commit that a revision names.
    ///
    /// # Errors
    /// Where there is no repository, or no such commit in it.
    pub fn commit(&self, revision: &str) -> Result<Commit, LabError> {
        let wanted = format!("{revision}^{{commit}}");
        let hash = self.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
        let hash = hash.ok_or_else(|| {
            let folder = self.folder.display();
            LabError::World(format!("git:{revision}: the repository of {folder} has no such commit"))
        })?;
        let lines = self.lines(&["log", "-1", FORMAT, &hash])?;
        lines.first().map_or_else(|| Err(self.strange()), |line| self.parse(line))
    }

    /// The world of a revision: checked out, built at its top, and kept; programs run in its folder that the user is in, where it
    /// has it. `shared` and `place` as in [`Ready`]; `is_over` is asked
    /// now and then whether the user wants an end.
    ///
    /// # Errors
    /// Where there is no such commit, it does not build (with the last lines that were said, and the log's place), or the command
    /// names by an absolute path what each commit has of its own.
    pub fn ready(
        &self,
        revision: &str,
        shared: &[PathBuf],
        place: &Path,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Ready, LabError> {
        let commit = self.commit(revision)?;
        let tree = Checkout::of(self, &commit)?.built(is_over)?;
        self.refuse_own_files(revision, &tree)?;
        let below = tree.join(self.git(&["rev-parse", "--show-prefix"])?.unwrap_or_default());
        let folder = if below.is_dir() { below.components().collect() } else { tree.clone() };
        Ok(Ready {
            name: WorldName::Git(revision.to_string()),
            title: format!("commit {}: {}", commit.short(), commit.subject),
            base: PathBuf::from("/"),
            environment: std::collections::BTreeMap::new(),
            libraries: None,
            folder: Some(folder),
            shared: shared.iter().cloned().chain([tree]).collect(),
            place: place.to_path_buf(),
        })
    }

    /// A word of the command that leads into the user's own repository, to a file that the commit has too: it would be the same in
    /// every commit.
    fn refuse_own_files(&self, revision: &str, tree: &Path) -> Result<(), LabError> {
        let top = PathBuf::from(self.git(&["rev-parse", "--show-toplevel"])?.unwrap_or_default());
        let prefix = self.git(&["rev-parse", "--show-prefix"])?.unwrap_or_default();
        let inside =
            |word: &Path| word.strip_prefix(&top).ok().filter(|inside| tree.join(inside).is_file()).map(PathBuf::from);
        let mut words = self.command.iter().map(Path::new).filter(|word| word.is_absolute());
        let Some((word, inside)) = words.find_map(|word| Some((word, inside(word)?))) else { return Ok(()) };
        let remedy = match inside.strip_prefix(&prefix) {
            Ok(below) => format!("name it relative to the current folder: ./{}", below.display()),
            Err(_) => format!("go to {} and name it from there: ./{}", top.display(), inside.display()),
        };
        let why = format!("{} is your own file and stays the same whichever commit is tried", word.display());
        Err(LabError::NoWorld { world: format!("git:{revision}"), why, remedy })
    }

    /// The commits after `good` up to `bad`, the oldest first, along first parents: a merge counts as one.
    ///
    /// # Errors
    /// Where one of them is not there, or `bad` does not descend from `good` in that line.
    pub fn commits(&self, good: &str, bad: &str) -> Result<Vec<Commit>, LabError> {
        let (good, bad) = (self.commit(good)?, self.commit(bad)?);
        if good.hash == bad.hash {
            return Err(LabError::World(format!("the good and the bad world are the same commit, {}", good.short())));
        }
        let span = format!("{}..{}", good.hash, bad.hash);
        let found = self.lines(&["log", "--first-parent", "--reverse", FORMAT, &span])?;
        let found = found.iter().map(|line| self.parse(line)).collect::<Result<Vec<_>, _>>()?;
        let first = found.first().map(|first| format!("{}^1", first.hash));
        let parent = first.map(|first| self.git(&["rev-parse", "--verify", "--quiet", &first])).transpose()?.flatten();
        if parent.as_deref() == Some(good.hash.as_str()) { Ok(found) } else { Err(self.no_line(&good, &bad)?) }
    }

    /// That no line leads from one to the other, and what may.
    fn no_line(&self, good: &Commit, bad: &Commit) -> Result<LabError, LabError> {
        let says = |why: &str| format!("commit {} does not descend from {} {why}", bad.short(), good.short());
        let base = self.git(&["merge-base", &good.hash, &bad.hash])?;
        Ok(LabError::World(match base {
            None => says("at all: they have no commit in common"),
            Some(base) if base == good.hash => says(
                "along first parents: it was merged in; as the good one use a commit of the branch it was merged into",
            ),
            Some(base) if base == bad.hash => says("but is older; are --good and --bad swapped?"),
            Some(base) => says(&format!(
                "; the last commit in common is {}: use that as the good one",
                &base[..SHORT.min(base.len())]
            )),
        }))
    }

    fn parse(&self, line: &str) -> Result<Commit, LabError> {
        let mut parts = line.splitn(3, ' ');
        let (hash, seconds) = (parts.next(), parts.next().and_then(|text| text.parse().ok()));
        let (hash, seconds) = hash.zip(seconds).ok_or_else(|| self.strange())?;
        Ok(Commit { hash: hash.to_string(), seconds, subject: parts.next().unwrap_or_default().to_string() })
    }

    fn strange(&self) -> LabError {
        LabError::World(format!("git did not list the commits of {}", self.folder.display()))
    }

    /// What git prints; none where it fails without a word, which is its way to say no.
    fn git(&self, words: &[&str]) -> Result<Option<String>, LabError> {
        let output = self.run(&self.folder, words)?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
        match (output.status.success(), said.is_empty()) {
            (true, _) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().to_string())),
            (false, true) => Ok(None),
            (false, false) => Err(LabError::World(format!("git {}: {said}", words.first().unwrap_or(&"")))),
        }
    }

    fn lines(&self, words: &[&str]) -> Result<Vec<String>, LabError> {
        let text = self.git(words)?.unwrap_or_default();
        Ok(text.lines().map(String::from).collect())
    }

    /// Runs git in a folder, as the user whose repository it is: it trusts no other's.
    fn run(&self, folder: &Path, words: &[&str]) -> Result<Output, LabError> {
        let mut command = Command::new("git");
        // Not what a hook that called us has set: it would lead to another repository.
        let leading = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];
        for name in leading {
            command.env_remove(name);
        }
        command.arg("-C").arg(folder).args(words).env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0");
        if let Some(User { uid, gid }) = self.user {
            use std::os::unix::process::CommandExt;
            command.uid(uid).gid(gid);
        }
        command.output().map_err(|error| LabError::World(format!("git cannot be started: {error}")))
    }
}

/// What `git log` prints of a commit: its hash, when, and its first line.
const FORMAT: &str = "--format=%H %ct %s";

#[cfg(test)]
mod tests;
