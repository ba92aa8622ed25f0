//! What a kernel does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the kernel did on behalf of a program, as far as its functions tell it from passing bytes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KernelWork {
    /// Took packets through the rules of a firewall (nftables, iptables).
    PacketFilters,
    /// Took system calls through filters (seccomp) or rules (audit).
    CallFilters,
    /// Looked for memory to free, or brought some back from swap.
    Reclaim,
    /// Copied a process (fork).
    Copies,
    /// Started a program (exec).
    Starts,
    /// Took memory back, or all of a process that ended.
    GivesBack,
    /// Dealt with page faults: memory touched for the first time, or copied since another process shares it.
    Faults,
    /// Looked for files by their paths.
    Files,
    /// Something that this version of whyslow does not know.
    #[default]
    #[serde(other)]
    Other,
}
