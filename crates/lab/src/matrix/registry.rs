//! The registry of crates, for what some of them carry: upstream's sources.

use super::download;
use super::pins::Pins;
use super::problem::Fault;
use super::process::Stop;
use super::release::Release;
use super::source::Source;
use super::version::older_first;
use serde::Deserialize;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The registry's own index.
const INDEX: &str = "https://index.crates.io";
/// Where its files are. Its index says so, too; this saves asking.
const FILES: &str = "https://static.crates.io/crates";
/// Variables that name another index, a mirror: ours, then cargo's.
const VARIABLES: [&str; 2] = ["WHYSLOW_CRATES_INDEX", "CARGO_REGISTRIES_CRATES_IO_INDEX"];

/// A registry, and what is kept of it.
#[derive(Clone, Debug)]
pub struct Registry {
    index: String,
    folder: PathBuf,
}

/// A line of the index.
#[derive(Deserialize)]
struct Line {
    vers: String,
    cksum: String,
    #[serde(default)]
    yanked: bool,
}

/// What an index says of its registry.
#[derive(Deserialize)]
struct Configuration {
    dl: String,
}

impl Registry {
    /// The registry, or the mirror that the environment names; what is fetched is kept in this folder.
    pub fn open(folder: PathBuf) -> Registry {
        let named = VARIABLES.iter().find_map(|name| std::env::var(name).ok()).filter(|address| !address.is_empty());
        Registry::at(&named.unwrap_or_else(|| INDEX.to_string()), folder)
    }

    /// The registry whose sparse index is at this address.
    pub fn at(address: &str, folder: PathBuf) -> Registry {
        let index = address.trim_start_matches("sparse+").trim_end_matches('/').to_string();
        Registry { index, folder }
    }

    /// The packages that carry a version of upstream's, the best of each version: the newest that was not withdrawn. Where
    /// the registry cannot be reached, as it was when it was asked last.
    ///
    /// # Errors
    /// Where it cannot be reached and never was.
    pub fn releases(&self, source: &Source, stop: &Stop) -> Result<Vec<Release>, Fault> {
        std::fs::create_dir_all(&self.folder).map_err(Fault::io(&self.folder))?;
        let kept = self.folder.join(format!("{}.index", source.package));
        let address = format!("{}/{}", self.index, place(&source.package));
        match download::fetch_anew(&address, &kept, stop) {
            Err(Fault::Failed(_)) if kept.is_file() => {}
            Err(fault) => return Err(fault),
            Ok(()) => {}
        }
        let text = std::fs::read_to_string(&kept).map_err(Fault::io(&kept))?;
        Ok(best(releases(&text, &source.marker)))
    }

    /// The file of a package, checked: against the digest that it is known by where it is known, else against the index.
    ///
    /// # Errors
    /// Where it cannot be fetched, or is not what it is known as or what the index says.
    pub fn fetch(&self, package: &str, release: &Release, stop: &Stop) -> Result<PathBuf, Fault> {
        let file = self.folder.join(format!("{package}-{}.crate", release.version));
        let pins = Pins::of(&self.folder);
        pins.check(package, release)?;
        let address = self.address(package, release, stop)?;
        download::fetch(&address, &file, &release.checksum, stop)?;
        pins.note(package, release)?;
        Ok(file)
    }

    /// Where a package's file is: the index of a mirror says so.
    fn address(&self, package: &str, release: &Release, stop: &Stop) -> Result<String, Fault> {
        let template = if self.index == INDEX {
            FILES.to_string()
        } else {
            let file = self.folder.join("config.json");
            download::fetch_anew(&format!("{}/config.json", self.index), &file, stop)?;
            let text = std::fs::read_to_string(&file).map_err(Fault::io(&file))?;
            let read: Result<Configuration, _> = serde_json::from_str(&text);
            read.map_err(|error| {
                Fault::fetching(format!("{}/config.json is not from a registry: {error}", self.index))
            })?
            .dl
        };
        // A plus sign in an address can mean a blank.
        let version = release.version.replace('+', "%2B");
        if !template.contains('{') {
            return Ok(format!("{}/{package}/{version}/download", template.trim_end_matches('/')));
        }
        let place = place(package);
        let prefix = Path::new(&place).parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        Ok(template
            .replace("{crate}", package)
            .replace("{version}", &version)
            .replace("{prefix}", &prefix)
            .replace("{lowerprefix}", &prefix)
            .replace("{sha256-checksum}", &release.checksum))
    }
}

