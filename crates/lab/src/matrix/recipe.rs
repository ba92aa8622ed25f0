//! A source's steps for one version: which of them are made, and with what put in.

use super::prefix::Prefix;
use super::release::Release;
use super::source::{BuildStep, Source};
use super::version::older_first;
use crate::digest;
use std::cmp::Ordering;
use std::path::Path;

/// Hexadecimal digits that tell builds apart.
const KEY_LENGTH: usize = 12;

/// What tells a build from others of the same version: how it is built, from what, and on what.
pub fn key(source: &Source, release: &Release, on: &[&Prefix]) -> String {
    // A source that was read can be written.
    let steps = toml::to_string(source).unwrap_or_default();
    let on = on.iter().map(|prefix| format!("{} {}\n", prefix.name, prefix.key)).collect::<String>();
    let machine = std::env::consts::ARCH;
    let all =
        digest::hexadecimal(format!("{steps}\n{}\n{}\n{machine}\n{on}", release.version, release.checksum).as_bytes());
    all[..KEY_LENGTH].to_string()
}

/// Whether a step is made for a version with these files.
pub fn applies(step: &BuildStep, version: &str, source: &Path) -> bool {
    let is_there = |file: &String| source.join(file).exists();
    let is_from = |from: &String| older_first(version, from) != Ordering::Less;
    let is_until = |until: &String| older_first(version, until) == Ordering::Less;
    step.if_there.as_ref().is_none_or(is_there)
        && step.if_missing.as_ref().is_none_or(|file| !is_there(file))
        && step.from.as_ref().is_none_or(is_from)
        && step.until.as_ref().is_none_or(is_until)
}

/// The lines of a step with what its placeholders stand for, quoted.
///
/// # Errors
/// One sentence, where a placeholder stands for nothing.
pub fn filled(step: &BuildStep, values: &[(String, String)]) -> Result<String, String> {
    let mut lines = step.run.clone();
    for (name, value) in values {
        lines = lines.replace(&format!("{{{name}}}"), &quoted(value));
    }
    match unknown(&step.run, values) {
        Some(name) => Err(format!("the step `{}` uses {{{name}}}, which is not defined", step.name)),
        None => Ok(lines),
    }
}

/// A placeholder in some lines that is none of these: letters, digits and dots in braces. What a shell or awk puts into
/// braces has blanks or other signs in it.
fn unknown(lines: &str, values: &[(String, String)]) -> Option<String> {
    let opened = lines.split('{').skip(1).filter(|rest| !rest.is_empty());
    let named = opened.filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    let is_name = |name: &&str| {
        let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || ".-".contains(letter);
        !name.is_empty() && name.chars().all(is_letter)
    };
    named.filter(is_name).find(|name| values.iter().all(|(known, _)| known != name)).map(String::from)
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+=:,@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<(String, String)> {
        [("source", "/a b/it's"), ("jobs", "2"), ("on.openssl", "/opt/x")].map(|(a, b)| (a.into(), b.into())).to_vec()
    }

    #[test]
    fn placeholders_are_filled_in_and_quoted_and_others_are_refused() {
        let step = |run: &str| BuildStep { name: "build".into(), run: run.into(), ..BuildStep::default() };
        let filled = |run: &str| filled(&step(run), &values());
        assert_eq!(filled("make -j{jobs} -C {source}").expect("filled"), r"make -j2 -C '/a b/it'\''s'");
        assert_eq!(
            filled("x={on.openssl}/lib; awk '{ print $1 }'").expect("filled"),
            "x=/opt/x/lib; awk '{ print $1 }'"
        );
        assert!(filled("{on.zlib}").is_err_and(|why| why.contains("on.zlib")));
    }

    #[test]
    fn steps_are_chosen_by_files_and_by_version() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("there"), "").expect("written");
        let of = |if_there: Option<&str>, if_missing: Option<&str>, from: Option<&str>, until: Option<&str>| {
            let own = |text: Option<&str>| text.map(String::from);
            let (if_there, if_missing) = (own(if_there), own(if_missing));
            let step = BuildStep { if_there, if_missing, from: own(from), until: own(until), ..BuildStep::default() };
            applies(&step, "3.0.10", folder.path())
        };
        assert!(of(None, None, None, None) && of(Some("there"), Some("gone"), Some("3.0.10"), Some("3.1")));
        assert!(!of(Some("gone"), None, None, None) && !of(None, Some("there"), None, None));
        assert!(!of(None, None, Some("3.0.11"), None) && !of(None, None, None, Some("3.0.10")));
    }

    #[test]
    fn a_build_is_identified_by_its_steps_its_package_and_what_it_is_built_on() {
        let source = super::super::Sources::with(&[]).expect("sources").named("curl").expect("curl").clone();
        let release = Release { upstream: "8".into(), version: "1+8".into(), checksum: "a".into(), is_yanked: false };
        let on = |key: &str| Prefix {
            name: "openssl".into(),
            version: "3".into(),
            folder: "/x".into(),
            libraries: vec![],
            key: key.into(),
        };
        let first = key(&source, &release, &[&on("a")]);
        assert_eq!(first, key(&source, &release, &[&on("a")]));
        let mut other = source.clone();
        other.steps[1].run += " -O0";
        let others = [
            key(&source, &release, &[&on("b")]),
            key(&source, &Release { checksum: "b".into(), ..release.clone() }, &[&on("a")]),
            key(&other, &release, &[&on("a")]),
        ];
        assert!(!others.contains(&first));
    }
}
