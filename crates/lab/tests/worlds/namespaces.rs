//! The link on a real kernel. Needs root; without it each test says so and passes.

use lab::Link;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testing::{is_root, stretched};

/// A process that keeps a network namespace alive, and is killed without warning when dropped.
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
    let addresses = link.join(client.pid(), server.pid()).expect("joined");
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

#[test]
fn two_links_at_a_time_do_not_meet() {
    if !is_root() {
        return;
    }
    let link = "rate=10mbit".parse::<Link>().expect("a link");
    let holders = [Holder::new(), Holder::new(), Holder::new(), Holder::new()];
    link.join(holders[0].pid(), holders[1].pid()).expect("joined");
    link.join(holders[2].pid(), holders[3].pid()).expect("joined as well");
    assert!(holders[3].run("tc qdisc show dev link0").contains("rate 10Mbit"));
}

#[test]
fn a_kill_leaves_no_namespace_and_no_device() {
    if !is_root() {
        return;
    }
    let link = "mtu=1500,rate=10mbit".parse::<Link>().expect("a link");
    let (client, server) = (Holder::new(), Holder::new());
    link.join(client.pid(), server.pid()).expect("joined");
    let inode = |holder: &Holder| namespace(holder.pid()).replace("net:[", "").replace(']', "");
    let inodes = [inode(&client), inode(&server)];
    let listed = || {
        let output = Command::new("lsns").args(["--noheadings", "--output", "NS", "--type", "net"]).output();
        String::from_utf8(output.expect("lsns").stdout).expect("text")
    };
    assert!(inodes.iter().all(|inode| listed().contains(inode)));
    drop((client, server));
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
