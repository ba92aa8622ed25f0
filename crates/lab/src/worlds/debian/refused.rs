//! Why a release could not be made, from what apt and mmdebstrap said.

use crate::LabError;
use crate::worlds::mirror::PATIENCE;
use crate::worlds::needs::Need;
use crate::worlds::sandbox::Sandbox;
use crate::worlds::tool::{self, Done};
use nix::fcntl::OFlag;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::process::Command;

/// What apt says where a server cannot be reached, or stops in the middle.
const UNREACHABLE: [&str; 9] = [
    "Could not connect",
    "Could not resolve",
    "Temporary failure resolving",
    "Unable to connect",
    "Connection failed",
    "Connection timed out",
    "Cannot initiate the connection",
    "Connection reset",
    "Error reading from server",
];
/// Lines of the log that are shown where it says nothing that is known.
const LAST_LINES: usize = 3;
/// A mirror's list of releases is a page of some kilobytes.
const LARGEST_PAGE: u64 = 1 << 20;

/// The error for a run of mmdebstrap, or of apt, that failed.
pub(in crate::worlds) fn refused(suite: &str, mirror: &str, needs: &[Need], done: &Done) -> LabError {
    let said = |words: &str| done.said.contains(words);
    let (why, remedy) = if let Some(missing) = missing(&done.said) {
        lacks(suite, &missing, needs)
    } else if UNREACHABLE.iter().any(|words| said(words)) {
        let host = host(mirror);
        let why = format!("the mirror {host} cannot be reached, or stopped half-way; what was downloaded is kept");
        (why, format!("the same command again, once this works: curl -I {mirror}/dists/"))
    } else if said("No space left on device") {
        (
            "there is no space left for it".to_string(),
            "df -h; or WHYSLOW_CACHE=FOLDER-ON-ANOTHER-DISK in front of the command".into(),
        )
    } else if said("NO_PUBKEY") || said("signatures couldn't be verified") || said("is not signed") {
        let why = format!("its signature on {mirror} cannot be verified with this host's keys");
        (why, "sudo apt install --only-upgrade debian-archive-keyring".into())
    } else if said("does not have a Release file") || said("404 ") {
        unknown(suite, mirror)
    } else {
        (done.last_words(LAST_LINES), String::new())
    };
    LabError::NoWorld { world: format!("debian:{suite}"), why, remedy }
}

/// A package that apt does not know.
fn missing(said: &str) -> Option<String> {
    said.lines().find_map(|line| {
        let name = line.strip_prefix("E: Unable to locate package ");
        let name = name.or_else(|| line.strip_prefix("E: Package '")?.strip_suffix("' has no installation candidate"));
        let name = name.or_else(|| line.strip_prefix("E: Couldn't find any package by glob '")?.strip_suffix('\''));
        name.map(|name| name.trim().to_string())
    })
}

fn lacks(suite: &str, missing: &str, needs: &[Need]) -> (String, String) {
    let need = needs.iter().find(|need| need.package == missing);
    let role = need.map(|need| format!(" ({})", need.role)).unwrap_or_default();
    let why = format!("{suite} has no package `{missing}`{role}");
    (why, "name its replacement with --package, and run a program that does not need it".to_string())
}

fn unknown(suite: &str, mirror: &str) -> (String, String) {
    let known = suites(mirror);
    let why = format!("{mirror} has no release `{suite}`");
    match known.as_slice() {
        [] => (why, format!("look at {mirror}/dists/")),
        known => (format!("{why}; it has {}", known.join(", ")), "whyslow world make debian:bookworm".to_string()),
    }
}

/// The releases that a mirror lists; none where it does not say. Whoever asks is apt's own user, as everywhere.
fn suites(mirror: &str) -> Vec<String> {
    let helper = "/usr/lib/apt/apt-helper";
    let open_to_all = std::fs::Permissions::from_mode(0o755);
    let Ok(place) = tempfile::Builder::new().permissions(open_to_all).tempdir() else { return Vec::new() };
    let (sandbox, folder) = (Sandbox::below(place.path()), place.path().join("downloads"));
    if tool::find("apt-get").is_none() || sandbox.make_folder(&folder).is_err() {
        return Vec::new();
    }
    let page = folder.join("dists");
    let patience = PATIENCE.iter().map(|(option, value)| (*option, (*value).to_string()));
    let settings = patience.chain(sandbox.setting());
    let options = settings.flat_map(|(option, value)| ["-o".to_string(), format!("{option}={value}")]);
    let fetched =
        Command::new(helper).args(options).arg("download-file").arg(format!("{mirror}/dists/")).arg(&page).output();
    if !fetched.is_ok_and(|output| output.status.success()) {
        return Vec::new();
    }
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(&page);
    let mut text = String::new();
    let read = opened.and_then(|file| file.take(LARGEST_PAGE).read_to_string(&mut text));
    read.map(|_| releases(&text)).unwrap_or_default()
}

/// The plain names among the links of a folder's page: no updates, no numbers, no proposals.
fn releases(page: &str) -> Vec<String> {
    let names = page.split("href=\"").skip(1).filter_map(|link| link.split('"').next()?.strip_suffix('/'));
    let is_plain = |name: &&str| !name.is_empty() && name.bytes().all(|letter| letter.is_ascii_lowercase());
    let mut names = names.filter(is_plain).map(String::from).collect::<Vec<_>>();
    names.sort();
    names.dedup();
    names
}

/// The host in an address.
fn host(mirror: &str) -> &str {
    let rest = mirror.split_once("://").map_or(mirror, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Ended;

    fn why(said: &str) -> String {
        let done = Done { ended: Ended { exit: Some(25), signal: None }, said: said.to_string() };
        let needs = [Need { package: "gcc-99".into(), role: "/usr/bin/gcc".into() }];
        refused("x", "http://mirror.invalid/debian", &needs, &done).to_string()
    }

    #[test]
    fn a_missing_package_is_named_with_what_it_was_for() {
        assert_eq!(why("I: x\nE: Unable to locate package gcc-99\n"), "x has no package `gcc-99` (/usr/bin/gcc)");
        assert!(why("E: Package 'curl' has no installation candidate").contains("no package `curl`"));
    }

    #[test]
    fn a_mirror_that_is_silent_is_distinguished_from_one_without_the_release() {
        let dead = "W: Could not connect to 127.0.0.1:9\nE: The repository 'x' does not have a Release file.";
        assert!(why(dead).contains("the mirror mirror.invalid cannot be reached"));
    }

    #[test]
    fn what_is_not_known_is_passed_on() {
        assert_eq!(why("I: a\nE: b\n\nE: c\n"), "I: a; E: b; E: c");
    }

    #[test]
    fn releases_are_read_off_a_folders_page() {
        let page =
            r#"<a href="../">..</a><a href="bookworm/">b</a><a href="Debian12.1/"><a href="sid/"><a href="sid-x/">"#;
        assert_eq!(releases(page), ["bookworm", "sid"]);
    }
}
