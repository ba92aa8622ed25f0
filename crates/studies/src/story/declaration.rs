//! `casebook/NAME/story.toml`: what is studied, where, and what must come out. How it is started stands in the story's
//! run.sh; what a declaration says of that is held against what was recorded.

use super::error::StoryError;
use case::Status;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A story.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Story {
    /// Its name, which is its folder's.
    #[serde(skip)]
    pub name: String,
    /// Its folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// What happens, in a sentence.
    pub summary: String,
    /// What is asked.
    pub question: String,
    /// The answer to expect, in a few words.
    pub answer: String,
    /// Roughly how long all its variants take on two processors, in seconds.
    pub seconds: u32,
    /// What is studied.
    pub subject: Subject,
    /// How its programs are started, where it has no run.sh of its own that knows.
    pub start: Option<Start>,
    /// Where it runs.
    #[serde(default)]
    pub world: World,
    /// Its variants, the slow ones first, and what must come out of each.
    #[serde(rename = "variant", alias = "telling")]
    pub variants: Vec<Variant>,
}

/// The programs, each by the name of a file in its command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The program that asks.
    pub client: String,
    /// The program that answers; empty where the client is alone.
    #[serde(default)]
    pub server: String,
    /// What is prepared before anything is watched: a certificate, say, or what is compiled.
    #[serde(default)]
    pub prepared: Vec<String>,
}

/// How the programs of a story are started: what the casebook's run.sh goes by. `{server}` is the server's address, `{port}`
/// a free port, `{state}` a folder that goes with the story, `{requests}` the number below.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The words after the server's program.
    pub server: Option<String>,
    /// The words after the client's program.
    pub client: Option<String>,
    /// How many requests.
    pub requests: Option<u32>,
}

/// Where programs run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// The link between client and server; empty where both are on the host.
    #[serde(default)]
    pub link: String,
    /// What the story's script sets besides, in words.
    #[serde(default)]
    pub besides: String,
}

/// One variant of a story, run once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name, the first argument of run.sh.
    #[serde(alias = "variant")]
    pub name: String,
    /// Further words for run.sh: what else is asked than why, and whyslow's own options.
    #[serde(default)]
    pub words: Vec<String>,
    /// The client, where it is another than the story's.
    pub client: Option<String>,
    /// The server, where it is another than the story's.
    pub server: Option<String>,
    /// The link, where it is another than the story's.
    pub link: Option<String>,
    /// What is otherwise than in the story's own [`Start`].
    pub start: Option<Start>,
    /// The findings that must be there.
    #[serde(default)]
    pub expected: Vec<Expected>,
    /// Whether nothing may be found: a twin, or a program with nothing wrong.
    #[serde(default)]
    pub silent: bool,
    /// Findings that must be gone, where another may stay.
    #[serde(default)]
    pub without: Vec<String>,
    /// What the JSON must hold, by JSON pointer (RFC 6901); the order of a list is of no account.
    #[serde(default)]
    pub says: BTreeMap<String, toml::Value>,
    /// Figures of the JSON that must not be less.
    #[serde(default)]
    pub at_least: BTreeMap<String, f64>,
    /// Figures of the JSON that must not be more.
    #[serde(default)]
    pub at_most: BTreeMap<String, f64>,
    /// Words that must occur in texts of the JSON: those below a pointer.
    #[serde(default)]
    pub mentions: BTreeMap<String, Vec<String>>,
    /// The exit statuses allowed, where it is not the one that follows from the rest.
    #[serde(default)]
    pub exit: Vec<i32>,
}

/// A finding that must be there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The pathology, by name.
    pub finding: String,
    /// How far it must have got.
    #[serde(default = "confirmed")]
    pub status: Status,
    /// Other statuses that will do, where it depends on the machine what can be proved.
    #[serde(default)]
    pub or: Vec<Status>,
    /// What its title must name, where several findings have one name.
    #[serde(default)]
    pub title: String,
    /// The file of the story that its place is in.
    pub program: Option<String>,
    /// The line there: the one that carries the comment `casebook: LINE`.
    pub line: Option<String>,
    /// The function there.
    pub function: Option<String>,
}

fn confirmed() -> Status {
    Status::Confirmed
}

