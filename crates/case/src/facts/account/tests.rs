use super::*;

const CLIENT: End = End::Client;
const SERVER: End = End::Server;

fn blocked_in(call: &str, wait: Wait, object: Option<Object>) -> Account {
    Account::Blocked { end: CLIENT, call: call.into(), wait, object }
}

/// Every account with the name that JSON has had for it since schema 1.
fn all() -> Vec<(Account, &'static str)> {
    let outside = |call: &str, object| Account::BlockedOutside { call: call.into(), wait: Wait::Object, object };
    let file = |path: Option<&str>| Some(Object::File { path: path.map(Into::into) });
    let to = |remote: Option<&str>| Some(Object::Connection { remote: remote.map(Into::into) });
    let socket = |transport| Some(Object::Socket { transport });
    vec![
        (Account::UserCpu { end: CLIENT, module: None }, "CPU: user"),
        (Account::UserCpu { end: SERVER, module: Some("libz.so.1".into()) }, "server CPU: user, libz.so.1"),
        (Account::KernelCpu { end: SERVER }, "server CPU: kernel"),
        (Account::RunDelay { end: CLIENT }, "waiting for a CPU"),
        (blocked_in("read", Wait::Object, None), "blocked in read"),
        (blocked_in("read", Wait::Object, file(Some("/srv/network (CPU)"))), "blocked in read (/srv/network (CPU))"),
        (blocked_in("read", Wait::Object, file(None)), "blocked in read (a file)"),
        (blocked_in("poll", Wait::Object, to(Some("10.0.0.2:80"))), "blocked in poll (to 10.0.0.2:80)"),
        (blocked_in("recvmsg", Wait::Object, to(None)), "blocked in recvmsg (to a local socket)"),
        (blocked_in("read", Wait::Object, Some(Object::Client)), "blocked in read (to a client)"),
        (blocked_in("read", Wait::Object, socket(Transport::Tcp)), "blocked in read (tcp socket)"),
        (blocked_in("read", Wait::Object, socket(Transport::Other)), "blocked in read (another kind of socket)"),
        (blocked_in("futex", Wait::Lock, None), "blocked in futex (a lock or another thread)"),
        (blocked_in("nanosleep", Wait::Sleep, None), "asleep in nanosleep"),
        (blocked_in("wait4", Wait::Child, None), "blocked in wait4: waiting for a child"),
        (blocked_in("epoll_wait", Wait::Events, None), "blocked in epoll_wait (other events)"),
        (Account::BlockedElsewhere { end: CLIENT }, "blocked in a call that is not recorded"),
        (Account::PageFault { end: SERVER }, "server blocked on a disk outside calls"),
        (Account::Lookup { part: None }, "name look-up"),
        (Account::Connect { part: None }, "connect"),
        (Account::FullHandshake { part: None }, "TLS handshake (full)"),
        (Account::ResumedHandshake { part: None }, "TLS handshake (resumed)"),
        (Account::HeldByNagle { end: CLIENT }, "held by Nagle until the peer acknowledges"),
        (Account::HeldInKernel { end: SERVER }, "server held in the local kernel (window or queue)"),
        (Account::HeldAtPeer, "held at the peer until our delayed acknowledgement"),
        (Account::Retransmission, "waiting for a retransmission"),
        (Account::NetworkAndPeer, "network and peer"),
        (Account::Network, "network"),
        (Account::WakeUp { end: SERVER }, "server wake-up delay"),
        (Account::CpuOutside { module: None }, "CPU between requests"),
        (Account::CpuOutside { module: Some("ld.so".into()) }, "CPU between requests: ld.so"),
        (Account::RunDelayOutside, "waiting for a CPU between requests"),
        (outside("fsync", file(Some("/data"))), "between requests: blocked in fsync (/data)"),
        (Account::BlockedElsewhereOutside, "between requests: blocked in a call that is not recorded"),
        (Account::PageFaultOutside, "between requests: blocked on a disk outside calls"),
        (Account::StartAndEnd, "start-up and end of the program"),
        (Account::Unexplained, "unexplained"),
    ]
}

#[test]
fn each_account_has_its_name_and_an_older_file_is_read_by_it() {
    for (account, name) in all() {
        assert_eq!(account.name(), name);
        assert_eq!(Account::from_name(name), account, "{name}");
    }
    assert_eq!(Account::from_name("something new"), Account::Other);
    for end in [CLIENT, SERVER] {
        let name = Account::RunDelay { end }.name().replace("a CPU", "a processor");
        assert_eq!(Account::from_name(&name), Account::RunDelay { end }, "{name}");
    }
    assert_eq!(Account::from_name("waiting for a processor outside exchanges"), Account::RunDelayOutside);
}

