//! The libraries that are meant, before anything is asked of the network.

use crate::MatrixError;
use lab::Asked;
use lab::matrix::{Source, Sources};
use std::path::PathBuf;
use std::str::FromStr;

/// A library and its versions, as it is typed: `openssl=1.1.1w,3.0.2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its versions: one at least, none twice.
    pub versions: Vec<String>,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Named, String> {
        let wrong = || format!("`{text}` is not NAME=VERSION,...");
        let (name, list) = text.split_once('=').ok_or_else(wrong)?;
        let mut versions: Vec<String> = Vec::new();
        for version in list.split(',').map(str::trim) {
            if version.is_empty() {
                return Err(wrong());
            }
            if !versions.iter().any(|known| known == version) {
                versions.push(version.to_string());
            }
        }
        Ok(Named { name: name.trim().to_string(), versions })
    }
}

/// Libraries, each with how it is built.
pub struct Libraries {
    /// The library.
    pub library: Source,
    /// Its versions: two at least, none twice.
    pub versions: Vec<String>,
    /// What is built on each beside it.
    pub with: Vec<(Source, String)>,
}

impl Libraries {
    /// Finds out how each is built; `files` say so for those that whyslow does not know.
    ///
    /// # Errors
    /// Where a file is wrong, a library is not known, or there is nothing to compare.
    pub fn find(library: &Named, with: &[Named], files: &[PathBuf]) -> Result<Libraries, MatrixError> {
        let wrong = |place: usize, why| MatrixError::Source { file: files[place].clone(), why };
        let read = |(place, file)| std::fs::read_to_string(file).map_err(|error| wrong(place, error.to_string()));
        let texts = files.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        let sources = Sources::with(&texts).map_err(|(place, why)| wrong(place, why))?;
        let source = |named: &Named| {
            let known = || sources.names().iter().map(ToString::to_string).collect();
            let unknown = || MatrixError::UnknownLibrary { library: named.name.clone(), known: known() };
            sources.named(&named.name).cloned().ok_or_else(unknown)
        };
        let found = Libraries { library: source(library)?, versions: library.versions.clone(), with: Vec::new() };
        if found.versions.len() < 2 {
            let why = "there is nothing to compare; name at least two versions, separated by commas";
            return Err(MatrixError::Libraries(why.to_string()));
        }
        with.iter().try_fold(found, |found, named| found.beside(source(named)?, &named.versions))
    }

    /// The same with another one built on each version.
    fn beside(mut self, source: Source, versions: &[String]) -> Result<Libraries, MatrixError> {
        let [version] = versions else {
            let why = format!("--with takes one version of {}, the same for all", source.name);
            return Err(MatrixError::Libraries(why));
        };
        if source.name == self.library.name || self.with.iter().any(|(known, _)| known.name == source.name) {
            return Err(MatrixError::Libraries(format!("{} is there twice", source.name)));
        }
        self.with.push((source, version.clone()));
        Ok(self)
    }
}

/// Reads an intervention that versions can be measured with: its name, with its dose.
///
/// # Errors
/// One sentence, where there is none of that name, or it proves nothing here.
pub fn tried(text: &str) -> Result<String, String> {
    let asked = text.parse::<Asked>().map_err(|error| error.to_string())?;
    if asked.intervention.needs_same_output {
        let name = asked.intervention.name;
        return Err(format!(
            "{name} proves something only if outputs are compared; run compares them, matrix does not"
        ));
    }
    Ok(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(library: &str, with: &[&str]) -> String {
        let found = || {
            let named = |text: &str| text.parse::<Named>().map_err(MatrixError::Libraries);
            let with = with.iter().map(|text| named(text)).collect::<Result<Vec<_>, _>>()?;
            Libraries::find(&named(library)?, &with, &[])
        };
        found().map(|_| ()).map_err(|error| error.to_string()).err().unwrap_or_default()
    }

    #[test]
    fn libraries_and_versions_are_checked_before_anything_is_asked_for() {
        assert_eq!(refused("openssl=1.1.1w,3.0.2", &["curl=8.0.1"]), "");
        assert!(refused("opensls=1,2", &[]).contains("opensls"));
        assert!(refused("openssl", &[]).contains("NAME=VERSION"));
        assert!(refused("openssl=3.0.2", &[]).contains("at least two"));
        assert!(refused("openssl=3.0.2,3.0.2", &[]).contains("at least two"));
        assert!(refused("openssl=1,2", &["curl=1,2"]).contains("one version"));
        assert!(refused("openssl=1,2", &["openssl=1"]).contains("twice"));
        assert!(refused("openssl=1,,2", &[]).contains("NAME=VERSION"));
    }

    #[test]
    fn what_is_tried_is_checked_before_anything_is_built() {
        assert_eq!(tried("delayed-ack-cap=8"), Ok("delayed-ack-cap=8".to_string()));
        assert!(tried("warp").is_err_and(|why| why.contains("not an intervention")));
        assert!(tried("share-ssl-context=2").is_err_and(|why| why.contains("takes no dose")));
        assert!(tried("switch-off=work").is_err_and(|why| why.contains("outputs are compared")));
    }
}
