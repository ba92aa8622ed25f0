//! What a loader prints when it is asked what it loads (glibc 2.31 to 2.41).

use super::{Linkage, Missing, MissingKind};
use crate::bisect::inside::Inside;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What was found and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    loaded: BTreeMap<String, PathBuf>,
    missing: BTreeSet<Missing>,
}

impl Listing {
    /// Reads what was printed for a program.
    pub fn read(text: &str, program: &Path, inside: &Inside) -> Listing {
        let mut listing = Listing::default();
        for line in text.lines() {
            if let Some(missing) = version(line).or_else(|| symbol(line)) {
                listing.missing.insert(missing);
            } else if let Some((name, path)) = line.trim().split_once(" => ") {
                listing.library(name, path);
            } else if let Some((path, _)) = line.trim().split_once(" (0x").filter(|(path, _)| path.starts_with('/')) {
                // By its path: what was preloaded, and the loader.
                let path = PathBuf::from(path);
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                listing.loaded.insert(name, path);
            }
        }
        if listing.loaded.is_empty() && listing.missing.is_empty() && !text.contains("statically linked") {
            listing.died(text, program, inside);
        }
        listing
    }

    fn library(&mut self, name: &str, path: &str) {
        if path.trim() == "not found" {
            let (kind, what) = (MissingKind::Library, name.to_string());
            self.missing.insert(Missing { kind, what, of: String::new(), wanted_by: PathBuf::new() });
        } else if let Some((path, _)) = path.rsplit_once(" (0x") {
            self.loaded.insert(name.to_string(), PathBuf::from(path));
        }
    }

    /// A loader that says nothing useful: what it says stands for what is missing.
    fn died(&mut self, text: &str, program: &Path, inside: &Inside) {
        if inside.real(program).is_some() {
            let what = text.lines().next().unwrap_or("a usable answer from the loader").to_string();
            let wanted_by = program.to_path_buf();
            self.missing.insert(Missing { kind: MissingKind::Symbol, what, of: String::new(), wanted_by });
        }
    }

    /// All of both.
    pub fn join(&mut self, other: Listing) {
        other.loaded.into_iter().for_each(|(name, path)| {
            self.loaded.entry(name).or_insert(path);
        });
        self.missing.extend(other.missing);
    }

    /// What both miss, and what either loads.
    pub fn meet(&mut self, other: Listing) {
        self.missing = self.missing.intersection(&other.missing).cloned().collect();
        self.join(Listing { missing: BTreeSet::new(), ..other });
    }

    pub fn into_linkage(self) -> Linkage {
        Linkage { loaded: self.loaded, missing: self.missing.into_iter().collect() }
    }
}

/// ``PROGRAM: LIBRARY: version `V' not found (required by WHO)``, and a library without any versions:
/// `PROGRAM: LIBRARY: no version information available (required by WHO)`, which is a warning only, and so nothing missing.
fn version(line: &str) -> Option<Missing> {
    let (before, after) = line.split_once(": version `")?;
    let (what, after) = after.split_once("' not found (required by ")?;
    let of = before.rsplit(": ").next()?.to_string();
    let wanted_by = after.strip_suffix(')')?.into();
    Some(Missing { kind: MissingKind::Version, what: what.to_string(), of, wanted_by })
}

/// `undefined symbol: S, version V (WHO)`.
fn symbol(line: &str) -> Option<Missing> {
    let after = line.split_once("undefined symbol: ")?.1;
    let (symbol, who) = after.split_once('\t').or_else(|| after.split_once(" ("))?;
    let (what, of) = symbol.split_once(", version ").unwrap_or((symbol, ""));
    let wanted_by = who.trim().trim_start_matches('(').trim_end_matches(')').into();
    Some(Missing { kind: MissingKind::Symbol, what: what.to_string(), of: of.trim().to_string(), wanted_by })
}

/// A door for fuzzers: any text.
pub(in crate::bisect) fn fuzz(text: &str) {
    let root = record::Root { layers: vec!["/".into()], ..record::Root::default() };
    let inside = Inside::of(root);
    let mut listing = Listing::read(text, Path::new("/"), &inside);
    listing.join(Listing::read(text, Path::new("/nothing"), &inside));
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\tlinux-vdso.so.1 (0x00007ffbcd7e0000)\n\t/opt/plug.so (0x01)\n\tlibb.so.1 => /usr/lib/libb.so.1 (0x02)\n\
        \tlibu.so.1 => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x03)\n\
        /opt/p: /usr/lib/liba.so.1: version `A_2' not found (required by /usr/lib/libb.so.1)\n\
        /opt/p: /usr/lib/liba.so.1: no version information available (required by /usr/lib/libb.so.1)\n\
        undefined symbol: a_new, version A_2\t(/usr/lib/libb.so.1)\nundefined symbol: u\t(/opt/plug.so)\n";

    fn linkage(text: &str) -> Linkage {
        let root = record::Root { layers: vec!["/".into()], ..record::Root::default() };
        Listing::read(text, Path::new("/"), &Inside::of(root)).into_linkage()
    }

    #[test]
    fn what_is_found_and_what_is_not_is_read() {
        let linkage = linkage(TEXT);
        let loaded = linkage.loaded.keys().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(loaded, ["ld-linux-x86-64.so.2", "libb.so.1", "plug.so"]);
        let missing = linkage.missing.iter().map(|one| (one.kind, one.what.as_str(), one.of.as_str()));
        let expected = [
            (MissingKind::Library, "libu.so.1", ""),
            (MissingKind::Version, "A_2", "/usr/lib/liba.so.1"),
            (MissingKind::Symbol, "a_new", "A_2"),
            (MissingKind::Symbol, "u", ""),
        ];
        assert_eq!(missing.collect::<Vec<_>>(), expected);
        assert_eq!(linkage.missing[1].wanted_by, Path::new("/usr/lib/libb.so.1"));
        assert_eq!(linkage.missing[3].wanted_by, Path::new("/opt/plug.so"));
    }

    #[test]
    fn a_loader_that_dies_does_not_count_as_one_that_misses_nothing() {
        assert_eq!(linkage("").missing.len(), 1);
        assert_eq!(linkage("\tstatically linked\n"), Linkage::default());
    }
}