impl Story {
    /// Reads a story's folder.
    ///
    /// # Errors
    /// Where its story.toml cannot be read, or names what is not there.
    pub fn read(folder: &Path) -> Result<Story, StoryError> {
        let file = folder.join("story.toml");
        let wrong = |why: String| StoryError::Story { file: file.clone(), why };
        let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
        let mut story =
            toml::from_str::<Story>(&text).map_err(|error| wrong(error.to_string().trim().replace('\n', " ")))?;
        story.folder = folder.to_path_buf();
        story.name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        story.check().map_err(wrong)?;
        Ok(story)
    }

    /// A door for fuzzers: any text.
    pub(crate) fn fuzz(text: &str) {
        if let Ok(story) = toml::from_str::<Story>(text) {
            let _ = story.check();
        }
    }

    /// The script that starts it and the script's words before those of a variant: its own, or that of the whole casebook.
    pub fn script(&self) -> (PathBuf, Option<&str>) {
        match self.folder.join("run.sh") {
            own if own.is_file() => (own, None),
            _ => (self.folder.parent().unwrap_or(&self.folder).join("run.sh"), Some(&self.name)),
        }
    }

    /// The variants of a name, or all of them.
    ///
    /// # Errors
    /// Where none has that name.
    pub fn chosen(&self, variant: Option<&str>) -> Result<Vec<&Variant>, StoryError> {
        let is_chosen = |one: &&Variant| variant.is_none_or(|name| one.name == name);
        let chosen = self.variants.iter().filter(is_chosen).collect::<Vec<_>>();
        if chosen.is_empty() {
            let known = self.variants.iter().map(|one| one.name.clone()).collect();
            let variant = variant.unwrap_or_default().to_string();
            return Err(StoryError::UnknownVariant { story: self.name.clone(), variant, known });
        }
        Ok(chosen)
    }

    /// Whether everything that it names is there.
    fn check(&self) -> Result<(), String> {
        let starts = self.start.iter().any(|start| start.server.is_some() && start.client.is_some());
        if !starts && !self.folder.join("run.sh").is_file() {
            return Err("there is no run.sh beside it, and no [start] with the words of server and client".to_string());
        }
        if self.variants.is_empty() {
            return Err("it declares no variant".to_string());
        }
        self.variants.iter().try_for_each(|variant| self.check_variant(variant))
    }

    fn check_variant(&self, variant: &Variant) -> Result<(), String> {
        if variant.expected.is_empty() && variant.without.is_empty() && !variant.says_something() && !variant.silent {
            return Err(format!("`{}` expects nothing: it needs expected, without, says or silent", variant.name));
        }
        let figures = variant.at_least.keys().chain(variant.at_most.keys());
        let mut pointers = variant.says.keys().chain(figures).chain(variant.mentions.keys());
        if let Some(wrong) = pointers.find(|pointer| !pointer.starts_with('/')) {
            return Err(format!("`{wrong}` is not a JSON pointer: it does not begin with /"));
        }
        let names = variant.expected.iter().map(|one| &one.finding).chain(&variant.without);
        for name in names {
            diagnose::explain(name).ok_or_else(|| format!("there is no cause `{name}`"))?;
        }
        variant.expected.iter().try_for_each(|one| self.marked_line(one).map(|_| ()))
    }

    /// The line that a finding must point at; none where any will do.
    ///
    /// # Errors
    /// Where the file is not there, or no line of it is marked so.
    pub fn marked_line(&self, expected: &Expected) -> Result<Option<u32>, String> {
        let Some(program) = &expected.program else { return Ok(None) };
        let source =
            std::fs::read_to_string(self.folder.join(program)).map_err(|error| format!("{program}: {error}"))?;
        let Some(marker) = &expected.line else { return Ok(None) };
        let marker = format!("casebook: {marker}");
        let place = source.lines().position(|line| line.contains(&marker));
        let place = place.ok_or_else(|| format!("{program} has no line marked `{marker}`"))?;
        Ok(Some(place as u32 + 1))
    }
}

impl Variant {
    /// The arguments of run.sh: its name, and further words.
    pub fn words(&self) -> Vec<&str> {
        [&self.name].into_iter().chain(&self.words).map(String::as_str).collect()
    }

    /// Its name, and what else is asked of it.
    pub fn label(&self) -> String {
        let words = self.words();
        words.into_iter().take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ")
    }

    /// Whether anything is declared of what its JSON holds.
    fn says_something(&self) -> bool {
        !(self.says.is_empty() && self.at_least.is_empty() && self.at_most.is_empty() && self.mentions.is_empty())
    }

    /// Whether something must be found in it, as opposed to something being gone.
    pub fn is_slow(&self) -> bool {
        !self.silent && self.without.is_empty()
    }
}
