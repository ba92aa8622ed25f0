use super::*;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

#[test]
fn pairs_of_lines_become_names_with_their_group() {
    let text = "TcpExt: SyncookiesSent DelayedACKs\nTcpExt: 0 12\nTcp: MaxConn InSegs\nTcp: -1 7\n";
    let expected = [("TcpExt.SyncookiesSent", 0), ("TcpExt.DelayedACKs", 12), ("Tcp.InSegs", 7)];
    assert_eq!(paired_lines(text), expected.map(|(name, value)| (name.to_string(), value)));
}

#[test]
fn processors_are_summed_up() {
    let totals: Vec<u64> = softnet_totals("0000000a 00000001 00000002 0\n00000010 00000000 00000003 0\n")
        .map(|(_, value)| value)
        .collect();
    assert_eq!(totals, [26, 1, 5]);
    let ticks: Vec<(String, u64)> = processor_ticks("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1\n").collect();
    assert_eq!(
        (ticks.len(), ticks[0].clone(), ticks[7].clone()),
        (8, ("user".to_string(), 1), ("steal".to_string(), 8))
    );
}

#[test]
fn only_what_moved_and_was_there_both_times_is_given() {
    let counters = |values: &[(&str, &str, u64)]| Counters {
        values: values.iter().map(|(scope, name, value)| ((scope.to_string(), name.to_string()), *value)).collect(),
        ..Counters::default()
    };
    let before = counters(&[("cpu", "user", 1), ("cpu", "idle", 4), ("netns:1", "Tcp.InSegs", 5)]);
    let after = counters(&[("cpu", "user", 3), ("cpu", "idle", 4), ("netns:2", "Tcp.InSegs", 6)]);
    let expected = Counter { scope: "cpu".into(), name: "user".into(), before: 1, after: 3 };
    assert_eq!(moved(&before, &after), [expected]);
}

#[test]
fn a_connection_on_the_loopback_moves_tcps_counters() {
    let before = Counters::read(&[std::process::id(), std::process::id()]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    drop(std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection"));
    let scope = format!("netns:{}", network_namespace(std::process::id()).expect("a namespace"));
    let moved = moved(&before, &before.again());
    let opened = moved.iter().find(|counter| counter.scope == scope && counter.name == "Tcp.ActiveOpens");
    assert!(opened.is_some_and(|counter| counter.after > counter.before), "{moved:?}");
    assert!(before.values.keys().any(|(scope, name)| scope == "softnet" && name == "time_squeeze"));
    assert!(before.values.keys().any(|(scope, name)| scope == "cpu" && name == "steal"));
}

#[test]
fn a_namespace_is_read_again_after_its_last_process_ended() {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped());
    // SAFETY: unshare is a bare system call: it allocates nothing and takes no lock between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::unshare(libc::CLONE_NEWNET) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let Ok(mut child) = command.spawn() else {
        return println!("not checked: a network namespace cannot be made here");
    };
    let inode = network_namespace(child.id()).expect("a namespace");
    let before = Counters::read(&[child.id()]);
    drop(child.stdin.take());
    child.wait().expect("an end");
    let scope = format!("netns:{inode}");
    let has_scope =
        |counters: &Counters| counters.values.keys().any(|(each, name)| *each == scope && name == "TcpExt.DelayedACKs");
    assert_ne!(Some(inode), network_namespace(std::process::id()));
    assert!(has_scope(&before));
    assert!(has_scope(&before.again()));
    assert!(!has_scope(&Counters::read(&[child.id()])));
}
