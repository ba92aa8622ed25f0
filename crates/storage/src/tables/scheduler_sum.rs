use crate::row::table;
use crate::units::Nanos;

table! {
    /// What the scheduler itself counted for one thread while it was watched. Nothing of it comes from the events that the
    /// other tables are made of, so that it tells whether those are complete.
    pub struct SchedulerSum in "scheduler_sums" {
        /// Thread id.
        pub tid: u32,
        /// Its process.
        pub pid: u32,
        /// When watching it began: what is counted is from then on.
        pub start: Nanos,
        /// Time on a CPU (`se.sum_exec_runtime`).
        pub on_cpu: Nanos,
        /// How much `on_cpu` may be off by: a tick of the clock for each end at which the thread was running and read from
        /// outside; else 0.
        pub inexact: Nanos,
        /// Time runnable and waiting for a CPU (`sched_info.run_delay`).
        pub run_delay: Nanos,
        /// Whether the kernel counts `run_delay`.
        pub has_run_delay: bool,
        /// Of the time that its rows have it runnable, what the scheduler does not count, in nanoseconds: a thread stands in a
        /// queue only when its CPU has taken it in after the wake-up. At most 200 us of each wake-up are taken for that.
        /// Negative where the scheduler counts from earlier, as it does when a thread is preempted. The least number: not known.
        pub waking: i64 = i64::MIN,
        /// Switches away from it because it had to wait (`nvcsw`).
        pub voluntary: u64,
        /// Switches away from it because another was to run (`nivcsw`).
        pub involuntary: u64,
        /// Calls that it made of the kinds that are recorded, counted in the kernel, including those whose rows were lost.
        pub calls: u64,
        /// How many of these calls have no row on purpose (table `thinned`).
        pub thinned_calls: u64,
        /// How many of the waits, likewise.
        pub thinned_waits: u64,
        /// How many of the other switches, likewise.
        pub thinned_preemptions: u64,
    }
}
