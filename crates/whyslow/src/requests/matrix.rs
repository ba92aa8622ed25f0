//! What a typed `matrix` means.

use crate::arguments::MatrixArguments;
use crate::fail::Failure;
use crate::invoker::{Invoker, subject_user};
use crate::typed;
use lab::engine::Kind;
use lab::matrix::{Source, Sources};
use lab::{Metric, Subject};
use studies::matrix::Request;

/// Reads what was typed.
pub fn request(arguments: &MatrixArguments, invoker: &Invoker) -> Result<Request, Failure> {
    let world = typed::world(&arguments.world)?;
    let addresses = typed::addresses(world.link);
    let subject = Subject {
        client: typed::with_addresses(&arguments.command, addresses),
        server: typed::server(arguments.server.as_deref(), &world)?,
        user: subject_user(arguments.keeping.user.as_deref(), invoker)?,
        input: lab::input_again().unwrap_or_default(),
    };
    let end = typed::end(arguments.of, subject.server.is_some())?;
    let metrics = arguments.metric.iter().map(|text| typed::metric(Some(text)));
    let metrics = metrics.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect::<Vec<Metric>>();
    let tries = tries(&arguments.tries)?;
    let budget = typed::budget(arguments.budget.as_deref(), Kind::Matrix)?;
    let Typed { source, versions, with } = libraries(arguments)?;
    let folder = typed::case_folder(arguments.keeping.folder.as_deref(), &arguments.command, invoker)?;
    Ok(Request { library: source, versions, with, subject, world, end, metrics, tries, budget, folder })
}

/// The libraries that are meant, before anything is asked of the network.
struct Typed {
    source: Source,
    versions: Vec<String>,
    with: Vec<(Source, String)>,
}

fn libraries(arguments: &MatrixArguments) -> Result<Typed, Failure> {
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
            return Err(Failure::library("--with", &format!("{} is there twice", beside.name)));
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

/// What is tried on each version besides.
fn tries(asked: &[String]) -> Result<Vec<String>, Failure> {
    let wrong = |why: &str| Failure::value("--try", why, "--try share-ssl-context");
    let mut read: Vec<String> = Vec::new();
    for text in asked {
        let known = lab::named_intervention(text).map_err(|error| wrong(&error.to_string()))?;
        if known.intervention.needs_same_output {
            let name = known.intervention.name;
            let why =
                format!("{name} proves something only if outputs are compared; matrix does not compare them, run does");
            return Err(wrong(&why));
        }
        if !read.contains(text) {
            read.push(text.clone());
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(library: &str, with: &[&str]) -> String {
        let with = with.iter().map(ToString::to_string).collect();
        let arguments = MatrixArguments { library: library.into(), with, ..MatrixArguments::default() };
        libraries(&arguments).map(|_| ()).map_err(|failure| failure.to_string()).err().unwrap_or_default()
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
    fn what_is_tried_is_checked_before_anything_is_built() {
        let of = |asked: &[&str]| {
            let asked = asked.iter().map(ToString::to_string).collect::<Vec<_>>();
            tries(&asked).map_err(|failure| failure.to_string())
        };
        let twice = of(&["share-ssl-context", "delayed-ack-cap=8", "share-ssl-context"]);
        assert_eq!(twice, Ok(vec!["share-ssl-context".to_string(), "delayed-ack-cap=8".to_string()]));
        assert!(of(&["warp"]).is_err_and(|why| why.contains("no intervention")));
        assert!(of(&["share-ssl-context=2"]).is_err_and(|why| why.contains("takes no dose")));
        assert!(of(&["switch-off=work"]).is_err_and(|why| why.contains("does not compare")));
    }
}
