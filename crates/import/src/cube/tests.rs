use super::*;
use crate::workers::{Options, read as read_logs};
use std::fs;
use std::path::PathBuf;

/// Lines of a log: two programs, one of them from a hundred networks, over some hours.
fn lines(from: u64, to: u64) -> String {
    let line = |at: u64| {
        let (agent, address) = if at.is_multiple_of(3) {
            ("ExampleBot/1.0", format!("203.0.{}.7", at % 100))
        } else {
            ("-", "2001:db8::1".into())
        };
        let target = format!("/{}/{at}", ["a", "b", "c"][(at % 3) as usize]);
        let clock = format!("{:02}:{:02}:{:02}", at / 3_600 % 24, at / 60 % 60, at % 60);
        format!(
            "{address} - - [10/Oct/2000:{clock} +0000] \"GET {target} HTTP/1.1\" {} {at} \"-\" \"{agent}\"\n",
            200 + at % 2 * 204
        )
    };
    (from..to).step_by(7).map(line).collect::<String>() + "broken\n"
}

fn log(path: PathBuf, text: &str) -> LogFile {
    fs::write(&path, text).unwrap();
    LogFile { path, is_named: true }
}

fn done(files: &[LogFile]) -> Done {
    read_logs(files, &Options { threads: 1, ..Options::default() })
}

#[test]
fn cubes_of_halves_are_together_the_cube_of_the_whole() {
    let home = tempfile::tempdir().unwrap();
    let halves = [log(home.path().join("a"), &lines(0, 40_000)), log(home.path().join("b"), &lines(40_000, 80_000))];
    let paths = ["a.parquet", "b.parquet", "whole.parquet"].map(|name| home.path().join(name));
    for (half, path) in halves.iter().zip(&paths) {
        write(&done(std::slice::from_ref(half)), path).unwrap();
    }
    let joined = read(&paths[0]).unwrap().join(read(&paths[1]).unwrap());
    let whole = rows(&done(&halves));
    assert_eq!(rows(&joined), whole);
    // The other way round, too, and once more through a file.
    write(&read(&paths[1]).unwrap().join(read(&paths[0]).unwrap()), &paths[2]).unwrap();
    assert_eq!(rows(&read(&paths[2]).unwrap()), whole);
    assert!(whole.iter().any(|row| row.part == MALFORMED) && whole.iter().filter(|row| row.part == TIME).count() > 100);
}

#[test]
fn heavy_hitters_of_merged_cubes_are_within_the_error_that_is_stated() {
    let home = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(9);
    let mut truth = HashMap::<String, u64>::new();
    let mut joined: Option<Done> = None;
    for part in 0..3 {
        let mut text = String::new();
        for _ in 0..90_000 {
            let target = match random.u8(..4) {
                0 => format!("/often/{}", char::from(b'a' + random.u8(..9))),
                _ => format!("/once/{}", std::iter::repeat_with(|| random.lowercase()).take(9).collect::<String>()),
            };
            text += &format!("203.0.113.7 - - [10/Oct/2000:20:55:36 +0000] \"GET {target} HTTP/1.1\" 200 1\n");
            *truth.entry(target).or_default() += 1;
        }
        let path = home.path().join(format!("{part}.parquet"));
        write(&done(&[log(home.path().join(part.to_string()), &text)]), &path).unwrap();
        let one = read(&path).unwrap();
        joined = Some(match joined {
            Some(before) => before.join(one),
            None => one,
        });
    }
    let counts = joined.unwrap().counts;
    assert!(counts.routes_dropped() > 0);
    let mut often = 0;
    for (_, route, counted) in counts.routes() {
        let (name, requests) = (String::from_utf8_lossy(route).into_owned(), counted.tally.requests);
        assert!(requests <= truth[&name] && requests + counted.missed >= truth[&name], "{name}: {counted:?}");
        often += u64::from(name.starts_with("/often"));
    }
    assert_eq!(often, 9);
    assert_eq!(counts.tally.requests, 270_000);
}

#[test]
fn files_bear_the_name_of_the_host_that_their_cube_lies_below() {
    let home = tempfile::tempdir().unwrap();
    let file = log(home.path().join("log"), &lines(0, 100));
    let path = home.path().join("host=web-1/day=2000-10-10/cube.parquet");
    write(&done(std::slice::from_ref(&file)), &path).unwrap();
    let named = format!("web-1:{}", file.path.display());
    assert_eq!(read(&path).unwrap().files[0].path, PathBuf::from(named));
    assert_eq!(crate::files::find_cubes(&[home.path().to_path_buf()]).unwrap(), [path]);
}

type Change = fn(&mut TrafficRow);

#[test]
fn a_cube_that_says_what_cannot_be_is_damaged() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("cube.parquet");
    let sound = rows(&done(&[log(home.path().join("log"), &lines(0, 1_000))]));
    let changes: [(&str, Change); 10] = [
        (ALL, |row| row.part = "nothing".into()),
        (ALL, |row| row.sketch = "~".repeat(4_096)),
        (AGENT, |row| row.sketch.truncate(7)),
        (AGENT, |row| row.kind = "emperor".into()),
        (AGENT, |row| row.agent = "x".repeat(1_000)),
        (TIME, |row| row.first_s = i64::MIN),
        (TIME, |row| row.last_s += 1),
        (NETWORK, |row| row.name = "everywhere".into()),
        (ROUTE, |row| row.name = "/".repeat(1_000)),
        (ROUTE, |row| row.requests = u64::MAX),
    ];
    for (part, change) in changes {
        let mut rows = sound.clone();
        change(rows.iter_mut().find(|row| row.part == part).unwrap());
        write_cube(&path, &rows).unwrap();
        let read = read(&path).map(|done| done.files.len());
        assert!(matches!(read, Err(ImportError::Cube(CaseError::Damaged { .. }))), "{part}: {read:?}");
    }
    // What a later version may add is passed over.
    let more = TrafficRow { part: "weather".into(), ..TrafficRow::default() };
    write_cube(&path, &[sound, vec![more]].concat()).unwrap();
    assert!(read(&path).is_ok());
}
