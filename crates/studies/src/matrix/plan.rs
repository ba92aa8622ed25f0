//! What was typed, as what is built.

use super::Request;
use crate::{Activity, Console, MatrixError, StudyError};
use lab::matrix::{Fault, Item, Release, Source, Workshop, chain, nearest};
use std::path::Path;
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

/// Finds the versions in the registry.
pub fn plan(request: &Request, workshop: &Workshop, console: &dyn Console) -> Result<Plan, StudyError> {
    check_tools(request)?;
    let activity = Activity::of(console, "listing versions from the registry");
    let mut wait = |longest: Duration| console.next(longest).is_some();
    let mut with = Vec::new();
    for (source, version) in &request.libraries.with {
        let releases = releases(workshop, source, &mut wait)?;
        with.push(Item { source: source.clone(), release: find(source, version, &releases)? });
    }
    let releases = releases(workshop, &request.libraries.library, &mut wait)?;
    let mut chains = Vec::new();
    for version in &request.libraries.versions {
        let item = Item {
            source: request.libraries.library.clone(),
            release: find(&request.libraries.library, version, &releases)?,
        };
        let items = [item].into_iter().chain(with.clone()).collect();
        chains.push(chain(items).map_err(MatrixError::Libraries)?);
    }
    drop(activity);
    Ok(Plan {
        library: request.libraries.library.name.clone(),
        versions: request.libraries.versions.clone(),
        with: request.libraries.with.iter().map(|(source, version)| format!("{}={version}", source.name)).collect(),
        chains,
    })
}

fn check_tools(request: &Request) -> Result<(), MatrixError> {
    let sources =
        [&request.libraries.library].into_iter().chain(request.libraries.with.iter().map(|(source, _)| source));
    let needed =
        sources.flat_map(|source| source.tools.iter().map(|(tool, package)| (tool.as_str(), package.as_str())));
    let always = [("curl", "curl"), ("tar", "tar"), ("sh", "dash")];
    let is_missing = |(program, _): &(&str, &str)| record::executable::find(program, Path::new("")).is_none();
    let missing = needed.chain(always).filter(is_missing).collect::<Vec<_>>();
    let missing = missing.into_iter().map(|(program, package)| (program.to_string(), package.to_string()));
    let missing = missing.collect::<Vec<_>>();
    if missing.is_empty() { Ok(()) } else { Err(MatrixError::Tools(missing)) }
}

fn releases(
    workshop: &Workshop,
    source: &Source,
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Vec<Release>, StudyError> {
    workshop.releases(source, wait).map_err(|fault| match fault {
        Fault::Failed(problem) => MatrixError::Registry(problem).into(),
        Fault::Interrupted => lab::LabError::Interrupted.into(),
    })
}

fn find(source: &Source, version: &str, releases: &[Release]) -> Result<Release, MatrixError> {
    let found = releases.iter().find(|release| release.upstream == version).cloned();
    found.ok_or_else(|| {
        let known = releases.iter().map(|release| release.upstream.clone()).collect::<Vec<_>>();
        MatrixError::UnknownVersion {
            library: source.name.clone(),
            package: source.package.clone(),
            version: version.to_string(),
            nearest: nearest(version, &known),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::matrix::Sources;

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
        let refused = find(&source, "3.0.21", &known);
        assert!(
            matches!(refused, Err(MatrixError::UnknownVersion { nearest, .. }) if nearest == ["3.0.1", "3.0.2", "3.0.3"])
        );
    }
}
