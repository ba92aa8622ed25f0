use super::*;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

fn line(path: &str) -> String {
    format!("203.0.113.7 - - [10/Oct/2000:20:55:36 +0000] \"GET {path} HTTP/1.1\" 200 1\n")
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

struct Log {
    _home: tempfile::TempDir,
    path: PathBuf,
    follower: Follower,
}

impl Log {
    /// A log that has something in it already.
    fn of(text: &str) -> Log {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        append(&path, text);
        let files = vec![LogFile { path: path.clone(), is_named: true }];
        Log { _home: home, path, follower: Follower::new(files, Options::default()).unwrap() }
    }

    /// The routes that have come since the last look, and how many lines were none.
    fn come(&mut self) -> (Vec<String>, u64) {
        let mut counts = self.follower.counts();
        self.follower.look(&mut counts);
        let mut routes = Vec::new();
        for (_, route, counted) in counts.routes() {
            let route = String::from_utf8(route.to_vec()).unwrap();
            routes.extend(std::iter::repeat_n(route, counted.tally.requests as usize));
        }
        routes.sort();
        (routes, counts.files[0].malformed)
    }
}

#[test]
fn what_is_appended_is_read_once_and_lines_are_whole() {
    let mut log = Log::of(&(line("/old") + "203.0.113.7 - - [10/Oct"));
    assert_eq!(log.come(), (vec![], 0));
    append(&log.path, "/2000 the end of a line that began before\n");
    append(&log.path, &line("/a"));
    let b = line("/b");
    append(&log.path, &b[..30]);
    assert_eq!(log.come(), (vec!["/a".into()], 0));
    append(&log.path, &b[30..]);
    append(&log.path, "broken\n");
    assert_eq!(log.come(), (vec!["/b".into()], 1));
    assert_eq!(log.come(), (vec![], 0));
}

#[test]
fn a_log_is_followed_over_renaming_and_the_old_file_to_its_end() {
    let mut log = Log::of(&line("/old"));
    append(&log.path, &line("/before"));
    let rotated = log.path.with_extension("1");
    fs::rename(&log.path, &rotated).unwrap();
    // The server has not been told yet.
    append(&rotated, &line("/between"));
    assert_eq!(log.come(), (vec!["/before".into(), "/between".into()], 0));
    append(&log.path, &line("/new"));
    append(&rotated, &line("/late"));
    assert_eq!(log.come(), (vec!["/late".into(), "/new".into()], 0));
    append(&log.path, &line("/newer"));
    assert_eq!(log.come(), (vec!["/newer".into()], 0));
}

#[test]
fn a_log_that_is_cut_to_nothing_is_read_from_its_beginning() {
    let mut log = Log::of(&line("/a/long/path/that/was/there").repeat(9));
    fs::write(&log.path, "").unwrap();
    append(&log.path, &line("/new"));
    assert_eq!(log.come(), (vec!["/new".into()], 0));
}

#[test]
fn a_log_that_was_empty_has_the_format_of_what_comes_first() {
    let mut log = Log::of("");
    append(&log.path, &line("/a"));
    assert_eq!(log.come(), (vec!["/a".into()], 0));
    assert_eq!(log.follower.outcomes()[0].format, "common");
}

#[test]
fn what_nothing_is_appended_to_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log.gz");
    fs::write(&path, [0x1f, 0x8b, 8, 0]).unwrap();
    let follow = |path: PathBuf| Follower::new(vec![LogFile { path, is_named: true }], Options::default()).map(drop);
    assert!(matches!(follow(path), Err(ImportError::NotFollowed(_))));
    assert!(matches!(follow(home.path().to_path_buf()), Err(ImportError::NotFollowed(_))));
}
