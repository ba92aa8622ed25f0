//! What this host lets the recorder and the lab do: tried, not guessed.

mod lab;

use crate::error::RecordError;
use crate::kernel::Kernel;
use crate::{host, peer};
use case::Check;
use nix::unistd::geteuid;
use std::fs;
use std::process::Command;

/// Tries everything, in the order in which it is needed.
pub fn checks() -> Vec<Check> {
    let mut checks =
        vec![privileges(), types(), programs(), kernel_symbols(), command("ip", "iproute2"), command("tc", "iproute2")];
    checks.extend(lab::checks());
    checks
}

fn check(name: &str, result: Result<String, String>, remedy: &str) -> Check {
    let works = result.is_ok();
    let detail = result.unwrap_or_else(|reason| reason);
    Check { name: name.to_string(), works, detail, remedy: if works { String::new() } else { remedy.to_string() } }
}

fn privileges() -> Check {
    let result = host::has_what_recording_needs().map(|()| {
        let whose = if broker::has_dropped() { "; what needs root is done by a process that stays root" } else { "" };
        format!("user {} may record{whose}", geteuid())
    });
    let executable = std::env::current_exe().map_or_else(|_| "whyslow".into(), |path| path.display().to_string());
    let capabilities = host::needed_capabilities().join(",");
    let remedy = format!("sudo whyslow ..., or: {}", host::to_grant(&capabilities, &executable));
    check("privileges", result.map_err(|error| error.to_string()), &remedy)
}

fn types() -> Check {
    let size =
        fs::metadata("/sys/kernel/btf/vmlinux").map(|file| format!("{} of kernel types", case::Bytes(file.len())));
    let remedy = "run a kernel built with CONFIG_DEBUG_INFO_BTF=y (Debian's kernels since 11 are)";
    check("kernel types (BTF)", size.map_err(|error| format!("/sys/kernel/btf/vmlinux: {error}")), remedy)
}

fn programs() -> Check {
    let loaded = Kernel::load(997, true).map(|kernel| kernel.missing.clone());
    let result = match loaded {
        Ok(missing) if missing.is_empty() => Ok("all BPF programs load and attach; CPU sampling works".to_string()),
        Ok(missing) => Err(missing.join("; ")),
        Err(error) => Err(refused(&error)),
    };
    check("recorder in the kernel", result, "sudo whyslow doctor; if that fails, too, see the kernel's message above")
}

/// Why something cannot be attached: the list of missing privileges is said once.
fn refused(error: &RecordError) -> String {
    match error {
        RecordError::NotPrivileged { .. } => "needs the privileges above".to_string(),
        other => first_words(&other.to_string()),
    }
}

/// The beginning of a message that can hold a verifier's log of many pages.
fn first_words(message: &str) -> String {
    message.chars().take(300).collect::<String>().replace('\n', " ")
}

fn kernel_symbols() -> Check {
    let symbols = String::from_utf8_lossy(&peer::kernel_symbols()).into_owned();
    let hidden = symbols.lines().take(100).all(|line| line.starts_with("0000000000000000"));
    let result = if hidden { Err("addresses are hidden".to_string()) } else { Ok("readable".to_string()) };
    check("kernel symbols", result, "sudo sysctl kernel.kptr_restrict=0")
}

fn command(name: &str, package: &str) -> Check {
    let output = Command::new(name).arg("-V").output();
    let result = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let remedy = format!("sudo apt-get install {package}");
    check(&format!("{name} (for --link)"), result.map_err(|error| error.to_string()), &remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_tried_is_undone_and_each_check_says_what_was_found() {
        let _alone = crate::alone::alone();
        let checks = checks();
        assert!(checks.iter().all(|check| !check.detail.is_empty() && check.works == check.remedy.is_empty()));
        if !testing::is_root() {
            return;
        }
        for name in ["options of connections", "meter of trials", "private mounts", "trees of files", "shims"] {
            let check = checks.iter().find(|check| check.name == name).expect(name);
            assert!(check.works, "{check:?}");
        }
        let group = checks.iter().find(|check| check.name == "control groups").expect("groups");
        let parent = group.detail.rsplit(' ').next().expect("a folder");
        assert!(!fs::exists(format!("{parent}/{}", lab::group_name())).expect("seen"));
        assert!(!fs::exists(format!("/run/whyslow-doctor-{}", std::process::id())).expect("seen"));
    }
}
