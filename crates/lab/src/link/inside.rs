//! Commands run, and kernel settings made, inside the network namespace of a process.

use super::LinkError;
use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// Where the system keeps its tools.
const TOOLS: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Runs a command, and returns what it printed.
pub(super) fn run(command: &[&str]) -> Result<String, LinkError> {
    let failed = |reason: String| LinkError::Command { command: command.join(" "), reason };
    let mut tool = Command::new(command[0]);
    if broker::is_broker() {
        // The system's tools, whatever the caller's environment says.
        tool.env_clear().env("PATH", TOOLS);
    }
    let output = tool.args(&command[1..]).output();
    let output = output.map_err(|error| failed(format!("{} cannot be started: {error}", command[0])))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    Err(failed(if said.is_empty() { output.status.to_string() } else { said }))
}

/// Runs a command in the namespace of a process.
pub(super) fn run_inside(pid: u32, command: &[&str]) -> Result<String, LinkError> {
    let namespace = format!("--net=/proc/{pid}/ns/net");
    run(&[&["nsenter", &namespace], command].concat())
}

/// Makes a setting in the namespace of a process, and returns what it is afterwards.
///
/// Names outside of `net` are refused: they would change the host. So does the kernel refuse those of `net` that all
/// namespaces share.
pub(super) fn set(pid: u32, name: &str, value: &str) -> Result<String, LinkError> {
    let failed = |reason: String| LinkError::Setting { name: name.to_string(), reason };
    let parts = name.split(if name.contains('/') { '/' } else { '.' }).collect::<Vec<_>>();
    if parts.len() < 2 || parts[0] != "net" || parts.iter().any(|part| part.is_empty() || part.starts_with('.')) {
        return Err(failed("only settings below net. are per network; others would change the host".into()));
    }
    let file = PathBuf::from("/proc/sys").join(parts.join("/"));
    let written = in_namespace(pid, || {
        std::fs::write(&file, value)?;
        std::fs::read_to_string(&file)
    });
    written.map(|shown| plain(&shown)).map_err(|error| failed(reason(&error)))
}

/// The words of a setting, as it is typed.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "this kernel has no such setting, or only one for all networks".to_string(),
        io::ErrorKind::PermissionDenied => "it cannot be set for one network alone".to_string(),
        io::ErrorKind::InvalidInput => "the kernel does not take this value".to_string(),
        _ => error.to_string(),
    }
}

/// Does something in the namespace of a process: in a thread, which alone enters it.
pub(super) fn in_namespace<T: Send>(pid: u32, act: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let namespace = File::open(format!("/proc/{pid}/ns/net"))?;
    let enter_and_act = || {
        setns(namespace, CloneFlags::CLONE_NEWNET)?;
        act()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("network".into()).spawn_scoped(scope, enter_and_act)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the network namespace panicked")))
    })
}
