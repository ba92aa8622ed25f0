//! Where Debian's packages come from, and by which keys they are verified.

use crate::LabError;
use std::path::{Path, PathBuf};

/// Debian's own, which leads to one nearby.
const DEFAULT: &str = "http://deb.debian.org/debian";
/// The keys of Debian's releases, from the package debian-archive-keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// A mirror that says nothing for so long is given up, in seconds, after so many attempts.
pub(super) const PATIENCE: [(&str, &str); 3] =
    [("Acquire::Retries", "2"), ("Acquire::http::Timeout", "20"), ("Acquire::https::Timeout", "20")];

/// The mirror: `$WHYSLOW_MIRROR`, else that of this host where it is a Debian, else Debian's own.
pub(super) fn mirror() -> String {
    let named = std::env::var("WHYSLOW_MIRROR").ok().filter(|mirror| !mirror.is_empty());
    let mirror = named.or_else(|| of_host(Path::new("/"))).unwrap_or_else(|| DEFAULT.to_string());
    mirror.trim_end_matches('/').to_string()
}

/// The keyring that packages are verified by.
///
/// # Errors
/// Where this host has none.
pub(super) fn keyring() -> Result<PathBuf, LabError> {
    let keyring = PathBuf::from(KEYRING);
    if keyring.is_file() {
        return Ok(keyring);
    }
    Err(LabError::NoWorld {
        world: "a verified Debian".to_string(),
        why: format!("its packages are verified by the keys in {KEYRING}, which is not there"),
        remedy: "sudo apt install debian-archive-keyring".to_string(),
    })
}

/// A line for `sources.list`.
///
/// # Errors
/// As [`keyring`].
pub(super) fn source_line(mirror: &str, suite: &str) -> Result<String, LabError> {
    Ok(format!("deb [signed-by={}] {mirror} {suite} main", keyring()?.display()))
}

/// Refuses a suite's name that could be read as anything else, by a tool or in a file.
///
/// # Errors
/// Where it has other letters than such names have.
pub(super) fn check_suite(suite: &str) -> Result<(), LabError> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/".contains(letter);
    if suite.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && suite.chars().all(is_plain)
        && !suite.contains("..")
    {
        return Ok(());
    }
    Err(LabError::NoWorld {
        world: format!("debian:{suite}"),
        why: "a release's name consists of letters, digits, - and .".to_string(),
        remedy: "whyslow world make debian:bookworm".to_string(),
    })
}

/// Refuses a package's name that is none.
///
/// # Errors
/// Where it is none by Debian's policy (5.6.1).
pub(super) fn check_package(name: &str) -> Result<(), LabError> {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "+-.".contains(letter);
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    if name.len() > 1 && begins_well && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(LabError::NoWorld {
        world: format!("the package `{name}`"),
        why: "a package's name consists of lowercase letters, digits, +, - and .".to_string(),
        remedy: "apt-cache search WORD".to_string(),
    })
}

/// Refuses a package's version that is none.
///
/// # Errors
/// Where it is none by Debian's policy (5.6.12).
pub(super) fn check_version(version: &str) -> Result<(), LabError> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".+-:~".contains(letter);
    if version.starts_with(|letter: char| letter.is_ascii_digit()) && version.chars().all(is_plain) {
        return Ok(());
    }
    Err(LabError::NoWorld {
        world: format!("the version `{version}`"),
        why: "a package's version begins with a digit and consists of letters, digits and . + - : ~".to_string(),
        remedy: "apt-cache policy PACKAGE".to_string(),
    })
}

/// Refuses a mirror's address that could be anything else.
///
/// # Errors
/// Where it is none of HTTP, or has letters that no such address has.
pub(super) fn check_mirror(mirror: &str) -> Result<(), LabError> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~:/@%+=,[]".contains(letter);
    let rest = mirror.strip_prefix("http://").or_else(|| mirror.strip_prefix("https://"));
    if rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_plain)) {
        return Ok(());
    }
    Err(LabError::NoWorld {
        world: format!("packages from {mirror}"),
        why: "a mirror is named by an address that begins with http:// or https://".to_string(),
        remedy: "WHYSLOW_MIRROR=http://deb.debian.org/debian".to_string(),
    })
}

/// The mirror in a Debian's own sources: where its release comes from.
fn of_host(base: &Path) -> Option<String> {
    let release = std::fs::read_to_string(base.join("etc/os-release")).ok()?;
    let value =
        |name: &str| release.lines().find_map(|line| Some(line.strip_prefix(name)?.trim_matches('"').to_string()));
    let codename = value("VERSION_CODENAME=").filter(|_| value("ID=").as_deref() == Some("debian"))?;
    let folder = base.join("etc/apt/sources.list.d");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files = entries.filter_map(|entry| Some(entry.ok()?.path())).collect::<Vec<_>>();
    files.sort();
    files.insert(0, base.join("etc/apt/sources.list"));
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).find_map(|text| of_sources(&text, &codename))
}

/// A door for fuzzers: any text.
pub(super) fn fuzz(text: &str) {
    of_sources(text, "bookworm");
}

/// The address in either form of sources which has the release itself.
fn of_sources(text: &str, codename: &str) -> Option<String> {
    let is_address = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    for line in text.lines().filter_map(|line| line.strip_prefix("deb ")) {
        let mut words = line.split_whitespace().skip_while(|word| !is_address(word));
        if let (Some(address), Some(suite)) = (words.next(), words.next())
            && suite == codename
        {
            return Some(address.to_string());
        }
    }
    text.split("\n\n").find_map(|paragraph| {
        let field = |name: &str| paragraph.lines().find_map(|line| line.strip_prefix(name));
        let has_suite = field("Suites:")?.split_whitespace().any(|suite| suite == codename);
        let address = field("URIs:")?.split_whitespace().find(is_address)?;
        has_suite.then(|| address.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_where_the_release_itself_comes_from() {
        let new = "Types: deb\nURIs: http://security/x\nSuites: bookworm-security\n\n\
            Types: deb\n# a comment\nURIs: http://near/debian\nSuites: bookworm bookworm-updates\n";
        assert_eq!(of_sources(new, "bookworm").as_deref(), Some("http://near/debian"));
        let old = "# deb http://no/x bookworm main\ndeb cdrom:x bookworm main\n\
            deb [signed-by=/a] http://old/debian bookworm main\n";
        assert_eq!(of_sources(old, "bookworm").as_deref(), Some("http://old/debian"));
        assert_eq!(of_sources(old, "trixie"), None);
    }

    #[test]
    fn names_that_could_be_anything_else_are_refused() {
        assert!(check_suite("bookworm-backports").is_ok() && check_package("libstdc++6").is_ok());
        for bad in ["", "-x", "a b", "a\nb", "../x", "a]b", "$(x)"] {
            assert!(check_suite(bad).is_err() && check_package(bad).is_err(), "{bad}");
        }
        assert!(check_package("a,b").is_err() && check_package("A").is_err());
        assert!(check_mirror("https://user:word@near.example:8080/debian").is_ok());
        for bad in ["", "http://", "file:///etc", "http://near/ x", "http://near/\nx", "copy:/x"] {
            assert!(check_mirror(bad).is_err(), "{bad}");
        }
    }
}
