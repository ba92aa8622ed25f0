//! The link on a real kernel. Needs root; without it each test says so and passes.

use lab::Link;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testing::{is_root, stretched};

/// A process that keeps a network namespace alive, or serves in one, and is killed without warning when dropped.
struct Holder(Child);

impl Holder {
    fn new() -> Holder {
        let child = Command::new("unshare").args(["--net", "sleep", "60"]).spawn().expect("unshare");
        let holder = Holder(child);
        let ours = namespace(std::process::id());
        wait_until("the namespace is made", || namespace(holder.pid()) != ours);
        holder
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn run(&self, shell: &str) -> String {
        let namespace = format!("--net=/proc/{}/ns/net", self.pid());
        let output = Command::new("nsenter").args([&namespace, "sh", "-c", shell]).stderr(Stdio::inherit()).output();
        String::from_utf8(output.expect("nsenter").stdout).expect("text")
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("killed");
    }
}

fn namespace(pid: u32) -> String {
    let link = std::fs::read_link(format!("/proc/{pid}/ns/net"));
    link.map(|link| link.display().to_string()).unwrap_or_default()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let patience = stretched(Duration::from_secs(10));
    let deadline = Instant::now() + patience;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {patience:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn client_and_server_reach_each_other() {
    if !is_root() {
        return;
    }
    let (client, server) = (Holder::new(), Holder::new());
    let link = "mtu=1400".parse::<Link>().expect("a link");
    let _joined = link.join(client.pid(), server.pid()).expect("joined");
    let addresses = Link::addresses();
    assert!(client.run("ip -o link show link0").contains("mtu 1400"));
    let listener = "exec timeout 100 python3 -c \"import socket; s = socket.create_server(('0.0.0.0', 8000)); \
                    s.accept()[0].sendall(b'hello')\"";
    let mut serving = Command::new("nsenter")
        .args([&format!("--net=/proc/{}/ns/net", server.pid()), "sh", "-c", listener])
        .spawn()
        .expect("a server");
    let reader = format!(
        "python3 -c \"import socket; print(socket.create_connection(('{}', 8000)).recv(9).decode())\" 2>/dev/null",
        addresses.server
    );
    wait_until("the server answers", || client.run(&reader) == "hello\n");
    serving.wait().expect("served");
}

/// Answers each datagram, and sends a number of its own to each.
const ECHO: &str = "exec python3 -c \"import socket\n\
                    echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                    echo.bind(('0.0.0.0', 8000))\n\
                    while True: echo.sendto(*echo.recvfrom(9000))\"";

/// Sends datagrams of a size one after another, and prints how many were answered and how many milliseconds the middle one took.
const ASK: &str = "python3 -c \"import socket, sys, time\n\
                   ask = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                   ask.settimeout(0.5)\n\
                   took = []\n\
                   for _ in range(COUNT):\n\
                   \u{20}   begun = time.monotonic()\n\
                   \u{20}   try: ask.sendto(bytes(SIZE), ('ADDRESS', 8000)); ask.recv(9000); took.append(time.monotonic() - begun)\n\
                   \u{20}   except OSError: pass\n\
                   took.sort()\n\
                   print(len(took), round(took[len(took) // 2] * 1000) if took else 0)\"";

/// What came of so many datagrams of a size over a link: answers, and the middle one's milliseconds.
fn echoed(link: &str, count: u32, size: u32) -> (u32, u32) {
    let (client, server) = (Holder::new(), Holder::new());
    let _joined = link.parse::<Link>().expect("a link").join(client.pid(), server.pid()).expect("joined");
    let inside = format!("--net=/proc/{}/ns/net", server.pid());
    let _serving = Holder(Command::new("nsenter").args([&inside, "sh", "-c", ECHO]).spawn().expect("a server"));
    let ask = |count: u32, size: u32| {
        let words = [("COUNT", count.to_string()), ("SIZE", size.to_string())];
        let filled = words.iter().fold(ASK.to_string(), |script, (name, value)| script.replace(name, value));
        client.run(&filled.replace("ADDRESS", &Link::addresses().server.to_string()))
    };
    wait_until("the server answers", || ask(1, 10).starts_with('1'));
    let seen = ask(count, size);
    let mut numbers = seen.split_whitespace().map(|word| word.parse::<u32>().expect("a number"));
    (numbers.next().expect("answers"), numbers.next().expect("milliseconds"))
}

#[test]
fn a_link_has_the_delay_that_was_asked_for_in_each_direction() {
    if !is_root() {
        return;
    }
    let (answered, milliseconds) = echoed("delay=20ms", 20, 100);
    assert_eq!(answered, 20);
    // Twice the delay and never less; a crowded machine adds to it.
    assert!((40..80).contains(&milliseconds), "{milliseconds} ms");
}

#[test]
fn a_link_loses_what_was_asked_for_and_what_is_too_large_for_the_way() {
    if !is_root() {
        return;
    }
    let (answered, _) = echoed("loss=20%", 60, 100);
    // 64 % come back: 38 of 60; less than 20 or more than 56 would be chance once in ten million times.
    assert!((20..57).contains(&answered), "{answered} of 60");
    assert_eq!(echoed("mtu=1500,path-mtu=1400", 3, 1372).0, 3, "with its headers it has 1,400 bytes");
    assert_eq!(echoed("mtu=1500,path-mtu=1400", 3, 1373).0, 0);
}

#[test]
fn two_links_at_a_time_do_not_meet() {
    if !is_root() {
        return;
    }
    let link = "rate=10mbit".parse::<Link>().expect("a link");
    let holders = [Holder::new(), Holder::new(), Holder::new(), Holder::new()];
    let _one = link.join(holders[0].pid(), holders[1].pid()).expect("joined");
    let _other = link.join(holders[2].pid(), holders[3].pid()).expect("joined as well");
    assert!(holders[3].run("tc qdisc show dev link0").contains("rate 10Mbit"));
}

#[test]
fn a_kill_leaves_no_namespace_and_no_device() {
    if !is_root() {
        return;
    }
    let link = "mtu=1500,rate=10mbit".parse::<Link>().expect("a link");
    let (client, server) = (Holder::new(), Holder::new());
    let joined = link.join(client.pid(), server.pid()).expect("joined");
    let inode = |holder: &Holder| namespace(holder.pid()).replace("net:[", "").replace(']', "");
    let inodes = [inode(&client), inode(&server)];
    let listed = || {
        let output = Command::new("lsns").args(["--noheadings", "--output", "NS", "--type", "net"]).output();
        String::from_utf8(output.expect("lsns").stdout).expect("text")
    };
    assert!(inodes.iter().all(|inode| listed().contains(inode)));
    drop((client, server, joined));
    assert!(!inodes.iter().any(|inode| listed().contains(inode)));
    assert!(!Path::new("/sys/class/net/link0").exists());
}

#[test]
fn a_command_that_fails_is_named_with_its_reason() {
    if !is_root() {
        return;
    }
    let link = "mtu=1500".parse::<Link>().expect("a link");
    let gone = u32::MAX / 2;
    let error = link.join(gone, gone).expect_err("no such process").to_string();
    assert!(error.starts_with("`ip link add link0 "), "{error}");
}
