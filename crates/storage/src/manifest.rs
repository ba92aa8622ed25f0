//! What a case is about: who was watched, where, for how long, and what could not be watched.

use crate::names::{NameKind, Names, Pseudonyms};
use crate::tables::SchedulerSum;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// The version of the case's layout and of the JSON answer. Fields are only ever added within a version.
pub const SCHEMA: u32 = 1;

/// The head of a case, kept as `manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout's version, [`SCHEMA`].
    pub schema: u32,
    /// The version of whyslow that recorded it.
    pub whyslow: String,
    /// The subject's command line, secrets redacted.
    pub command: Vec<String>,
    /// The server's command line, where whyslow started one (empty otherwise).
    pub server: Vec<String>,
    /// Whether names are kept in this case, or pseudonyms stand for them.
    #[serde(default)]
    pub names: Names,
    /// The link between client and server as it was asked for, for example `mtu=1500,rate=10mbit`; empty for none.
    pub link: String,
    /// Where the rows come from.
    #[serde(default, skip_serializing_if = "Source::is_recording")]
    pub source: Source,
    /// When recording began, as seconds since 1970 (for people; all other times are since boot).
    pub started_unix_seconds: u64,
    /// When the time that the run is about began, since boot: the subject's first program. Rows can be older (a server
    /// was started before).
    pub start: Nanos,
    /// When it ended, since boot: the end of the subject's last process, else that of recording.
    pub end: Nanos,
    /// The client command, or the only one.
    pub subject: Subject,
    /// The process that whyslow started as the server; 0 for none.
    pub server_pid: u32,
    /// The machine.
    pub host: Host,
    /// What was counted over all the time that was watched, where rows end before that (there were more events than are
    /// kept) or were thinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// What recording was to cost and has cost, where rows were governed by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// CPU samples taken each second on each processor; 0 where none were.
    pub sampling_hertz: u32,
    /// What was not looked for, and why: one sentence each.
    pub missing: Vec<String>,
    /// Whether recording ended in good order. A case that is not closed may lack its last rows.
    pub closed: bool,
}

/// Where the rows of a case come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Whyslow has recorded running programs.
    #[default]
    Recording,
    /// A capture of packets that was made elsewhere: nothing in it is of processes.
    Capture,
}

impl Source {
    /// Whether programs were recorded.
    pub fn is_recording(&self) -> bool {
        *self == Source::Recording
    }
}

/// What the scheduler has counted for all threads together while they were watched, rows or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// When the first of them began to be watched, since boot.
    pub from: Nanos,
    /// When watching ended.
    pub until: Nanos,
    /// Their time on CPUs.
    pub on_cpu: Nanos,
    /// Their time waiting for one; none where the kernel does not count it for each.
    pub run_delay: Option<Nanos>,
    /// How many there were.
    pub threads: u64,
}

/// What recording was to cost and what it cost. Rows are thinned out (table `thinned`) where they would cost more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The budget, as a share of the CPU time that the subject takes, and at least of one CPU.
    pub overhead: f64,
    /// CPU time that the recorder's programs in the kernel took.
    pub kernel: Nanos,
    /// CPU time of the thread that takes their events.
    pub drain: Nanos,
    /// CPU time that the subject took.
    pub subject: Nanos,
}

impl Counted {
    /// Adds what was counted for one thread.
    pub fn add(&mut self, sum: &SchedulerSum) {
        self.from = if self.threads == 0 { sum.start } else { self.from.min(sum.start) };
        self.run_delay = match self.run_delay.or((self.threads == 0).then_some(Nanos(0))) {
            Some(before) if sum.has_run_delay => Some(before + sum.run_delay),
            _ => None,
        };
        self.threads += 1;
        self.on_cpu += sum.on_cpu;
    }
}

impl Manifest {
    /// The same with names as they are written down.
    pub(crate) fn without_names(&self, pseudonyms: &Pseudonyms) -> Manifest {
        let mut shown = self.clone();
        let words = shown.command.iter_mut().chain(&mut shown.server);
        words.for_each(|word| pseudonyms.replace(NameKind::Command, word));
        shown.missing.iter_mut().for_each(|sentence| pseudonyms.replace(NameKind::Sentence, sentence));
        shown
    }
}

/// The command that was watched, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Its process id.
    pub pid: u32,
    /// Its exit status; none where a signal ended it or it was still running.
    pub exit: Option<i32>,
    /// The signal that ended it; none where it exited or was still running.
    pub signal: Option<i32>,
}

impl Subject {
    /// Its exit status as shells count it: 128 and the signal's number where a signal ended it.
    pub fn status(&self) -> Option<i32> {
        self.exit.or(self.signal.map(|signal| 128 + signal))
    }
}

/// The machine it ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// The kernel's release, as `uname -r` prints it.
    pub kernel: String,
    /// The distribution's name and version.
    pub distribution: String,
    /// The processor's model.
    pub processor: String,
    /// Processors online.
    pub processors: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
}