#[test]
fn a_wait_is_booked_on_whoever_ended_it() {
    let waits = |by: Awaited| Account::Blocked {
        end: SERVER,
        call: "futex".into(),
        wait: Wait::Lock,
        object: Some(Object::Awaited { by: Box::new(by) }),
    };
    let code = CodeLine { file: "/srv/pool.cpp".into(), line: 11, function: "rebuild".into(), ..CodeLine::default() };
    let sleeps = Doing::Blocked { call: "clock_nanosleep".into(), wait: Wait::Sleep, object: None };
    let thread = Awaited { program: None, doing: sleeps, code: Some(code) };
    assert_eq!(waits(thread.clone()).name(), "server waits for another thread: pool.cpp:11, which was asleep");
    let path = Some("/data/log".to_string());
    let syncs =
        Doing::Blocked { call: "fsync".into(), wait: Wait::Object, object: Some(Box::new(Object::File { path })) };
    let database = Awaited { program: Some("postgres".into()), doing: syncs, code: None };
    assert_eq!(waits(database.clone()).name(), "server waits for postgres, which was blocked in fsync (/data/log)");
    for by in [thread, database] {
        let json = serde_json::to_string(&waits(by.clone())).expect("JSON");
        assert_eq!(serde_json::from_str::<Account>(&json).expect(&json), waits(by));
    }
    let given_up = blocked_in("epoll_wait", Wait::Events, Some(Object::TimeOut));
    assert_eq!(given_up.name(), "blocked in epoll_wait until a time-out");
}

#[test]
fn a_part_of_setting_up_a_connection_says_what_it_is_a_part_of() {
    let part = Some(Box::new(Account::UserCpu { end: SERVER, module: Some("libcrypto.so.3".into()) }));
    let handshake = Account::FullHandshake { part };
    assert_eq!(handshake.name(), "TLS handshake (full): server CPU: user, libcrypto.so.3");
    let json = serde_json::to_value(&handshake).expect("JSON");
    assert_eq!((&json["kind"], &json["part"]["kind"]), (&"full-handshake".into(), &"user-cpu".into()));
    assert_eq!(serde_json::from_value::<Account>(json).expect("an account"), handshake);
    // A file of a version that had no parts.
    let older = serde_json::from_str::<Account>(r#"{"kind": "full-handshake"}"#).expect("an account");
    assert_eq!(older, Account::FullHandshake { part: None });
}

#[test]
fn each_account_comes_back_from_json_as_it_was() {
    for (account, name) in all() {
        let json = serde_json::to_string(&account).expect("JSON");
        assert_eq!(serde_json::from_str::<Account>(&json).expect(&json), account, "{name}: {json}");
    }
}

#[test]
fn tags_are_those_of_the_contract() {
    let json = |account: &Account| serde_json::to_value(account).expect("JSON");
    let expected = serde_json::json!({
        "kind": "blocked", "end": "client", "call": "read", "wait": "object",
        "object": { "kind": "connection", "remote": "10.0.0.2:80" },
    });
    let object = Some(Object::Connection { remote: Some("10.0.0.2:80".into()) });
    assert_eq!(json(&blocked_in("read", Wait::Object, object)), expected);
    let kind = |account: &Account| json(account)["kind"].as_str().expect("a kind").to_string();
    let kinds = all().iter().map(|(account, _)| kind(account)).collect::<std::collections::BTreeSet<_>>();
    // One for each variant but the one for what is not known.
    assert_eq!(kinds.len(), 24, "{kinds:?}");
    assert!(kinds.iter().all(|kind| !kind.contains(['_', ' '])), "{kinds:?}");
}

#[test]
fn a_kind_that_a_later_version_writes_is_another_account() {
    let read = serde_json::from_str::<Account>(r#"{"kind": "asleep-on-a-tape", "end": "client"}"#);
    assert_eq!(read.expect("an account"), Account::Other);
}

#[test]
fn where_there_is_no_exchange_nothing_is_outside_of_one() {
    let names = all().into_iter().filter(|(account, _)| account.is_outside()).map(|(account, _)| account.name_of_run());
    let expected = [
        "CPU",
        "CPU: ld.so",
        "waiting for a CPU",
        "blocked in fsync (/data)",
        "blocked in a call that is not recorded",
        "blocked on a disk outside calls",
        "start-up and end of the program",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}
