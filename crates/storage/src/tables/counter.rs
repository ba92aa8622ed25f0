use crate::row::table;

table! {
    /// One kernel counter, read when recording began and ended. Only counters that changed are kept.
    pub struct Counter in "counters" {
        /// Whose: `netns:INODE`, `cgroup:PATH`, `softnet`, `cpu`.
        pub scope: String as Scope,
        /// Its name as the kernel spells it, for example `TcpExt.DelayedACKs`.
        pub name: String as Word,
        /// Its value when recording began.
        pub before: u64,
        /// Its value when recording ended.
        pub after: u64,
    }
}
