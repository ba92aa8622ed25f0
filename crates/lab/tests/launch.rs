//! Worlds and treatments on a real kernel: each is seen by the subject, and gone afterwards. Needs root; without it each
//! test says so and passes.

mod fixture;

use fixture::{Fixture, is_root, processes_with, wait_until};
use lab::treatment::{Preload, Replacement, SocketOptions};
use lab::{End, Kind, Launch, Treatment, World};
use std::path::PathBuf;

fn world(changes: &[(&str, &str)]) -> World {
    let mut world = World::default();
    for (key, value) in changes {
        world.change(key, value).expect("understood");
    }
    world
}

#[test]
fn a_program_sees_its_environment_folder_and_processors() {
    let fixture = Fixture::new("plain");
    let changes = [("env", "COLOUR=green"), ("env", "HOME"), ("folder", "/usr"), ("processors", "0")];
    let seen = fixture.output("echo $COLOUR ${HOME-unset}; pwd; nproc", &world(&changes), &Treatment::default());
    assert_eq!(seen, "green unset\n/usr\n1\n");
    fixture.is_left_as_found();
}

#[test]
fn limits_are_those_of_the_subjects_group_and_go_with_it() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("limits");
    let script = "for hierarchy in cpu memory; do \
                    group=$(grep -E \":([a-z,]*,)?$hierarchy(,[a-z,]*)?:\" /proc/self/cgroup | cut -d: -f3); \
                    [ -n \"$group\" ] || group=$(sed -n 's/^0:://p' /proc/self/cgroup); \
                    for folder in /sys/fs/cgroup/$hierarchy /sys/fs/cgroup/unified /sys/fs/cgroup; do \
                      cat $folder/${group%/client}/cpu.cfs_quota_us $folder/${group%/client}/cpu.max \
                        $folder/${group%/client}/memory.limit_in_bytes $folder/${group%/client}/memory.max; \
                    done; \
                  done 2>/dev/null";
    let seen = fixture.output(script, &world(&[("quota", "0.5"), ("memory", "64m")]), &Treatment::default());
    assert!(seen.contains("50000\n") || seen.contains("50000 100000\n"), "{seen}");
    assert!(seen.contains("67108864\n"), "{seen}");
    fixture.is_left_as_found();
}

#[test]
fn a_quota_really_limits() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("quota");
    // Half a second of work: at a tenth of a processor it takes five.
    let script = "python3 -c \"import time\n\
                  begun = time.monotonic()\n\
                  while time.process_time() < 0.2: pass\n\
                  print(time.monotonic() - begun)\"";
    let seconds =
        |world: &World| fixture.output(script, world, &Treatment::default()).trim().parse::<f64>().expect("seconds");
    assert!(seconds(&world(&[("quota", "0.1")])) > 1.0);
    fixture.is_left_as_found();
}

#[test]
fn settings_and_routes_are_those_of_the_subjects_network_alone() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("network");
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).expect("a setting");
    let host = read("tcp_sack");
    let changes = [
        ("link", "mtu=1400,rate=20mbit,burst=32k,queue=htb"),
        ("setting", "net.ipv4.tcp_sack=0"),
        ("setting", "net.ipv4.tcp_rmem=4096 65536 131072"),
        ("route", "client: initcwnd 20"),
    ];
    let script = "cat /proc/sys/net/ipv4/tcp_sack /proc/sys/net/ipv4/tcp_rmem; ip route; ip link show link0; tc class show dev link0";
    let mut treatment = Treatment::default();
    treatment.quick_acknowledgements.insert(End::Client);
    let launched = fixture.set_with_server(script, "sleep 60", &world(&changes), &treatment, Kind::Trial);
    let counters = launched.attached.counters();
    let seen = fixture.play(launched);
    assert!(seen.starts_with("0\n4096\t65536\t131072\n"), "{seen}");
    assert!(seen.contains("initcwnd 20") && seen.contains("quickack 1"), "{seen}");
    assert!(seen.contains("mtu 1400") && seen.contains("rate 20Mbit ceil 20Mbit burst 32Kb"), "{seen}");
    assert_eq!(counters.routes, [End::Client]);
    assert_eq!(read("tcp_sack"), host, "the host's own is as before");
    fixture.is_left_as_found();
}

#[test]
fn settings_that_would_change_the_host_are_refused() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("settings");
    let refused = |setting: &str| {
        let world = world(&[("link", "mtu=1500"), ("setting", setting)]);
        let subject = Fixture::subject("true", Some("true"));
        let launch =
            Launch::set(&subject, &world, &Treatment::default(), &fixture.journal, &fixture.outputs(), Kind::Trial);
        launch.map(|_| ()).expect_err("refused").to_string()
    };
    assert!(refused("kernel.pid_max=40000").contains("would change the host"));
    assert!(refused("net./../kernel.pid_max=1").contains("would change the host"));
    assert!(refused("net.ipv4.no_such_setting=1").contains("no such setting"));
    assert!(refused("net.ipv4.tcp_sack=many").contains("does not take this value"));
    fixture.is_left_as_found();
}

#[test]
fn a_shim_is_loaded_at_both_ends_in_front_of_what_is_loaded_anyway() {
    let fixture = Fixture::new("shims");
    let preloads = vec![Preload { shim: "nothing", parameter: "a word".into() }];
    let treatment = Treatment { preloads, ..Treatment::default() };
    let launched = fixture.set("echo $LD_PRELOAD; cat $WHYSLOW_SHIMS/nothing.parameter", &World::default(), &treatment);
    let mut client = launched.client.release().expect("released");
    wait_until("the client has ended", || client.poll().expect("polled").is_some());
    let counters = launched.attached.counters();
    drop(launched.attached);
    let seen = fixture.client_said();
    let (preloaded, parameter) = seen.split_once('\n').expect("two lines");
    assert_eq!(parameter, "a word");
    // The shell, and cat.
    assert_eq!(counters.of_shim("nothing"), Err("the program never calls the functions that it intercepts".into()));
    assert_eq!(counters.shims["nothing"].loaded, 2);
    assert!(!PathBuf::from(preloaded).exists(), "{preloaded} is gone");
    fixture.is_left_as_found();
}

