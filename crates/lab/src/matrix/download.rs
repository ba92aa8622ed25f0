//! Files from a registry: whole or not at all.

use super::problem::Fault;
use super::process::{self, Stop};
use crate::digest;
use record::Program;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Waits for a connection for so many seconds.
const CONNECT_SECONDS: &str = "20";
/// A transfer that makes less than this many bytes a second ...
const LEAST_RATE: &str = "500";
/// ... for so many seconds is given up: what came stays, and is gone on with the next time.
const PATIENCE_SECONDS: &str = "30";
/// How often it is seen whether somebody else has fetched the same.
const TICK: Duration = Duration::from_millis(100);
/// Addresses asked for so far, to tell their files apart.
static ASKED: AtomicUsize = AtomicUsize::new(0);
/// curl tries again so often by itself.
const RETRIES: &str = "3";

/// Fetches an address into a file. What was begun stays beside it as `.part`, and is gone on with the next time.
///
/// # Errors
/// Where the address cannot be reached, or what came is not what was announced: `checksum` is its SHA-256.
pub fn fetch(address: &str, file: &Path, checksum: &str, stop: &Stop) -> Result<(), Fault> {
    if is_sound(file, checksum) {
        return Ok(());
    }
    // Two builds can want the same at the same time: the second waits, and finds it there.
    let _lock = lock(&beside(file, "lock"), stop)?;
    if is_sound(file, checksum) {
        return Ok(());
    }
    let part = beside(file, "part");
    // What was begun can be whole already, or of another file: then it is begun anew.
    for resumes in [part.exists(), false] {
        if !is_sound(&part, checksum) {
            transfer(address, &part, resumes, stop).or_else(|fault| match fault {
                Fault::Failed(_) if resumes => Ok(()),
                fault => Err(fault),
            })?;
        }
        if is_sound(&part, checksum) {
            return std::fs::rename(&part, file).map_err(Fault::io(file));
        }
        if !resumes {
            break;
        }
    }
    // Nothing can be made of it; it must not be in the way the next time.
    let _ = std::fs::remove_file(&part);
    Err(Fault::fetching(format!(
        "the download from {address} does not match the registry's index (SHA-256 {checksum})"
    )))
}

/// Fetches an address anew, as it is now.
///
/// # Errors
/// Where it cannot be reached.
pub fn fetch_anew(address: &str, file: &Path, stop: &Stop) -> Result<(), Fault> {
    // Two can ask at the same time.
    let number = ASKED.fetch_add(1, Ordering::Relaxed);
    let part = beside(file, &format!("{}-{number}.part", std::process::id()));
    let done = transfer(address, &part, false, stop);
    let done = done.and_then(|()| std::fs::rename(&part, file).map_err(Fault::io(file)));
    if done.is_err() {
        // What there is of it is of no use.
        let _ = std::fs::remove_file(&part);
    }
    done
}

/// Waits for a lock. It is let go when the file is closed, however that comes.
fn lock(path: &Path, stop: &Stop) -> Result<File, Fault> {
    let file = File::options().create(true).append(true).open(path).map_err(Fault::io(path))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if stop.is_set() => return Err(Fault::Interrupted),
            Err(TryLockError::WouldBlock) => std::thread::sleep(TICK),
            Err(TryLockError::Error(error)) => return Err(Fault::io(path)(error)),
        }
    }
}

fn transfer(address: &str, file: &Path, resumes: bool, stop: &Stop) -> Result<(), Fault> {
    let log = beside(file, "log");
    // An old log is none of this transfer.
    let _ = std::fs::remove_file(&log);
    let output = file.display().to_string();
    let curl: [&[&str]; 4] = [
        &["curl", "--fail", "--silent", "--show-error", "--location", "--retry", RETRIES],
        &["--connect-timeout", CONNECT_SECONDS, "--speed-limit", LEAST_RATE, "--speed-time", PATIENCE_SECONDS],
        if resumes { &["--continue-at", "-"] } else { &[] },
        &["--output", &output, "--", address],
    ];
    let arguments = curl.concat().into_iter().map(String::from).collect();
    let status = process::run(Program { arguments, ..Program::default() }, &log, stop);
    let said = process::last_lines(&log).pop().unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    match status? {
        status if status.success() => Ok(()),
        _ => Err(Fault::fetching(format!("could not fetch {address}: {said}"))),
    }
}

fn is_sound(file: &Path, checksum: &str) -> bool {
    std::fs::read(file).is_ok_and(|bytes| digest::hexadecimal(&bytes).eq_ignore_ascii_case(checksum))
}

/// A file's path with something behind it.
pub fn beside(file: &Path, extension: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{extension}"));
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(path: &Path) -> String {
        format!("file://{}", path.display())
    }

    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let (far, near) = (folder.path().join("far"), folder.path().join("near"));
        std::fs::write(&far, "twelve bytes").expect("written");
        let (right, wrong) = (digest::hexadecimal(b"twelve bytes"), digest::hexadecimal(b"others"));
        let fetched = |checksum: &str| fetch(&address(&far), &near, checksum, &Stop::default());
        assert!(matches!(fetched(&wrong), Err(Fault::Failed(problem)) if problem.why.contains("SHA-256")));
        assert!(!near.exists() && !beside(&near, "part").exists());
        assert!(fetched(&right).is_ok());
        assert_eq!(std::fs::read(&near).expect("read"), b"twelve bytes");
        // It is not asked for again.
        std::fs::remove_file(&far).expect("removed");
        assert!(fetched(&right).is_ok());
    }

    #[test]
    fn what_was_begun_is_gone_on_with_and_what_is_of_another_file_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (far, near) = (folder.path().join("far"), folder.path().join("near"));
        std::fs::write(&far, "twelve bytes").expect("written");
        for begun in ["twelve", "another file", "twelve bytes"] {
            std::fs::write(beside(&near, "part"), begun).expect("written");
            let _ = std::fs::remove_file(&near);
            assert!(
                fetch(&address(&far), &near, &digest::hexadecimal(b"twelve bytes"), &Stop::default()).is_ok(),
                "{begun}"
            );
            assert_eq!(std::fs::read(&near).expect("read"), b"twelve bytes");
        }
    }

    #[test]
    fn what_cannot_be_reached_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let far = address(&folder.path().join("nowhere"));
        let done = fetch_anew(&far, &folder.path().join("near"), &Stop::default());
        assert!(matches!(done, Err(Fault::Failed(problem)) if problem.why.contains("nowhere")));
        assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 0);
    }
}
