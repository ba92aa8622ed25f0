//! Errors of recording.

use super::{Failure, again_with, own_path, quote, sudo};
use record::RecordError;
use std::path::Path;

/// The capabilities that recording needs without root: loading BPF programs, sampling, reading TCP state, and reading
/// other processes' memory maps. One word, as setcap takes it.
const CAPABILITIES: &str = "cap_bpf,cap_perfmon,cap_net_admin,cap_sys_ptrace,cap_dac_read_search";

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Failure {
        let why = error.to_string();
        match error {
            RecordError::NotPrivileged { missing, uid } => not_privileged(&missing, uid),
            RecordError::NoBtf { .. } => Failure::new(
                "recording does not work on this kernel",
                why,
                "boot a kernel with CONFIG_DEBUG_INFO_BTF=y (distribution kernels have it), then: whyslow doctor",
            ),
            RecordError::Refused { .. } => Failure::new("the kernel refused", why, "whyslow doctor"),
            RecordError::NotFound(name) => not_found(&name),
            RecordError::NotExecutable { path, reason } => {
                let shown = path.display();
                Failure::new(format!("cannot execute {shown}"), reason, format!("ls -l {shown}; head -c 80 {shown}"))
            }
            RecordError::Io { action, source } => Failure::system(None, &action, &source),
            RecordError::NoProcess(_) => Failure::new("cannot attach", why, "ps -e"),
            RecordError::KernelThread(_) | RecordError::Ourselves(_) => {
                Failure::new("cannot attach", why, "whyslow attach PID, with the PID of the program to watch (ps -e)")
            }
            RecordError::TooManyServices { .. } => Failure::new("too many services", why, "whyslow watch nginx :8080"),
            RecordError::OtherPidNamespace => Failure::new(
                "recording does not work in here",
                why,
                "run it on the host, or in a container that shares the host's PID namespace (docker run --pid=host)",
            ),
            RecordError::NotPermitted { .. } => Failure::new("cannot attach", why, sudo()),
            RecordError::Case(error) => error.into(),
        }
    }
}

fn not_privileged(missing: &str, uid: u32) -> Failure {
    let capabilities = if missing.is_empty() { CAPABILITIES.to_string() } else { missing.to_lowercase() };
    let why = format!("user {uid} lacks {}", capabilities.replace(',', ", ").replace("  ", " "));
    let own = quote(&own_path().display().to_string());
    let once = record::to_grant(&capabilities.replace(' ', ""), &own);
    Failure::new("recording needs privileges", why, format!("{}   (or, once: {once})", sudo()))
}

fn not_found(name: &str) -> Failure {
    let is_here = !name.contains('/') && Path::new(name).is_file();
    let why = match (is_here, name.contains('/')) {
        (true, _) => format!("`{name}` is in this folder, but not in PATH"),
        (false, true) => format!("there is no file `{name}`"),
        (false, false) => format!("`{name}` is not in PATH"),
    };
    let remedy = match (is_here, name.contains('/')) {
        (true, _) => again_with(name, &format!("./{name}")),
        (false, true) => format!("ls -l {name}"),
        (false, false) => format!("type -a {name}"),
    };
    Failure::new(format!("command not found: {name}"), why, remedy)
}
