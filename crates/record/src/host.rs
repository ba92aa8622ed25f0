//! The machine: what it is, and whether it lets us record.

use crate::error::RecordError;
use crate::kernel::kernel_release;
use case::Host;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::fs;

/// Capabilities that recording needs, with their bits in the kernel's sets (linux/capability.h).
const CAPABILITIES: [(&str, u32); 6] = [
    ("cap_net_admin", 12),
    ("cap_sys_ptrace", 19),
    ("cap_sys_admin", 21),
    ("cap_syslog", 34),
    ("cap_perfmon", 38),
    ("cap_bpf", 39),
];

/// The capabilities that recording needs, as `setcap` spells them.
pub fn needed_capabilities() -> Vec<&'static str> {
    CAPABILITIES.iter().map(|(name, _)| *name).collect()
}

/// The commands that let whyslow record without sudo: for the group of who runs it alone, since whoever can execute a program
/// has the capabilities that its file carries. They come last: a change of owner takes them away.
pub fn to_grant(capabilities: &str, executable: &str) -> String {
    let gid = nix::unistd::getgid();
    let name = nix::unistd::Group::from_gid(gid).ok().flatten().map(|group| group.name);
    let group = name.unwrap_or_else(|| gid.to_string());
    format!(
        "sudo chgrp {group} {executable} && sudo chmod 0750 {executable} && sudo setcap {capabilities}+ep {executable}"
    )
}

/// Whether this process, or the broker for it, has the capabilities and the kernel the types.
///
/// # Errors
/// Names what is missing.
pub fn may_record() -> Result<(), RecordError> {
    // The broker looks itself when it is asked to load something.
    if broker::has_dropped() { Ok(()) } else { has_what_recording_needs() }
}

/// Whether this process, or the broker that would do it for it, has the capabilities and the kernel the types.
pub(crate) fn has_what_recording_needs() -> Result<(), RecordError> {
    let effective = effective_capabilities();
    let missing: Vec<&str> =
        CAPABILITIES.iter().filter(|(_, bit)| effective >> bit & 1 == 0).map(|(name, _)| *name).collect();
    if !missing.is_empty() {
        let uid = if broker::acts_as_root() { 0 } else { nix::unistd::geteuid().as_raw() };
        return Err(RecordError::NotPrivileged { missing: missing.join(","), uid });
    }
    if fs::metadata("/sys/kernel/btf/vmlinux").is_err() {
        return Err(RecordError::NoBtf { release: kernel_release() });
    }
    Ok(())
}

/// Lets this process open as many files as it may: each image that code was seen in is one. Programs that were held
/// before keep the limit they began with.
pub fn raise_open_files() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // Where even this is refused, images beyond the limit are shown as unreadable.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}

fn effective_capabilities() -> u64 {
    let whose = broker::broker_pid().unwrap_or(std::process::id());
    let status = fs::read_to_string(format!("/proc/{whose}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

/// What the machine is.
pub fn describe() -> Host {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = processors.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    Host {
        kernel: kernel_release(),
        distribution: distribution(),
        processor: field("model name").unwrap_or_default(),
        processors: std::thread::available_parallelism().map_or(0, |count| count.get() as u32),
        memory_bytes: memory_bytes(),
    }
}

fn distribution() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.unwrap_or_default().trim_matches('"').to_string()
}

fn memory_bytes() -> u64 {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