/// Where a package stands in an index: by the letters its name begins with.
fn place(package: &str) -> String {
    let name = package.to_lowercase();
    match name.len() {
        0..=2 => format!("{}/{name}", name.len()),
        3 => format!("3/{}/{name}", &name[..1]),
        _ => format!("{}/{}/{name}", &name[..2], &name[2..4]),
    }
}

/// All packages in an index that carry a version of upstream's. Lines that cannot be read are of a later format.
fn releases(text: &str, marker: &str) -> Vec<Release> {
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let carried = lines.filter_map(|line| {
        let (_, metadata) = line.vers.split_once('+')?;
        let upstream = metadata.strip_prefix(marker).filter(|upstream| !upstream.is_empty())?.to_string();
        Some(Release { upstream, checksum: line.cksum, is_yanked: line.yanked, version: line.vers })
    });
    carried.collect()
}

/// The best package of each version of upstream's, oldest version first.
fn best(mut all: Vec<Release>) -> Vec<Release> {
    let own = |release: &Release| release.version.split('+').next().unwrap_or_default().to_string();
    all.sort_by(|a, b| {
        let by_version = older_first(&a.upstream, &b.upstream);
        by_version.then(a.is_yanked.cmp(&b.is_yanked)).then(older_first(&own(b), &own(a)))
    });
    all.dedup_by(|later, kept| older_first(&later.upstream, &kept.upstream) == Ordering::Equal);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(lines: &[(&str, bool)]) -> String {
        let line = |(version, yanked): &(&str, bool)| {
            format!("{{\"name\":\"x\",\"vers\":\"{version}\",\"cksum\":\"{version}\",\"yanked\":{yanked}}}\n")
        };
        lines.iter().map(line).collect::<String>() + "from a later format\n"
    }

    #[test]
    fn the_newest_package_of_a_version_counts_and_a_withdrawn_one_only_where_there_is_no_other() {
        let text = index(&[
            ("111.9.0+1.1.1w", false),
            ("111.28.2+1.1.1w", false),
            ("111.28.3+1.1.1w", true),
            ("300.0.10+3.0.6", true),
            ("110.0.0", false),
        ]);
        let found = best(releases(&text, ""));
        let found = found.iter().map(|one| (one.upstream.as_str(), one.version.as_str(), one.is_yanked));
        let expected = [("1.1.1w", "111.28.2+1.1.1w", false), ("3.0.6", "300.0.10+3.0.6", true)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_marker_is_taken_off_and_what_has_none_is_no_version() {
        let text = index(&[("0.4.61+curl-8.0.1", false), ("0.4.60+8.0.0", false)]);
        let found = releases(&text, "curl-");
        assert_eq!(found.iter().map(|one| one.upstream.as_str()).collect::<Vec<_>>(), ["8.0.1"]);
    }

    #[test]
    fn a_package_stands_where_cargo_looks_for_it() {
        assert_eq!(["a", "ab", "abc", "curl-sys"].map(place), ["1/a", "2/ab", "3/a/abc", "cu/rl/curl-sys"]);
    }

    #[test]
    fn a_mirror_says_where_its_files_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let mirror = folder.path().join("mirror");
        std::fs::create_dir_all(mirror.join("op/en")).expect("made");
        std::fs::write(mirror.join("op/en/openssl-src"), index(&[("1.0.0+3.0.2", false)])).expect("written");
        let source = crate::matrix::Sources::with(&[]).expect("sources").named("openssl").expect("it").clone();
        let registry = Registry::at(&format!("sparse+file://{}/", mirror.display()), folder.path().join("kept"));
        let release = registry.releases(&source, &Stop::default()).expect("releases").remove(0);
        assert_eq!(release.version, "1.0.0+3.0.2");
        for (dl, expected) in [
            ("https://here/dl", "https://here/dl/openssl-src/1.0.0%2B3.0.2/download"),
            ("https://here/{prefix}/{crate}-{version}.crate", "https://here/op/en/openssl-src-1.0.0%2B3.0.2.crate"),
        ] {
            std::fs::write(mirror.join("config.json"), format!("{{\"dl\":\"{dl}\"}}")).expect("written");
            assert_eq!(registry.address("openssl-src", &release, &Stop::default()).expect("an address"), expected);
        }
        // Once asked, it is known also where the mirror cannot be reached any more.
        std::fs::remove_dir_all(&mirror).expect("removed");
        assert_eq!(registry.releases(&source, &Stop::default()).expect("releases").len(), 1);
        let other = Registry::at("file:///nowhere", folder.path().join("other"));
        assert!(matches!(other.releases(&source, &Stop::default()), Err(Fault::Failed(_))));
    }
}
