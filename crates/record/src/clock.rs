//! The clock of all rows.

use case::Nanos;

/// Now, in nanoseconds since boot.
pub fn now() -> Nanos {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_BOOTTIME);
    time.map_or(Nanos(0), |time| Nanos(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64))
}
