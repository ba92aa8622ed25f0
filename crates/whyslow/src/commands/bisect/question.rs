//! What a typed `bisect` asks: everything checked that can be, then both worlds made ready.

use crate::arguments::BisectArguments;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::invoker::{Invoker, subject_user};
use crate::progress::Progress;
use crate::typed;
use lab::engine::Kind;
use lab::worlds::{self, Commit, Ready, Repository, Store, Wanted, WorldName};
use lab::{End, LabError, Metric, Subject, World};
use std::path::PathBuf;
use std::time::Duration;

/// What is asked, and the names of the worlds.
pub struct Question {
    good: WorldName,
    bad: WorldName,
    terms: Terms,
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
    packages: Vec<String>,
    /// What builds a commit.
    build: Option<String>,
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

impl Question {
    /// Reads what was typed.
    pub fn read(typed: &BisectArguments, invoker: &Invoker) -> Result<Question, Failure> {
        let name = |option: &str, text: &str| {
            text.parse::<WorldName>().map_err(|why| Failure::value(option, &why, &format!("{option} debian:bookworm")))
        };
        let (good, bad) = (name("--good", &typed.good)?, name("--bad", &typed.bad)?);
        let world = typed::world(&typed.world)?;
        let addresses = typed::addresses(world.link);
        let server = typed::server(typed.server.as_deref(), &world)?;
        let end = typed::end(typed.of, server.is_some())?;
        let subject = Subject {
            client: typed::with_addresses(&typed.command, addresses),
            server,
            user: subject_user(typed.keeping.user.as_deref(), invoker)?,
            input: lab::input_again().unwrap_or_default(),
        };
        let control = typed.control.as_deref().map(|text| {
            let words = typed::words(text).ok_or_else(|| {
                Failure::value("--control", "it is empty, or a quote in it is never closed", "--control './client x'")
            })?;
            Ok::<_, Failure>(Subject { client: typed::with_addresses(&words, addresses), ..subject.clone() })
        });
        let terms = Terms {
            control: control.transpose()?,
            subject,
            world,
            end,
            metric: typed::metric(typed.metric.as_deref())?,
            budget: typed::budget(typed.budget.as_deref(), Kind::Bisect)?,
            seed: typed.seed,
            only_search: typed.only_search,
            store: Store::open()?,
            packages: typed.package.clone(),
            build: typed.build.clone(),
        };
        Ok(Question { good, bad, terms })
    }

    /// The commits between the worlds, where both are commits: whether there is a line of them is known before anything is
    /// built.
    fn commits(&self) -> Result<Option<Vec<Commit>>, LabError> {
        let (WorldName::Git(good), WorldName::Git(bad)) = (&self.good, &self.bad) else { return Ok(None) };
        let build = self.terms.build.clone().unwrap_or_default();
        let (cache, user) = (self.terms.store.folder("builds")?, self.terms.subject.user);
        let command = self.terms.command().to_vec();
        Repository { folder: folder(), build, cache, user, command }.commits(good, bad).map(Some)
    }

    /// Makes both worlds ready.
    pub fn prepare(self, interrupts: &Interrupts) -> Result<Asked, Failure> {
        let commits = self.commits()?;
        let progress = Progress::begin();
        let say = |line: &str| progress.say(line);
        let ready = |name: &WorldName| self.terms.ready(name, interrupts, &say);
        let (good, bad) = (ready(&self.good)?, ready(&self.bad)?);
        drop(progress);
        Ok(Asked { terms: self.terms, good, bad, commits })
    }
}

impl Terms {
    /// What is run at the end that sees the worlds.
    pub fn command(&self) -> &[String] {
        match self.end {
            End::Client => &self.subject.client,
            End::Server => self.subject.server.as_ref().unwrap_or(&self.subject.client),
        }
    }

    /// Makes a world ready.
    pub fn ready(&self, name: &WorldName, interrupts: &Interrupts, say: &dyn Fn(&str)) -> Result<Ready, LabError> {
        let folder = folder();
        let command = self.command();
        let build = self.build.as_deref();
        let wanted = Wanted { command, packages: &self.packages, folder: &folder, build, user: self.subject.user };
        let mut wait = |longest: Duration| interrupts.next(longest).is_some();
        worlds::prepare(name, &wanted, &self.store, say, &mut wait)
    }
}

/// The folder that the user is in.
fn folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
}
