//! What /proc shows of a subject's process, asked for with our own rights first. Where these do not suffice, since it is another
//! user's or holds its program back, the broker opens the file or follows the link.

use broker::{Look, OpenMemory, OpenOf, Place, ask};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Where a link of a process leads.
pub fn link(pid: u32, place: Place) -> io::Result<PathBuf> {
    let name = match place {
        Place::Executable => "exe",
        Place::Network => "ns/net",
    };
    let by_broker = || Ok(ask(Look { pid, place: Some(place) }, &[])?.answer.pop().map(|(_, target)| target.into()));
    or(fs::read_link(format!("/proc/{pid}/{name}")).map(Some), by_broker)?.ok_or_else(|| ErrorKind::NotFound.into())
}

/// What the descriptors of a process lead to; empty where it is gone.
pub fn descriptors(pid: u32) -> Vec<(i32, OsString)> {
    let by_broker = || Ok(ask(Look { pid, place: None }, &[])?.answer);
    or(own_descriptors(pid), by_broker).unwrap_or_default()
}

fn own_descriptors(pid: u32) -> io::Result<Vec<(i32, OsString)>> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
    let target = |entry: fs::DirEntry| {
        Some((entry.file_name().to_str()?.parse().ok()?, fs::read_link(entry.path()).ok()?.into_os_string()))
    };
    Ok(entries.filter_map(target).collect())
}

/// The mappings of a process, as the kernel writes them; empty where it is gone.
pub fn mappings(pid: u32) -> Vec<u8> {
    let by_broker = || read(OpenOf::Mappings { pid });
    or(fs::read(format!("/proc/{pid}/maps")), by_broker).unwrap_or_default()
}

/// What a thread of a process waits in, as the kernel writes it; empty where it is gone.
pub fn call(pid: u32, tid: u32) -> String {
    let by_broker = || read(OpenOf::Call { pid, tid }).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    or(fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")), by_broker).unwrap_or_default()
}

/// A file opened by the broker, where opening it ourselves was refused.
pub fn opened(own: io::Result<File>, otherwise: OpenOf) -> Option<File> {
    or(own, || open(otherwise)).ok()
}

/// Fills the buffer from a process's memory by the broker; whether all of it could be read.
pub fn memory(pid: u32, address: u64, buffer: &mut [u8]) -> bool {
    let file = broker::has_dropped().then(|| ask(OpenMemory { pid }, &[]).ok()?.files.pop()).flatten();
    file.is_some_and(|file| File::from(file).read_exact_at(buffer, address).is_ok())
}

/// The kernel's own symbols, with their addresses where root is allowed to see them.
pub fn kernel_symbols() -> Vec<u8> {
    if !broker::has_dropped() {
        return fs::read("/proc/kallsyms").unwrap_or_default();
    }
    let mut bytes = Vec::new();
    if let Some(file) = ask(broker::OpenKernelSymbols, &[]).ok().and_then(|mut opened| opened.files.pop()) {
        // What could be read of it is used.
        let _ = File::from(file).read_to_end(&mut bytes);
    }
    bytes
}

fn read(wanted: OpenOf) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(wanted)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open(wanted: OpenOf) -> io::Result<File> {
    ask(wanted, &[])?.files.pop().map(File::from).ok_or_else(|| ErrorKind::NotFound.into())
}

fn or<T>(own: io::Result<T>, by_broker: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    match own {
        Err(error) if error.kind() == ErrorKind::PermissionDenied && broker::has_dropped() => by_broker(),
        other => other,
    }
}
