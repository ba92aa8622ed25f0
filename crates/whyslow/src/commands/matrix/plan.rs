//! What was typed, as what is built.

use crate::arguments::MatrixArguments;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::progress::Progress;
use lab::matrix::{Fault, Item, Release, Source, Sources, Workshop, chain, nearest};
use std::time::Duration;

/// What is built.
pub struct Plan {
    /// The library's name.
    pub library: String,
    /// Its versions, as they were asked for.
    pub versions: Vec<String>,
    /// What is built on each beside it: `curl=8.0.1`.
    pub with: Vec<String>,
    /// For each version what is built, in order.
    pub chains: Vec<Vec<Item>>,
}

/// What the words mean, before anything is asked of the network.
struct Typed {
    source: Source,
    versions: Vec<String>,
    with: Vec<(Source, String)>,
}

/// Reads what was typed, and finds the versions in the registry.
pub fn plan(arguments: &MatrixArguments, workshop: &Workshop, interrupts: &Interrupts) -> Result<Plan, Failure> {
    let typed = typed(arguments)?;
    check_tools(&typed)?;
    let progress = Progress::of("listing versions from the registry");
    let mut wait = |longest: Duration| interrupts.next(longest).is_some();
    let mut with = Vec::new();
    for (source, version) in &typed.with {
        let releases = releases(workshop, source, &mut wait)?;
        with.push(Item { source: source.clone(), release: find(source, version, &releases)? });
    }
    let releases = releases(workshop, &typed.source, &mut wait)?;
    let mut chains = Vec::new();
    for version in &typed.versions {
        let item = Item { source: typed.source.clone(), release: find(&typed.source, version, &releases)? };
        let items = [item].into_iter().chain(with.clone()).collect();
        chains.push(chain(items).map_err(|why| Failure::library("--library", &why))?);
    }
    drop(progress);
    Ok(Plan {
        library: typed.source.name,
        versions: typed.versions,
        with: typed.with.iter().map(|(source, version)| format!("{}={version}", source.name)).collect(),
        chains,
    })
}

fn typed(arguments: &MatrixArguments) -> Result<Typed, Failure> {
    let read = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path).map_err(|error| Failure::source(path, &error.to_string()))
    };
    let texts = arguments.sources.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let sources = Sources::with(&texts).map_err(|(place, why)| Failure::source(&arguments.sources[place], &why))?;
    let (source, versions) = library("--library", &arguments.library, &sources)?;
    if versions.len() < 2 {
        let why = "there is nothing to compare: name at least two versions, separated by commas";
        return Err(Failure::library("--library", why));
    }
    let mut with: Vec<(Source, String)> = Vec::new();
    for text in &arguments.with {
        let (beside, mut versions) = library("--with", text, &sources)?;
        let version = versions.pop().filter(|_| versions.is_empty());
        let version = version.ok_or_else(|| Failure::library("--with", "it takes one version, the same for all"))?;
        if beside.name == source.name || with.iter().any(|(known, _)| known.name == beside.name) {
            return Err(Failure::library("--with", &format!("{} is given twice", beside.name)));
        }
        with.push((beside, version));
    }
    Ok(Typed { source, versions, with })
}

/// `openssl=1.1.1w,3.0.2`.
fn library(option: &str, text: &str, sources: &Sources) -> Result<(Source, Vec<String>), Failure> {
    let wrong = || Failure::library(option, &format!("`{text}` is not NAME=VERSION,..."));
    let (name, versions) = text.split_once('=').ok_or_else(wrong)?;
    let source = sources.named(name.trim()).ok_or_else(|| Failure::unknown_library(name, &sources.names()))?;
    let mut named: Vec<String> = Vec::new();
    for version in versions.split(',').map(str::trim) {
        if version.is_empty() {
            return Err(wrong());
        }
        if !named.iter().any(|known| known == version) {
            named.push(version.to_string());
        }
    }
    Ok((source.clone(), named))
}

fn check_tools(typed: &Typed) -> Result<(), Failure> {
    let sources = [&typed.source].into_iter().chain(typed.with.iter().map(|(source, _)| source));
    let needed =
        sources.flat_map(|source| source.tools.iter().map(|(tool, package)| (tool.as_str(), package.as_str())));
    let always = [("curl", "curl"), ("tar", "tar"), ("sh", "dash")];
    let is_missing = |(program, _): &(&str, &str)| super::program::find(program).is_none();
    let missing = needed.chain(always).filter(is_missing).collect::<Vec<_>>();
    if missing.is_empty() { Ok(()) } else { Err(Failure::tools(&missing)) }
}

fn releases(
    workshop: &Workshop,
    source: &Source,
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Vec<Release>, Failure> {
    workshop.releases(source, wait).map_err(|fault| match fault {
        Fault::Failed(problem) => Failure::registry(&problem),
        Fault::Interrupted => lab::LabError::Interrupted.into(),
    })
}

fn find(source: &Source, version: &str, releases: &[Release]) -> Result<Release, Failure> {
    let found = releases.iter().find(|release| release.upstream == version).cloned();
    found.ok_or_else(|| {
        let known = releases.iter().map(|release| release.upstream.clone()).collect::<Vec<_>>();
        Failure::unknown_version(source, version, &nearest(version, &known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(library: &str, with: &[&str]) -> String {
        let with = with.iter().map(ToString::to_string).collect();
        let arguments = MatrixArguments { library: library.into(), with, ..MatrixArguments::default() };
        typed(&arguments).map(|_| ()).map_err(|failure| failure.to_string()).err().unwrap_or_default()
    }

    #[test]
    fn libraries_and_versions_are_checked_before_anything_is_asked_for() {
        assert_eq!(refused("openssl=1.1.1w,3.0.2", &["curl=8.0.1"]), "");
        assert!(refused("opensls=1,2", &[]).contains("openssl"));
        assert!(refused("openssl", &[]).contains("NAME=VERSION"));
        assert!(refused("openssl=3.0.2", &[]).contains("at least two"));
        assert!(refused("openssl=3.0.2,3.0.2", &[]).contains("at least two"));
        assert!(refused("openssl=1,2", &["curl=1,2"]).contains("one version"));
        assert!(refused("openssl=1,2", &["openssl=1"]).contains("twice"));
        assert!(refused("openssl=1,,2", &[]).contains("NAME=VERSION"));
    }

    #[test]
    fn a_version_that_there_is_not_is_refused_with_those_around_it() {
        let source = Sources::with(&[]).map_err(|_| ()).expect("sources").named("openssl").expect("it").clone();
        let release = |upstream: &str| Release {
            upstream: upstream.into(),
            version: String::new(),
            checksum: String::new(),
            is_yanked: false,
        };
        let known = ["3.0.1", "3.0.2", "3.0.3"].map(release);
        assert_eq!(find(&source, "3.0.2", &known).map(|one| one.upstream).unwrap_or_default(), "3.0.2");
        let refused = find(&source, "3.0.21", &known).map(|_| ()).map_err(|failure| failure.to_string());
        assert!(refused.is_err_and(|why| why.contains("3.0.1, 3.0.2, 3.0.3")));
    }
}
