//! From nanoseconds since boot to nanoseconds since 1970.

use case::{Manifest, Nanos};

/// The start of a recording in both clocks. The date is known to the second, lengths of time to the nanosecond.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    boot: u64,
    unix: u64,
}

impl Clock {
    /// The clock of a recording.
    pub(super) fn of(manifest: &Manifest) -> Clock {
        Clock { boot: manifest.start.0, unix: manifest.started_unix_seconds.saturating_mul(1_000_000_000) }
    }

    /// A time as nanoseconds since 1970.
    pub(super) fn unix(self, time: Nanos) -> u64 {
        match time.0.checked_sub(self.boot) {
            Some(since) => self.unix.saturating_add(since),
            None => self.unix.saturating_sub(self.boot - time.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_and_after_the_start_keep_their_distance_from_it() {
        let manifest = Manifest { start: Nanos(500), started_unix_seconds: 2, ..Manifest::default() };
        let clock = Clock::of(&manifest);
        assert_eq!([400, 500, 507].map(|boot| clock.unix(Nanos(boot))), [1_999_999_900, 2_000_000_000, 2_000_000_007]);
    }
}
