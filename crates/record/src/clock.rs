//! The clock of all rows.

use case::Nanos;

/// CPU time that the thread which asks has taken.
pub fn cpu_time_of_this_thread() -> Nanos {
    read(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// Now, in nanoseconds since boot.
pub fn now() -> Nanos {
    read(nix::time::ClockId::CLOCK_BOOTTIME)
}

fn read(clock: nix::time::ClockId) -> Nanos {
    let time = nix::time::clock_gettime(clock);
    time.map_or(Nanos(0), |time| Nanos(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64))
}
