//! Whether a subject really runs on the versions that were built for it.

use super::elf::{self, Start};
use super::prefix::Prefix;
use record::User;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is named of several files.
const MOST_NAMED: usize = 3;

/// The loader's search path: our folders first, then those that it already has.
pub fn library_path(prefixes: &[Prefix], before: Option<OsString>) -> String {
    let own = prefixes.iter().rev().flat_map(Prefix::library_folders).map(|folder| folder.display().to_string());
    let before = before.map(|path| path.to_string_lossy().into_owned()).filter(|path| !path.is_empty());
    own.chain(before).collect::<Vec<_>>().join(":")
}

/// What the loader says before anything runs: nothing where it would take ours, or cannot know, since libraries can be
/// loaded later too.
///
/// # Errors
/// One sentence, where the subject cannot start on these libraries, or is certain to take others.
pub fn foresee(program: &Path, prefixes: &[Prefix], library_path: &str) -> Result<(), String> {
    let Start::Loader(loader) = elf::start(program) else { return Ok(()) };
    let mut query = Command::new(loader);
    query.arg("--list").arg(program).env("LD_LIBRARY_PATH", library_path).env_remove("LD_PRELOAD");
    // The loader is whatever the program names.
    if let Some(User { uid, gid }) = User::asking_about(program) {
        query.uid(uid).gid(gid);
    }
    let asked = query.output();
    // A loader that cannot be asked tells nothing.
    let Ok(asked) = asked else { return Ok(()) };
    let (listed, complaints) =
        (String::from_utf8_lossy(&asked.stdout).into_owned(), String::from_utf8_lossy(&asked.stderr).into_owned());
    if let Some(line) = listed.lines().chain(complaints.lines()).find(|line| line.contains("not found")) {
        return Err(format!("it cannot start with it: {}", line.trim()));
    }
    let taken = listed.lines().filter_map(|line| line.split_once("=> ")).filter_map(|(_, rest)| {
        let path = rest.split(" (0x").next().unwrap_or_default().trim();
        path.starts_with('/').then(|| std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path)))
    });
    let taken = taken.collect::<BTreeSet<_>>();
    for prefix in prefixes {
        let has_ours = taken.iter().any(|path| path.starts_with(&prefix.folder));
        if let (false, Some(why)) = (has_ours, instead(prefix, &taken)) {
            return Err(why);
        }
    }
    Ok(())
}

/// What maps say while the subject runs: the files of ours among them.
///
/// # Errors
/// One sentence, where one of the libraries was not loaded.
pub fn verify(program: &Path, prefixes: &[Prefix], mapped: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, String> {
    for prefix in prefixes {
        if !mapped.iter().any(|path| path.starts_with(&prefix.folder)) {
            return Err(instead(prefix, mapped).unwrap_or_else(|| absent(program, prefix)));
        }
    }
    let is_ours = |path: &&PathBuf| prefixes.iter().any(|prefix| path.starts_with(&prefix.folder));
    Ok(mapped.iter().filter(is_ours).cloned().collect())
}

/// Other copies of the same libraries that were mapped besides ours: then only a part of the program runs on ours.
pub fn besides(prefixes: &[Prefix], mapped: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let others = prefixes.iter().flat_map(|prefix| others(prefix, mapped));
    others.filter(|path| prefixes.iter().all(|prefix| !path.starts_with(&prefix.folder))).cloned().collect()
}

/// Files that are libraries of the same name as a prefix's, whatever their version.
fn others<'a>(prefix: &'a Prefix, mapped: &'a BTreeSet<PathBuf>) -> impl Iterator<Item = &'a PathBuf> {
    let stems = prefix.libraries.iter().map(|(soname, _)| stem(soname)).collect::<Vec<_>>();
    let is_one = move |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.contains(".so") && stems.iter().any(|known| *known == stem(&name))
    };
    mapped.iter().filter(is_one)
}

/// `libssl.so.3` and `libssl-1.1.so` are both libssl.
fn stem(name: &str) -> String {
    let name = name.split(".so").next().unwrap_or_default();
    name.trim_end_matches(|letter: char| letter.is_ascii_digit() || ".-".contains(letter)).to_string()
}

/// Why another copy was loaded; none where there was no other.
fn instead(prefix: &Prefix, mapped: &BTreeSet<PathBuf>) -> Option<String> {
    let found = others(prefix, mapped).filter(|path| !path.starts_with(&prefix.folder)).collect::<Vec<_>>();
    let first = *found.first()?;
    let named = found.iter().take(MOST_NAMED).map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let ours = prefix.sonames().join(", ");
    let soname = elf::soname(first).unwrap_or_default();
    Some(if prefix.sonames().contains(&soname) {
        format!(
            "it loads {named} instead of {} {}: an RPATH, a full path or the program's privileges override \
             LD_LIBRARY_PATH",
            prefix.name, prefix.version
        )
    } else {
        format!(
            "it needs {soname}, which is {named}, but {} {} provides {ours}: what is linked against one SONAME does \
             not load another, unless the libraries in between are rebuilt on it as well (--with)",
            prefix.name, prefix.version
        )
    })
}

/// Why nothing of a library was loaded at all.
fn absent(program: &Path, prefix: &Prefix) -> String {
    let name = &prefix.name;
    match elf::start(program) {
        Start::Static => {
            format!("{} is statically linked and cannot be given another {name} from outside", program.display())
        }
        _ => format!(
            "{name} was never mapped while it ran: it does not use the library, or contains its own, as Go, Rust and \
             Java programs do"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix() -> Prefix {
        let file = |name: &str| (format!("{name}.3"), PathBuf::from(format!("/cache/openssl-3/lib/{name}")));
        Prefix {
            name: "openssl".into(),
            version: "3.0.2".into(),
            folder: "/cache/openssl-3".into(),
            libraries: vec![file("libssl.so"), file("libcrypto.so")],
            key: String::new(),
        }
    }

    fn mapped(paths: &[&str]) -> BTreeSet<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn what_is_mapped_proves_what_is_loaded() {
        let program = Path::new("/bin/sh");
        let verified = |paths: &[&str]| verify(program, &[prefix()], &mapped(paths));
        let ours = "/cache/openssl-3/lib/libssl.so.3";
        assert_eq!(verified(&["/usr/bin/x", ours]).expect("ours"), [PathBuf::from(ours)]);
        let other = verified(&["/usr/lib/libssl.so.1.1"]).expect_err("another");
        assert!(other.contains("/usr/lib/libssl.so.1.1") && other.contains("SONAME"), "{other}");
        assert!(verified(&["/usr/lib/libsslx.so.3"]).expect_err("none").contains("openssl was never mapped"));
        assert_eq!(besides(&[prefix()], &mapped(&[ours, "/opt/libssl.so.3"])), [PathBuf::from("/opt/libssl.so.3")]);
    }

    #[test]
    fn our_folders_stand_before_those_of_the_user() {
        assert_eq!(library_path(&[prefix()], Some("/opt/lib".into())), "/cache/openssl-3/lib:/opt/lib");
        assert_eq!(library_path(&[prefix()], None), "/cache/openssl-3/lib");
    }

    #[test]
    fn a_program_without_the_library_is_not_refused_before_it_ran() {
        let own = std::env::current_exe().expect("a path");
        assert_eq!(foresee(&own, &[prefix()], "/cache/openssl-3/lib"), Ok(()));
        assert_eq!(foresee(Path::new("/nowhere"), &[prefix()], ""), Ok(()));
    }
}
