//! Tests that cannot run here. They must not look like tests that passed: each says so, and all are counted.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The file that lists what was skipped, where `make test` asked for one.
const LIST: &str = "WHYSLOW_SKIPPED";
/// Set by `make test-fast`: what needs root is left out, and that is no news.
const FAST: &str = "WHYSLOW_FAST";

/// Says that the calling test is skipped, and why; `scripts/skipped.sh` prints the list when all tests are over.
pub fn skip(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {}\n", thread.name().unwrap_or("a test"), why.trim().replace('\n', " "));
    // Not eprint!, which the test harness swallows.
    let _ = write!(std::io::stderr(), "skipped: {line}");
    let Some(list) = std::env::var_os(LIST) else { return };
    // One write: other tests append at the same time.
    let file = OpenOptions::new().create(true).append(true).open(list);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the list of skipped tests");
}

/// Whether this is root; where not, the test is skipped.
pub fn is_root() -> bool {
    if std::env::var_os(FAST).is_some() {
        return false;
    }
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !is_root {
        skip("needs root");
    }
    is_root
}

/// Says that the calling test asks something that this kernel or machine does not have, and that nothing installed would
/// change: that is not counted.
pub fn does_not_apply(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "does not apply here: {}: {why}", thread.name().unwrap_or("a test"));
}

/// Go's command: in the path, or where its own distribution puts it. None where it is not installed.
pub fn go() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/local/go/bin".into()]);
    let found = folders.map(|folder| folder.join("go")).find(|file| file.is_file());
    if found.is_none() {
        skip("Go is not installed");
    }
    found
}
