//! What a typed `bisect` asks: everything checked that can be, then both worlds made ready.

use crate::{Activity, Console, StudyError};
use lab::worlds::{self, Commit, Ready, Repository, Store, Wanted, WorldName};
use lab::{End, LabError, Metric, Subject, World};
use std::path::PathBuf;
use std::time::Duration;

/// What is asked, and the names of the worlds.
pub struct Request {
    /// The fast world.
    pub good: WorldName,
    /// The slow one.
    pub bad: WorldName,
    /// What is asked of them.
    pub terms: Terms,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
}

/// What is asked, but for the worlds.
pub struct Terms {
    /// What is run.
    pub subject: Subject,
    /// What is run besides, as a control.
    pub control: Option<Subject>,
    /// Where both run, but for what the worlds say.
    pub world: World,
    /// The end that sees the worlds.
    pub end: End,
    /// What decides, where the user said so.
    pub metric: Option<Metric>,
    /// Time for the search.
    pub budget: Duration,
    /// What the order is drawn from, where the user said so.
    pub seed: Option<u64>,
    /// Whether nothing but the search is wanted.
    pub only_search: bool,
    /// Where worlds are kept.
    pub store: Store,
    /// Packages that releases are to have besides.
    pub packages: Vec<String>,
    /// What builds a commit.
    pub build: Option<String>,
}

/// What is asked, both worlds being ready.
pub struct Asked {
    /// What is asked.
    pub terms: Terms,
    /// The fast one.
    pub good: Ready,
    /// The slow one.
    pub bad: Ready,
    /// The commits between them, the oldest first; none where they are no commits.
    pub commits: Option<Vec<Commit>>,
}

impl Request {
    /// The commits between the worlds, where both are commits: whether there is a line of them is known before anything is
    /// built.
    fn commits(&self) -> Result<Option<Vec<Commit>>, LabError> {
        let (WorldName::Git(good), WorldName::Git(bad)) = (&self.good, &self.bad) else { return Ok(None) };
        self.terms.repository()?.commits(good, bad).map(Some)
    }

    /// Makes both worlds ready.
    pub(crate) fn prepare(self, console: &dyn Console) -> Result<Asked, StudyError> {
        let commits = self.commits()?;
        let activity = Activity::of(console, "");
        let say = |line: &str| activity.say(line);
        let ready = |name: &WorldName| self.terms.ready(name, console, &say);
        let (good, bad) = (ready(&self.good)?, ready(&self.bad)?);
        drop(activity);
        Ok(Asked { terms: self.terms, good, bad, commits })
    }
}

impl Terms {
    /// What is run at the end that sees the worlds.
    pub(crate) fn command(&self) -> &[String] {
        match self.end {
            End::Client => &self.subject.client,
            End::Server => self.subject.server.as_ref().unwrap_or(&self.subject.client),
        }
    }

    /// The repository that the user is in, built as asked.
    pub(crate) fn repository(&self) -> Result<Repository, LabError> {
        let build = self.build.clone().unwrap_or_default();
        let (cache, user, command) = (self.store.folder("builds")?, self.subject.user, self.command().to_vec());
        Ok(Repository { folder: folder(), build, cache, user, command })
    }

    /// Makes a world ready.
    pub(crate) fn ready(&self, name: &WorldName, console: &dyn Console, say: &dyn Fn(&str)) -> Result<Ready, LabError> {
        self.ready_while(name, say, &mut |longest: Duration| console.next(longest).is_some())
    }

    /// The same; `wait` passes time and is true when the user wants an end.
    pub(crate) fn ready_while(
        &self,
        name: &WorldName,
        say: &dyn Fn(&str),
        wait: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Ready, LabError> {
        let folder = folder();
        let command = self.command();
        let build = self.build.as_deref();
        let wanted = Wanted { command, packages: &self.packages, folder: &folder, build, user: self.subject.user };
        worlds::prepare(name, &wanted, &self.store, say, wait)
    }
}

/// The folder that the user is in.
fn folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
}
