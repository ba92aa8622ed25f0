//! A proxy between a client and its server, over a link and on the host: connects reach it, it does its task and no more, and all of
//! it is gone afterwards. Needs root and nginx; without them each test says so and passes.

mod fixture;

use fixture::{Fixture, is_root, processes_with, wait_until};
use lab::treatment::{Proxy, ProxyTask};
use lab::{End, Kind, Treatment, World};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A server that numbers its answers.
const NUMBERS: &str = "exec python3 -c \"import http.server, itertools, sys\n\
    numbers = itertools.count(1)\n\
    class Numbers(http.server.BaseHTTPRequestHandler):\n\
    \x20   def do_GET(self):\n\
    \x20       self.send_response(200)\n\
    \x20       self.end_headers()\n\
    \x20       self.wfile.write(b'%d ' % next(numbers))\n\
    http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Numbers).serve_forever()\n\
    \"";

/// A client that asks three times for one address and three times for others, as soon as the server is there.
const ASKS: &str = "exec python3 -c \"import sys, time, urllib.error, urllib.request\n\
    def ask(path):\n\
    \x20   while True:\n\
    \x20       try:\n\
    \x20           return urllib.request.urlopen('http://%s:%s%s' % (sys.argv[1], sys.argv[2], path)).read().decode()\n\
    \x20       except OSError:\n\
    \x20           time.sleep(0.02)\n\
    print(''.join(ask('/same') for _ in range(3)) + ''.join(ask('/%d' % number) for number in range(3)))\n\
    \"";

const NOBODY: u32 = 65_534;

/// Each looks for the processes of the other as well.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn has_nginx() -> bool {
    if record::nginx().is_none() {
        testing::skip("nginx is not installed");
    }
    record::nginx().is_some()
}

/// A proxy beside the client that keeps the answer to one address.
fn keeps_the_same(before: SocketAddr, is_inert: bool) -> Treatment {
    let listens_on = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let tasks = [ProxyTask::Cache("/same".to_string())].into();
    Treatment {
        proxies: vec![Proxy { end: End::Client, listens_on, before, tasks, closes: false, is_inert }],
        ..Treatment::default()
    }
}

/// What the client is told, and for how many requests the proxy did its task.
fn played(fixture: &Fixture, world: &World, port: u16, is_inert: bool) -> (String, u64) {
    let address = world.addresses().server;
    let treatment = keeps_the_same(SocketAddr::new(address, port), is_inert);
    let with_words = |script: &str| format!("{script} {address} {port}");
    let launched = fixture.set_with_server(&with_words(ASKS), &with_words(NUMBERS), world, &treatment, Kind::Trial);
    let server = launched.server.map(|server| server.release().expect("released"));
    let mut client = launched.client.release().expect("released");
    wait_until("the client has ended", || client.poll().expect("polled").is_some());
    let counters = launched.attached.counters();
    assert_eq!(counters.no_proxy, None);
    drop((launched.attached, server));
    (fixture.client_said(), counters.proxied.values().sum())
}

#[test]
fn a_proxy_does_its_task_over_a_link_and_on_the_host_and_an_inert_one_passes_all_on() {
    if !is_root() || !has_nginx() {
        return;
    }
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut linked = World::default();
    linked.change("link", "mtu=1500").expect("understood");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let fixture = Fixture::new("proxied");
    for (world, port) in [(linked, 8000), (World::default(), free)] {
        assert_eq!(played(&fixture, &world, port, false), ("1 1 1 2 3 4 \n".to_string(), 2));
        assert_eq!(played(&fixture, &world, port, true), ("1 2 3 4 5 6 \n".to_string(), 0));
    }
    assert_eq!(processes_with("proxy-0.conf"), Vec::<u32>::new());
    fixture.is_left_as_found();
}

#[test]
fn of_another_users_proxy_only_its_own_folder_is_theirs_to_write_in() {
    if !is_root() || !has_nginx() {
        return;
    }
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let fixture = Fixture::new("owned");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let treatment = keeps_the_same(SocketAddr::new(World::default().addresses().server, free), false);
    let user = Some(record::User { uid: NOBODY, gid: NOBODY });
    let subject = lab::Subject { user, ..Fixture::subject("true", None) };
    let launched =
        lab::Launch::set(&subject, &World::default(), &treatment, &fixture.journal, &fixture.outputs(), Kind::Trial);
    let launched = launched.expect("launched");
    let proxies = processes_with("proxy-0.conf");
    let [proxy] = proxies[..] else { panic!("one proxy: {proxies:?}") };
    let owner = |path: &Path| std::fs::metadata(path).expect("there").uid();
    assert_eq!(owner(Path::new(&format!("/proc/{proxy}"))), NOBODY, "it is theirs");
    let line = std::fs::read_to_string(format!("/proc/{proxy}/cmdline")).expect("a command line");
    let settings = Path::new(line.split('\0').find(|word| word.contains("proxy-0.conf")).expect("settings"));
    let ours = settings.parent().expect("a folder");
    assert_eq!(
        [owner(ours), owner(settings), owner(&ours.join("proxy-0.errors"))],
        [0; 3],
        "what root writes in is root's"
    );
    assert_eq!(owner(&ours.join("proxy-0")), NOBODY);
    drop(launched);
    fixture.is_left_as_found();
}
