//! Whoever ended a wait, and what that one did until then.

use super::{Object, Wait, blocked};
use crate::facts::Function;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The last one of those who waited for each other: whoever ended a wait, or ended the wait of the one who did, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Awaited {
    /// The file name of its executable; null if it is another thread of the process that waits.
    pub program: Option<String>,
    /// What it did meanwhile, most of the time.
    pub doing: Doing,
    /// Where in the code; null if no place is known.
    pub code: Option<CodeLine>,
}

/// What a thread did while it was waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Doing {
    /// On CPU, in its own code or in the kernel.
    OnCpu,
    /// Runnable, waiting for a CPU: run delay.
    RunDelay,
    /// Blocked in a system call.
    Blocked {
        /// The call: `read`.
        call: String,
        /// What a call of that kind waits for.
        wait: Wait,
        /// What it was called on; null if that has no name.
        object: Option<Box<Object>>,
    },
    /// Blocked uninterruptibly outside every recorded call: usually a page fault that reads a disk.
    PageFault,
    /// Blocked outside every recorded call.
    #[default]
    #[serde(other)]
    BlockedElsewhere,
}

/// A line of code, or a function where no line is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CodeLine {
    /// The source file; empty if unknown.
    pub file: String,
    /// The line; 0 if unknown.
    pub line: u32,
    /// The function, or a module and an offset.
    pub function: String,
    /// The library or executable; empty for a script.
    pub module: String,
}

impl Awaited {
    /// `waits for another thread: pool.cpp:11, which was asleep`.
    pub(super) fn name(&self) -> String {
        let who = match self.program.as_deref() {
            None => "another thread",
            Some("") => "a process",
            Some(program) => program,
        };
        let place = self.code.as_ref().map(CodeLine::short).filter(|place| !place.is_empty());
        let place = place.map(|place| format!(": {place}")).unwrap_or_default();
        format!("waits for {who}{place}, which was {}", self.doing.in_words())
    }
}

impl Doing {
    fn in_words(&self) -> String {
        match self {
            Doing::OnCpu => "on CPU".into(),
            Doing::RunDelay => "waiting for a CPU".into(),
            Doing::Blocked { wait: Wait::Sleep, .. } => "asleep".into(),
            Doing::Blocked { wait: Wait::Lock, .. } => "waiting for a lock".into(),
            Doing::Blocked { wait: Wait::Child, .. } => "waiting for a child".into(),
            Doing::Blocked { call, wait, object } => blocked(call, *wait, object.as_deref()),
            Doing::PageFault => "blocked on a disk outside calls".into(),
            Doing::BlockedElsewhere => "blocked".into(),
        }
    }
}

impl CodeLine {
    /// `pool.cpp:11`; the function where no line is known.
    fn short(&self) -> String {
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
        match self.line {
            0 if self.module.is_empty() || Function::of(&self.function).is_address() => self.function.clone(),
            0 => format!("{} in {}", Function::short(&self.function), base(&self.module)),
            line => format!("{}:{line}", base(&self.file)),
        }
    }
}
