//! Where a library's versions are, and how one is built: one file a library.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// Those that whyslow knows. Another one is a file beside these and a line here, or is given with `--source`.
const KNOWN: &[&str] = &[
    include_str!("../../sources/openssl.toml"),
    include_str!("../../sources/curl.toml"),
    include_str!("../../sources/zstd.toml"),
];

/// A library.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name, as it is typed.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
    /// The package of the registry that carries it. Upstream's version stands behind the `+` of the package's own.
    #[serde(rename = "crate")]
    pub package: String,
    /// What stands between the `+` and upstream's version: `curl-`.
    #[serde(default)]
    pub marker: String,
    /// The folder inside the package that holds upstream's files.
    pub folder: String,
    /// Names of libraries that it is built on.
    #[serde(default)]
    pub on: Vec<String>,
    /// The shared libraries that must be there in the end, as paths below the prefix.
    pub libraries: Vec<String>,
    /// Programs that building takes, each with the Debian package that has it.
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    /// What is done to build it, in order.
    pub steps: Vec<BuildStep>,
}

/// A step of building: lines for a shell, which stops at the first that fails. They run in an empty folder.
///
/// | placeholder | stands for |
/// |---|---|
/// | `{source}` | the folder with upstream's files; it may be changed |
/// | `{prefix}` | where it will be installed, for what is compiled in |
/// | `{stage}` | what to put before the prefix when installing (`DESTDIR`) |
/// | `{on.NAME}` | the prefix of a library that it is built on |
/// | `{jobs}` | how many processors to use |
/// | `{version}`, `{major}` | upstream's version, and its first number |
/// | `{machine}` | the processor: `x86_64`, `aarch64` |
///
/// They are quoted for the shell when they are put in: they are to stand outside of quotes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BuildStep {
    /// What it does, in a word: `configure`.
    pub name: String,
    /// The lines.
    pub run: String,
    /// Only where upstream's files lack this one.
    pub if_missing: Option<String>,
    /// Only where upstream's files have this one.
    pub if_there: Option<String>,
    /// Only for this version and later ones.
    pub from: Option<String>,
    /// Only for versions before this one.
    pub until: Option<String>,
}

impl Source {
    /// Reads one.
    ///
    /// # Errors
    /// One sentence that says what is wrong.
    pub fn read(text: &str) -> Result<Source, String> {
        let source: Source = toml::from_str(text).map_err(|error| error.message().to_string())?;
        let is_plain = |name: &String| {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
            !name.is_empty() && !name.starts_with('.') && name.chars().all(is_letter)
        };
        if let Some(name) = [&source.name, &source.package].into_iter().find(|name| !is_plain(name)) {
            return Err(format!("`{name}` is not a name; use letters, digits, dashes and dots"));
        }
        let is_below = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if let Some(path) = source.libraries.iter().chain([&source.folder]).find(|path| !is_below(path)) {
            return Err(format!("`{path}` points outside its folder"));
        }
        match (source.libraries.is_empty(), source.steps.is_empty()) {
            (true, _) => Err("`libraries` is empty: name what the build produces".to_string()),
            (_, true) => Err("`steps` is empty: say how it is built".to_string()),
            _ => Ok(source),
        }
    }
}

/// All sources.
#[derive(Clone, Debug)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Those that whyslow knows, and the texts of files given, which override one of the same name.
    ///
    /// # Errors
    /// One sentence, with the place of the text that is wrong.
    pub fn with(texts: &[String]) -> Result<Sources, (usize, String)> {
        let given = texts.iter().enumerate().map(|(place, text)| Source::read(text).map_err(|why| (place, why)));
        let mut all = given.collect::<Result<Vec<_>, _>>()?;
        // Later ones override earlier ones.
        all.reverse();
        let known = KNOWN.iter().filter_map(|text| Source::read(text).ok());
        all.extend(known);
        Ok(Sources(all))
    }

    /// The one of a name.
    pub fn named(&self, name: &str) -> Option<&Source> {
        self.0.iter().find(|source| source.name == name)
    }

    /// All names.
    pub fn names(&self) -> Vec<&str> {
        let mut names = self.0.iter().map(|source| source.name.as_str()).collect::<Vec<_>>();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_source_is_read() {
        let sources = Sources::with(&[]).expect("sources");
        assert_eq!(sources.names(), ["curl", "openssl", "zstd"]);
        assert_eq!(KNOWN.len(), sources.names().len());
        assert_eq!(sources.named("curl").expect("curl").on, ["openssl"]);
    }

    #[test]
    fn a_source_given_overrides_a_known_one_and_a_wrong_one_is_refused() {
        let text = "name = 'zstd'\nabout = 'mine'\ncrate = 'mine'\nfolder = 'src'\nlibraries = ['lib/libmine.so']\n\
                    [[steps]]\nname = 'build'\nrun = 'make'\n";
        let sources = Sources::with(&[text.to_string()]).expect("sources");
        assert_eq!(sources.named("zstd").expect("it").about, "mine");
        let refused = |from: &str, to: &str| Source::read(&text.replace(from, to)).expect_err("refused");
        assert!(refused("'src'", "'../..'").contains("points outside"));
        assert!(refused("'zstd'", "'../z'").contains("not a name"));
        assert!(refused("about", "abuot").contains("abuot"));
        assert!(refused("['lib/libmine.so']", "[]").contains("libraries"));
    }
}
