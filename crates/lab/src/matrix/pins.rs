//! Digests that packages are known by, whatever an index says now: what a registry has published under a version never changes, so
//! that another digest is another's work. For the libraries that whyslow knows they stand beside their sources; those of all other
//! packages are written down when they are first fetched.

use super::problem::Fault;
use super::release::Release;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// In the form of sha256sum: a digest and the name of a file, a line each.
const KNOWN: [&str; 3] = [
    include_str!("../../sources/openssl.sha256"),
    include_str!("../../sources/curl.sha256"),
    include_str!("../../sources/zstd.sha256"),
];

/// The digests of a registry's packages.
pub struct Pins {
    /// Where those that were met first here are written down.
    file: PathBuf,
}

impl Pins {
    /// Those of the registry whose files are kept in a folder.
    pub fn of(folder: &Path) -> Pins {
        Pins { file: folder.join("first-seen.sha256") }
    }

    /// Whether a package has the digest that it is known by.
    ///
    /// # Errors
    /// Where it has another, or what was written down cannot be read.
    pub fn check(&self, package: &str, release: &Release) -> Result<(), Fault> {
        let name = name(package, release);
        let known = KNOWN.iter().find_map(|list| digest(list, &name)).map(String::from);
        let known =
            known.map_or_else(|| Ok(digest(&self.written()?, &name).map(String::from)), |known| Ok(Some(known)))?;
        match known {
            Some(known) if !known.eq_ignore_ascii_case(&release.checksum) => Err(Fault::fetching(format!(
                "the registry gives {name} the SHA-256 {}, but it is known by {known}: it was replaced, here or on the way",
                release.checksum
            ))),
            _ => Ok(()),
        }
    }

    /// Writes the digest of a package down that was fetched, unless it is known.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn note(&self, package: &str, release: &Release) -> Result<(), Fault> {
        let name = name(package, release);
        if KNOWN.iter().any(|list| digest(list, &name).is_some()) || digest(&self.written()?, &name).is_some() {
            return Ok(());
        }
        let opened = OpenOptions::new().create(true).append(true).open(&self.file);
        // In one piece: another build may add its line meanwhile.
        let line = format!("{}  {name}\n", release.checksum);
        opened.and_then(|mut file| file.write_all(line.as_bytes())).map_err(Fault::io(&self.file))
    }

    fn written(&self) -> Result<String, Fault> {
        match std::fs::read_to_string(&self.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(&self.file)(error)),
            read => Ok(read.unwrap_or_default()),
        }
    }
}

/// A package's file, as the registry names it.
fn name(package: &str, release: &Release) -> String {
    format!("{package}-{}.crate", release.version)
}

/// The digest of a file in a list.
fn digest<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    list.lines().find_map(|line| line.split_once("  ").filter(|(_, other)| *other == name)).map(|(digest, _)| digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(version: &str, checksum: &str) -> Release {
        Release { upstream: String::new(), version: version.into(), checksum: checksum.into(), is_yanked: false }
    }

    #[test]
    fn every_line_is_a_digest_and_a_package_and_no_package_stands_there_twice() {
        let lines = KNOWN.iter().flat_map(|list| list.lines()).collect::<Vec<_>>();
        let names = lines.iter().map(|line| {
            let (digest, name) = line.split_once("  ").expect("two words");
            assert!(digest.len() == 64 && digest.bytes().all(|digit| digit.is_ascii_hexdigit()), "{line}");
            assert!(name.contains('+') && name.rsplit('.').next() == Some("crate"), "{line}");
            name
        });
        let distinct = names.collect::<std::collections::BTreeSet<_>>();
        assert!(distinct.len() == lines.len() && lines.len() > 200, "{} of {}", distinct.len(), lines.len());
    }

    #[test]
    fn a_known_package_is_refused_under_another_digest() {
        let folder = tempfile::tempdir().expect("a folder");
        let pins = Pins::of(folder.path());
        let right = "1ade53d6e7d59add844ee3292db866b20146b56914cd9b263c2763ed8c4e0a83";
        assert!(pins.check("openssl-src", &release("110.0.0+1.1.0f", right)).is_ok());
        assert!(pins.check("openssl-src", &release("110.0.0+1.1.0f", &right.to_uppercase())).is_ok());
        let wrong = pins.check("openssl-src", &release("110.0.0+1.1.0f", &right.replace('1', "2")));
        let Err(Fault::Failed(problem)) = wrong else { panic!("taken") };
        assert!(problem.why.contains(right) && problem.why.contains("replaced"), "{}", problem.why);
        // What is known is written down nowhere else.
        pins.note("openssl-src", &release("110.0.0+1.1.0f", right)).expect("noted");
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
    }

    #[test]
    fn any_other_package_keeps_the_digest_that_it_was_first_fetched_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let pins = Pins::of(folder.path());
        assert!(pins.check("tiny-sys", &release("1+1", "aa")).is_ok());
        for _ in 0..2 {
            pins.note("tiny-sys", &release("1+1", "aa")).expect("noted");
        }
        pins.note("tiny-sys", &release("1+2", "bb")).expect("noted");
        let text = std::fs::read_to_string(folder.path().join("first-seen.sha256")).expect("there");
        assert_eq!(text, "aa  tiny-sys-1+1.crate\nbb  tiny-sys-1+2.crate\n");
        assert!(pins.check("tiny-sys", &release("1+1", "aa")).is_ok());
        assert!(pins.check("tiny-sys", &release("1+1", "bb")).is_err());
        assert!(pins.check("tiny-sys", &release("1+3", "cc")).is_ok());
    }
}
