use super::*;
use case::tables;

const WRITE_ONLY: u64 = libc::O_WRONLY as u64;

fn recording() -> Recording {
    let path = |id, path: &str| tables::Path { id, path: path.to_string() };
    let process = |pid, role: &str, executable: &str| Process {
        pid,
        role: role.to_string(),
        executable: executable.to_string(),
        ..Process::default()
    };
    Recording {
        processes: vec![process(10, "client", "/usr/bin/tool"), process(20, "server", "/usr/sbin/daemon")],
        paths: [
            "/usr/lib/libone.so.1",
            "/etc/missing",
            "relative",
            "/etc/./daemon.conf",
            "/proc/self/maps",
            "/var/log/tool",
            "/usr/bin/script",
        ]
        .into_iter()
        .zip(1..)
        .map(|(text, id)| path(id, text))
        .collect(),
        ..Recording::default()
    }
}

fn call(pid: u32, number: u16, path: u32, result: i64) -> Call {
    Call { pid, number, path, result, finished: true, ..Call::default() }
}

fn text(paths: &BTreeSet<PathBuf>) -> Vec<&str> {
    paths.iter().filter_map(|path| path.to_str()).collect()
}

#[test]
fn files_that_were_opened_to_read_and_executed_are_used_and_each_end_has_its_own() {
    let mut recording = recording();
    recording.calls = vec![
        call(10, OPEN_AT, 1, 3),
        call(10, OPEN_AT, 2, -2),
        call(10, OPEN_AT, 3, 4),
        call(20, OPEN, 4, 3),
        call(10, OPEN_AT, 5, 3),
        Call { argument_2: WRITE_ONLY, ..call(10, OPEN_AT, 6, 3) },
        call(10, EXECUTE[0], 7, 0),
        call(10, 0, 4, 3),
    ];
    assert_eq!(text(&used(&recording, End::Client)), ["/usr/bin/script", "/usr/bin/tool", "/usr/lib/libone.so.1"]);
    assert_eq!(text(&used(&recording, End::Server)), ["/etc/daemon.conf", "/usr/sbin/daemon"]);
}

#[test]
fn a_file_opened_to_read_and_write_is_used() {
    let mut recording = recording();
    let both = libc::O_RDWR as u64;
    recording.calls = vec![Call { argument_1: both, ..call(10, OPEN, 6, 3) }];
    assert!(used(&recording, End::Client).contains(Path::new("/var/log/tool")));
}

#[test]
fn what_starts_the_subject_is_no_part_of_it() {
    let image = |pid, parent, start, executable: &str| Process {
        pid,
        parent,
        start: case::Nanos(start),
        role: "client".into(),
        executable: executable.to_string(),
        ..Process::default()
    };
    let processes = vec![image(10, 1, 5, "/opt/starter"), image(10, 1, 7, "/bin/a"), image(11, 10, 8, "/bin/b")];
    let recording = Recording { processes, ..Recording::default() };
    assert_eq!(text(&used(&recording, End::Client)), ["/bin/a", "/bin/b"]);
}
