//! The stories of the casebook, as their README tells them.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// A story: a folder of the casebook with a README.
pub struct Story {
    /// The folder's name.
    pub name: String,
    /// Its README.
    pub markdown: String,
    /// What its story.toml declares; empty where it has none.
    pub declaration: toml::Table,
}

/// How a story shows a way of being slow.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// How far its finding must have got: `confirmed`, unless the story says otherwise.
    pub status: String,
    /// Whether a variant must be without it.
    pub has_twin: bool,
}

/// Ways of being slow that are told beside an answer, and what `--json` calls them there.
const TOLD: [(&str, &str); 1] = [("run-queue-delay", "run-delay")];

impl Story {
    /// Its README's place in the repository.
    pub fn source(&self) -> String {
        format!("casebook/{}/README.md", self.name)
    }

    /// What it is about, from its heading: `23 requests a second`.
    pub fn about(&self) -> &str {
        let heading = crate::page::heading(&self.markdown).unwrap_or_default();
        heading.split_once(": ").map_or(heading, |(_, about)| about)
    }

    /// Whether it has the name of a way of being slow, or its paragraph of what to expect names it.
    pub fn expects(&self, pathology: &str) -> bool {
        let mut expected = self.markdown.split("**Expect**").skip(1).filter_map(|rest| rest.split("**").next());
        let quoted = format!("`{pathology}`");
        self.name == pathology || expected.any(|paragraph| paragraph.contains(&quoted))
    }

    /// How it shows a way of being slow, as it declares; none where no variant of it must.
    pub fn shows(&self, pathology: &str) -> Option<Shown> {
        self.finds(pathology).or_else(|| self.tells(pathology))
    }

    /// How it shows one that is told beside the answer and accuses nobody.
    fn tells(&self, pathology: &str) -> Option<Shown> {
        let (_, kind) = TOLD.iter().find(|(name, _)| *name == pathology)?;
        let says = |variant: &&toml::Value| {
            let told = variant.get("says").and_then(|says| says.get("/troubles/0/kind"));
            told.and_then(toml::Value::as_str) == Some(kind)
        };
        let told = self.variants().filter(says).count();
        (told > 0).then(|| Shown { status: "told".to_string(), has_twin: told < self.variants().count() })
    }

    fn finds(&self, pathology: &str) -> Option<Shown> {
        let is_it = |name: &&toml::Value| name.as_str() == Some(pathology);
        let mut findings = self.variants().flat_map(|variant| items(variant, "expected"));
        let finding = findings.find(|expected| expected.get("finding").as_ref().is_some_and(is_it))?;
        let status = finding.get("status").and_then(toml::Value::as_str).unwrap_or("confirmed").to_string();
        let is_silent = |variant: &toml::Value| variant.get("silent").and_then(toml::Value::as_bool) == Some(true);
        let is_without = |variant: &toml::Value| items(variant, "without").any(|name| is_it(&name));
        Some(Shown { status, has_twin: self.variants().any(|variant| is_silent(variant) || is_without(variant)) })
    }

    fn variants(&self) -> impl Iterator<Item = &toml::Value> {
        self.declaration.get("variant").and_then(toml::Value::as_array).into_iter().flatten()
    }
}

/// What a list of a variant's holds.
fn items<'a>(variant: &'a toml::Value, list: &str) -> impl Iterator<Item = &'a toml::Value> {
    variant.get(list).and_then(toml::Value::as_array).into_iter().flatten()
}

/// All stories, by name.
///
/// # Errors
/// Where the casebook cannot be read.
pub fn all(casebook: &Path) -> Result<Vec<Story>> {
    let entries = fs::read_dir(casebook).with_context(|| format!("cannot read {}", casebook.display()))?;
    let folders = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let stories = folders.filter_map(|name| {
        let folder = casebook.join(&name);
        let declaration = declaration(&folder);
        let readme = fs::read_to_string(folder.join("README.md")).ok();
        let markdown = readme.or_else(|| declared(&name, declaration.as_ref()?))?;
        Some(Story { name, markdown, declaration: declaration.unwrap_or_default() })
    });
    let mut stories = stories.collect::<Vec<_>>();
    stories.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(stories)
}

/// What a story declares; none where it has no declaration.
fn declaration(folder: &Path) -> Option<toml::Table> {
    fs::read_to_string(folder.join("story.toml")).ok()?.parse::<toml::Table>().ok()
}

/// The text of a story that has none of its own: what it declares.
fn declared(name: &str, declaration: &toml::Table) -> Option<String> {
    let said = |key: &str| declaration.get(key).and_then(toml::Value::as_str).unwrap_or_default();
    let findings = declaration.get("variant")?.as_array()?.iter();
    let findings = findings.filter_map(|variant| variant.get("expected")?.as_array()).flatten();
    let findings = findings.filter_map(|expected| Some(format!("`{}`", expected.get("finding")?.as_str()?)));
    let findings = findings.collect::<Vec<_>>().join(", ");
    Some(format!(
        "# {name}\n\n{} {}\n\n    casebook/run.sh {name}\n\n**Expect** {findings}: {}.\n",
        said("summary"),
        said("question"),
        said("answer"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_expects_what_its_paragraph_names_and_nothing_else() {
        let markdown =
            "# x: slow\n\nNot `busy-spin`.\n\n**Expect** `tiny-reads`, a line. **The cure**: no `split-writes`.";
        let story = Story { name: "x".into(), markdown: markdown.into(), declaration: toml::Table::new() };
        assert!(story.expects("tiny-reads"));
        assert!(!story.expects("busy-spin") && !story.expects("split-writes"));
        assert_eq!(story.about(), "slow");
    }

    #[test]
    fn what_is_told_beside_the_answer_is_shown_as_well() {
        let declaration =
            "[[variant]]\nname = 'slow'\nsays = { '/troubles/0/kind' = 'run-delay' }\n[[variant]]\nname = 'fixed'";
        let declaration = declaration.parse().expect("TOML");
        let story = Story { name: "x".into(), markdown: String::new(), declaration };
        let shown = Shown { status: "told".into(), has_twin: true };
        assert_eq!((story.shows("run-queue-delay"), story.shows("busy-spin")), (Some(shown), None));
    }

    #[test]
    fn a_story_without_a_text_of_its_own_has_what_it_declares() {
        let folder = tempfile::tempdir().expect("a folder");
        let declaration = "summary = 'It reads.'\nquestion = 'Why?'\nanswer = 'byte by byte'\n
            [[variant]]\nname = 'slow'\nexpected = [{ finding = 'tiny-reads' }]\n[[variant]]\nname = 'fixed'\n";
        fs::create_dir(folder.path().join("bytes")).expect("made");
        fs::write(folder.path().join("bytes/story.toml"), declaration).expect("written");
        let stories = all(folder.path()).expect("read");
        assert!(stories[0].expects("tiny-reads") && stories[0].markdown.contains("It reads. Why?"));
        let confirmed = |has_twin| Some(Shown { status: "confirmed".into(), has_twin });
        assert_eq!(stories[0].shows("tiny-reads"), confirmed(false));
        assert_eq!(stories[0].shows("busy-spin"), None);
        let silent = declaration.to_string() + "silent = true\n";
        fs::write(folder.path().join("bytes/story.toml"), silent).expect("written");
        assert_eq!(all(folder.path()).expect("read")[0].shows("tiny-reads"), confirmed(true));
    }
}
