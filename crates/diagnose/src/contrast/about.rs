//! What calls are about, named so that many of them, and those of another run, come together.

use case::tables::transport;
use std::collections::BTreeMap;

/// More files of one folder than this are counted together.
const FILES: usize = 8;

/// What a call on a socket of this transport, or on a path, is about; empty for neither.
pub fn about(transport: Option<u8>, path: Option<&str>) -> String {
    match transport {
        Some(transport::TCP) => "tcp socket".to_string(),
        Some(transport::UDP) => "udp socket".to_string(),
        Some(transport::UNIX) => "unix socket".to_string(),
        Some(_) => "socket".to_string(),
        None => path.map(without_process).unwrap_or_default(),
    }
}

/// A path below /proc without the number of the process, which is another each time.
fn without_process(path: &str) -> String {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|letter| letter.is_ascii_digit());
    if !path.starts_with("/proc/") {
        return path.to_string();
    }
    path.split('/').map(|part| if number(part) { "PID" } else { part }).collect::<Vec<_>>().join("/")
}

/// In which folders a call is about so many files that they are named together.
pub struct Folders {
    files: BTreeMap<(u16, String), usize>,
}

impl Folders {
    /// Counts the files of each folder, each call and file once.
    pub fn new<'n>(names: impl Iterator<Item = (u16, &'n str)>) -> Folders {
        let mut files: BTreeMap<(u16, String), usize> = BTreeMap::new();
        for (number, about) in names {
            if let Some(folder) = folder(about) {
                *files.entry((number, folder)).or_default() += 1;
            }
        }
        Folders { files }
    }

    /// What a call is about, or the folder that stands for it: `/etc/ssl/certs/*`.
    pub fn name(&self, number: u16, about: String) -> String {
        let folder = folder(&about).map(|folder| (number, folder));
        let many = folder.filter(|folder| self.files.get(folder).is_some_and(|&count| count > FILES));
        many.map_or(about, |(_, folder)| folder)
    }
}

fn folder(about: &str) -> Option<String> {
    about.rfind('/').filter(|_| about.starts_with('/')).map(|at| format!("{}/*", &about[..at]))
}