#[test]
fn a_replaced_file_is_seen_by_the_subject_alone_and_its_opening_is_counted() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("replacements");
    let own = fixture.path("hosts");
    std::fs::write(&own, "as it was").expect("written");
    let replace = |path: PathBuf| Replacement { path, content: b"replaced".to_vec() };
    let replacements = vec![replace(own.clone()), replace(PathBuf::from("/etc/hosts"))];
    let treatment = Treatment { replacements, ..Treatment::default() };
    let launched = fixture.set(&format!("cat {}", own.display()), &World::default(), &treatment);
    assert_eq!(launched.attached.counters().replaced, 0);
    let mut client = launched.client.release().expect("released");
    wait_until("the client has ended", || client.poll().expect("polled").is_some());
    assert_eq!(launched.attached.counters().replaced, 1);
    drop(launched.attached);
    assert_eq!(fixture.client_said(), "replaced");
    assert_eq!(std::fs::read_to_string(own).expect("there"), "as it was");
    fixture.is_left_as_found();
}

/// A server that says what its own connection has, and a client that says the same.
const TELL_NODELAY: &str = "exec python3 -c \"import socket, sys\n\
    listener = socket.create_server(('127.0.0.1', 0)) if sys.argv[1] == 'server' else None\n\
    connection = socket.create_connection(listener.getsockname())\n\
    print([one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in (connection, listener.accept()[0])])\n\
    \" server";

#[test]
fn sockets_are_set_at_both_ends_or_only_looked_at() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("sockets");
    for (nodelay, expected) in [(true, "[1, 1]\n"), (false, "[0, 0]\n")] {
        let sockets = Some(SocketOptions { nodelay, ..SocketOptions::default() });
        let treatment = Treatment { sockets, ..Treatment::default() };
        let launched = fixture.set(TELL_NODELAY, &World::default(), &treatment);
        let mut client = launched.client.release().expect("released");
        wait_until("the client has ended", || client.poll().expect("polled").is_some());
        let counts = launched.attached.counters().sockets.expect("counts");
        drop(launched.attached);
        assert_eq!(fixture.client_said(), expected);
        assert_eq!((counts.seen, counts.nodelay), (2, if nodelay { 2 } else { 0 }), "{counts:?}");
        fixture.is_left_as_found();
    }
}

#[test]
fn what_a_trial_leaves_running_is_ended_daemons_and_the_deaf_included() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("orphans");
    let script = "setsid sh -c 'trap \"\" TERM; while :; do sleep 4721; done' & setsid setsid sleep 4722 & echo done";
    let launched = fixture.set(script, &World::default(), &Treatment::default());
    let mut client = launched.client.release().expect("released");
    wait_until("the client has ended", || client.poll().expect("polled").is_some());
    // By the group's members: a forked shell bears its parent's command line, and so both marks, until it executes. While it
    // does, its command line is empty for a moment: the marks are waited for too.
    wait_until("the deaf shell, its sleep and the daemon run", || {
        let marked = |mark| !processes_with(mark).is_empty();
        launched.attached.members_of(End::Client).len() >= 3 && marked("sleep 4721") && marked("sleep 4722")
    });
    drop(launched.attached);
    assert_eq!(processes_with("sleep 4721").len() + processes_with("sleep 4722").len(), 0);
    fixture.is_left_as_found();
}

#[test]
fn a_launch_that_fails_leaves_nothing() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("failing");
    let preloads = vec![Preload { shim: "nothing", parameter: String::new() }];
    let treatment = Treatment { preloads, ..Treatment::default() };
    let world = world(&[("link", "mtu=1500"), ("route", "client: nonsense 1")]);
    let subject = Fixture::subject("true", Some("sleep 60"));
    let launch = Launch::set(&subject, &world, &treatment, &fixture.journal, &fixture.outputs(), Kind::Trial);
    assert!(launch.map(|_| ()).expect_err("refused").to_string().contains("ip route change"));
    fixture.is_left_as_found();
}

#[test]
fn a_panic_leaves_nothing() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("panicking");
    let preloads = vec![Preload { shim: "nothing", parameter: String::new() }];
    let treatment = Treatment { preloads, ..Treatment::default() };
    let launched = fixture.set("exec sleep 4725", &World::default(), &treatment);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let Launch { client, server: _, attached } = launched;
        let _running = client.release().expect("released");
        let _attached = attached;
        panic!("as planned");
    }));
    assert!(panicked.is_err());
    wait_until("the client has ended", || processes_with("sleep 4725").is_empty());
    fixture.is_left_as_found();
}

#[test]
fn two_launches_at_a_time_do_not_meet() {
    if !is_root() {
        return;
    }
    let (one, other) = (Fixture::new("one"), Fixture::new("other"));
    let preloads = vec![Preload { shim: "nothing", parameter: String::new() }];
    let treatment = Treatment { preloads, ..Treatment::default() };
    let launched = one.set("cat /proc/self/cgroup", &World::default(), &treatment);
    let second = other.output("cat /proc/self/cgroup", &World::default(), &treatment);
    let first = one.play(launched);
    assert_ne!(first, second);
    assert!(first.contains("whyslow-") && second.contains("whyslow-"), "{first}{second}");
    one.is_left_as_found();
    other.is_left_as_found();
}
