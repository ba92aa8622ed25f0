//! A commit, checked out into a folder of its own and built there. The folder is of use when its mark says so: what was
//! interrupted is made anew.

use super::{Commit, Repository};
use crate::error::LabError;
use crate::tool;
use case::{Caller, as_user};
use record::{Ended, Program, User};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// How many of the last lines of a failed build are shown.
const LAST_LINES: usize = 8;

/// Where a commit is kept.
pub(super) struct Checkout<'a> {
    repository: &'a Repository,
    commit: &'a Commit,
    /// What it was made of: the mark holds this.
    recipe: String,
    folder: PathBuf,
}

impl<'a> Checkout<'a> {
    /// The place of a commit of a repository, built as it says.
    pub fn of(repository: &'a Repository, commit: &'a Commit) -> Result<Checkout<'a>, LabError> {
        let common = repository.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?.unwrap_or_default();
        let recipe = format!("{common}\n{}\n{}\n", commit.hash, repository.build);
        // The name only has to be short; the whole recipe in its mark says whether it is the right folder.
        let mut hasher = DefaultHasher::new();
        recipe.hash(&mut hasher);
        let folder = repository.cache.join(format!("git-{}-{:016x}", commit.short(), hasher.finish()));
        Ok(Checkout { repository, commit, recipe, folder })
    }

    /// The folder of its files, built; made where it is not there. Two at a time wait for each other.
    pub fn built(&self, is_over: &dyn Fn() -> bool) -> Result<PathBuf, LabError> {
        let tree = self.folder.join("tree");
        fs::create_dir_all(&self.repository.cache).map_err(LabError::io(&self.repository.cache))?;
        let lock = self.folder.with_extension("lock");
        let held = fs::File::create(&lock).map_err(LabError::io(&lock))?;
        held.lock().map_err(LabError::io(&lock))?;
        let mark = self.folder.join("complete");
        if fs::read_to_string(&mark).is_ok_and(|recipe| recipe == self.recipe) {
            return Ok(tree);
        }
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(LabError::io(&self.folder))?;
        }
        fs::create_dir(&self.folder).map_err(LabError::io(&self.folder))?;
        fs::create_dir(&tree).map_err(LabError::io(&tree))?;
        self.hand_over(&tree)?;
        self.check_out(&tree)?;
        self.build(&tree, is_over)?;
        fs::write(&mark, &self.recipe).map_err(LabError::io(&mark))?;
        Ok(tree)
    }

    fn hand_over(&self, path: &Path) -> Result<(), LabError> {
        let Some(User { uid, gid }) = self.repository.user else { return Ok(()) };
        std::os::unix::fs::chown(path, Some(uid), Some(gid)).map_err(LabError::io(path))
    }

    /// A repository of its own that borrows the objects of the user's: nothing is copied, and nothing there is written.
    fn check_out(&self, tree: &Path) -> Result<(), LabError> {
        let objects = ["rev-parse", "--path-format=absolute", "--git-path", "objects"];
        let objects = self.repository.git(&objects)?.unwrap_or_default();
        self.git(tree, &["init", "--quiet", "--template="])?;
        let info = tree.join(".git/objects/info");
        let borrow = || {
            fs::create_dir_all(&info)?;
            fs::write(info.join("alternates"), format!("{objects}\n"))
        };
        // With the user's rights: the folder is the user's, who could have put a link there.
        let borrowed = match self.repository.user {
            Some(User { uid, gid }) => as_user(Caller { uid, gid }, borrow),
            None => borrow(),
        };
        borrowed.map_err(LabError::io(&info))?;
        self.git(tree, &["-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", &self.commit.hash])
    }

    fn git(&self, tree: &Path, words: &[&str]) -> Result<(), LabError> {
        let output = self.repository.run(tree, words)?;
        let said = String::from_utf8_lossy(&output.stderr);
        let why = || LabError::World(format!("commit {} cannot be checked out: {}", self.commit.short(), said.trim()));
        output.status.success().then_some(()).ok_or_else(why)
    }

    fn build(&self, tree: &Path, is_over: &dyn Fn() -> bool) -> Result<(), LabError> {
        if self.repository.build.is_empty() {
            return Ok(());
        }
        let log = self.folder.join("log");
        let program = Program {
            arguments: ["sh", "-c", &self.repository.build].map(String::from).to_vec(),
            user: self.repository.user,
            folder: Some(tree.to_path_buf()),
            ..Program::default()
        };
        let ended = tool::run(program, &log, &mut |turn| {
            std::thread::sleep(turn);
            is_over()
        })?;
        if ended.exit == Some(0) { Ok(()) } else { Err(self.failed(ended, &log)) }
    }

    fn failed(&self, ended: Ended, log: &Path) -> LabError {
        let last = tool::last_lines(log, LAST_LINES).join(" | ");
        let how = match (ended.exit, ended.signal) {
            (Some(status), _) => format!("status {status}"),
            (None, signal) => format!("signal {}", signal.unwrap_or_default()),
        };
        let (commit, log) = (self.commit.short().to_string(), log.to_path_buf());
        LabError::NotBuilt { commit, how, last, log }
    }
}
