use crate::row::table;
use crate::units::Nanos;

table! {
    /// One program image: a process from its start or its `exec` to its end or its next `exec`.
    pub struct Process in "processes" {
        /// Process id.
        pub pid: u32,
        /// The process that started it; 0 if unknown.
        pub parent: u32,
        /// When it started, or was first seen.
        pub start: Nanos,
        /// When it ended; the end of recording if it was still running.
        pub end: Nanos,
        /// Path of its executable.
        pub executable: String as File,
        /// Its command line, arguments separated by spaces, secrets redacted.
        pub command: String as Command,
        /// `client` (the subject), `server` (started by `--server`) or `other`; children inherit it.
        pub role: String as Word,
        /// The runtime of the program: `cpython 3.11`, `php 8.2`, `perl 5.36`, `ruby 3.1`, `go`, `node`, `java`, or empty for
        /// native code.
        pub runtime: String as Word,
        /// Inode of its network namespace.
        pub network_namespace: u64,
        /// User id.
        pub uid: u32,
        /// Known switches that make a runtime slow, with a space between two: variables of its environment, `NAME` or `NAME=WORD`,
        /// and options of its command line. Nothing else of the environment is kept.
        pub switches: String as Word = String::new(),
        /// On how many CPUs it was allowed to run when it was first looked at; 0 if unknown.
        pub allowed_processors: u32 = 0,
        /// Exit status as `wait` reports it (status in the high byte, signal in the low seven bits); -1 while running.
        pub exit: i32,
    }
}
