//! An access log as a load: the same requests, as far apart as they came.

use crate::StudyError;
use import::{Entry, LogFile, Options};
use load::{Collector, LoadFailure, Recorded, Replay};
use std::path::Path;

/// Which requests are made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Methods {
    /// Those that change nothing (RFC 9110, 9.2.1).
    Safe,
    /// All.
    All,
}

/// Methods that change nothing and whose answers are like any other's.
const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// Reads a log. Requests are made again `speed` times as fast as they came; those without a path or a time are left out.
///
/// # Errors
/// Where it cannot be read, or holds no request to make.
pub fn recorded(file: &Path, speed: f64, methods: Methods, seed: u64) -> Result<Replay, StudyError> {
    let mut collector = Collector::new();
    let named = LogFile { path: file.to_path_buf(), is_named: true };
    import::each(&named, &Options::default(), |entry| {
        match entry.and_then(|entry| Some((entry.time?, request(entry, methods)?))) {
            Some((second, request)) => collector.add(second, request),
            None => collector.leave_out(),
        }
    })?;
    let replay = collector.replay(speed, seed);
    if replay.arrivals.is_empty() {
        return Err(LoadFailure::NothingToReplay { file: file.to_path_buf(), left_out: replay.left_out }.into());
    }
    Ok(replay)
}

/// What a line asks for, as it can be asked for again.
fn request(entry: &Entry, methods: Methods) -> Option<Recorded> {
    let is_word = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'-';
    // A log without methods is one of pages that were read.
    let method = if entry.method.is_empty() { b"GET" } else { entry.method };
    let method = std::str::from_utf8(method).ok().filter(|method| method.bytes().all(|byte| is_word(&byte)))?;
    if methods == Methods::Safe && !SAFE.contains(&method) || method == "CONNECT" {
        return None;
    }
    let path = path(std::str::from_utf8(entry.target).ok()?)?;
    let is_sound = path.bytes().all(|byte| byte > b' ' && byte < 0x7f);
    is_sound.then(|| Recorded { method: method.to_string(), path: path.to_string() })
}

/// Path and query, without a site before them.
fn path(target: &str) -> Option<&str> {
    if target.starts_with('/') {
        return Some(target);
    }
    let (_, site) = target.split_once("://")?;
    Some(site.find('/').map_or("/", |begin| &site[begin..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, target: &str, methods: Methods) -> Option<(String, String)> {
        let entry = Entry { method: method.as_bytes(), target: target.as_bytes(), ..Entry::default() };
        request(&entry, methods).map(|one| (one.method, one.path))
    }

    #[test]
    fn what_changes_nothing_is_asked_for_again_and_the_rest_only_on_demand() {
        let get = |path: &str| Some(("GET".to_string(), path.to_string()));
        assert_eq!(asked("GET", "/a?b", Methods::Safe), get("/a?b"));
        assert_eq!(asked("", "/a", Methods::Safe), get("/a"));
        assert_eq!(asked("GET", "https://host:443/x", Methods::Safe), get("/x"));
        assert_eq!(asked("GET", "https://host", Methods::Safe), get("/"));
        assert_eq!(asked("DELETE", "/a", Methods::Safe), None);
        assert!(asked("DELETE", "/a", Methods::All).is_some());
    }

    #[test]
    fn what_would_break_a_request_is_left_out() {
        for target in ["", "*", "/a b", "/a\r\nX: y", "/\u{e4}", "garbage"] {
            assert_eq!(asked("GET", target, Methods::All), None, "{target}");
        }
        assert_eq!(asked("G\u{1}", "/", Methods::All), None);
        assert_eq!(asked("CONNECT", "/", Methods::All), None);
    }
}
