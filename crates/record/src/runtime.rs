//! Which runtime runs a process: recognised by what its files contain, never by its name.

use crate::regular::open_image;
use crate::resolver::{Embedded, Resolver};
use crate::scripts;
use rustc_hash::FxHashMap;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Executables by device and inode: each is read once.
static KNOWN: LazyLock<Mutex<FxHashMap<(u64, u64), Embedded>>> = LazyLock::new(Mutex::default);

/// Executables remembered at most.
const MOST_KNOWN: usize = 4096;

/// The runtime of a process with the given mapped files: `cpython 3.11`, `php 8.2`, `perl 5.36`, `ruby 3.1`, `go`, `node`, `java`,
/// or empty for native code and for a process that is gone.
pub fn detect(resolver: &Resolver, pid: u32, mapped: &[String]) -> String {
    match embedded(resolver, &format!("/proc/{pid}/exe")) {
        Embedded::Go => return "go".to_string(),
        Embedded::Node => return "node".to_string(),
        Embedded::None => {}
    }
    let library = |name: &str| mapped.iter().find(|path| file_name(path).starts_with(name));
    if library("libjvm.so").is_some() {
        return "java".to_string();
    }
    if let Some(path) = library("libnode.so")
        && embedded(resolver, &format!("/proc/{pid}/root{path}")) == Embedded::Node
    {
        return "node".to_string();
    }
    scripts::runtime(resolver, pid).unwrap_or_default()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What a file has in it.
fn embedded(resolver: &Resolver, path: &str) -> Embedded {
    let Some(file) = open_image(path) else { return Embedded::None };
    let Ok(metadata) = file.metadata() else { return Embedded::None };
    let key = (metadata.dev(), metadata.ino());
    if let Some(known) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *known;
    }
    let Some(read) = resolver.embedded(&Arc::new(file)) else { return Embedded::None };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    known.insert(key, read);
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    /// The runtime of a program that waits for its standard input to end; `None` where the program is not installed.
    fn runtime_of(command: &str, arguments: &[&str]) -> Option<String> {
        let mut child =
            Command::new(command).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut first = [0; 1];
        // Kept open: a program whose output nobody reads any more may end before it is looked at.
        let mut output = child.stdout.take()?;
        output.read_exact(&mut first).ok()?;
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).ok()?;
        let mapped: Vec<String> = maps.lines().filter_map(|line| Some(line[line.find('/')?..].to_string())).collect();
        let runtime = detect(&Resolver::new(), child.id(), &mapped);
        drop(child.stdin.take());
        let _ = child.kill();
        let _ = child.wait();
        Some(runtime)
    }

    #[test]
    fn runtimes_are_recognised_by_what_is_in_their_files() {
        let node = "process.stdout.write('x'); process.stdin.resume()";
        let python = "import sys; print('x', flush=True); sys.stdin.read()";
        let mut absent = Vec::new();
        for (command, arguments, expected) in [
            ("node", ["-e", node], "node"),
            ("python3", ["-c", python], "cpython 3."),
            ("php", ["-r", "echo 'x'; fgets(STDIN);"], "php 8."),
            ("perl", ["-e", "$| = 1; print 'x'; <STDIN>"], "perl 5."),
            ("ruby", ["-e", "$stdout.sync = true; print 'x'; gets"], "ruby 3."),
            ("sh", ["-c", "echo x; read line"], ""),
        ] {
            match runtime_of(command, &arguments) {
                Some(runtime) if expected.is_empty() => assert_eq!(runtime, ""),
                Some(runtime) => assert!(runtime.starts_with(expected), "{command}: {runtime}"),
                None => absent.push(command),
            }
        }
        println!("not checked, since not installed: {absent:?}");
        assert!(!absent.contains(&"sh"));
    }

    #[test]
    fn go_executables_are_recognised_by_their_line_table() {
        let Some(go) = testing::go() else { return };
        assert_eq!(embedded(&Resolver::new(), &go.to_string_lossy()), Embedded::Go);
        assert_eq!(embedded(&Resolver::new(), "/proc/self/exe"), Embedded::None);
    }

    #[test]
    fn a_mapped_jvm_is_java() {
        let mapped = ["/usr/lib/jvm/lib/server/libjvm.so".to_string()];
        assert_eq!(detect(&Resolver::new(), std::process::id(), &mapped), "java");
    }

    #[test]
    fn a_process_that_is_gone_has_no_runtime() {
        assert_eq!(detect(&Resolver::new(), u32::MAX >> 1, &[]), "");
    }
}
