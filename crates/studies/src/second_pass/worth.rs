//! Whether it is worth a further run to look for what is left under a cure.

use case::tables::Trial;
use lab::SHAM;
use std::time::Duration;

/// A cure that gains less leaves the program about as it was: what else there is, the first recording has shown.
const LEAST_RATIO: f64 = 1.5;
/// What is left has to be this share of the time that there was, or this long: nobody waits for less.
const LEAST_SHARE: f64 = 0.02;
const LEAST_LEFT: f64 = 100e6;
/// In less than this too few samples are taken to name a function.
const LEAST_SAMPLED: f64 = 30e6;
/// Only work on a processor can be a function's. On a machine that others use too, a program that never waits for
/// anything else has it for half of the time or less.
const LEAST_BUSY: f64 = 0.3;
/// Of a program that mostly waits for answers, the first recording has shown the rest.
const MOST_EXCHANGING: f64 = 0.5;

/// What is left, in the whole runs with a cure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    ratio: f64,
    before_ns: f64,
    wall_ns: f64,
    cpu_ns: f64,
    exchanging_ns: f64,
    has_server: Server,
}

/// Whether there is a server of ours: a client's run does not separate its time from the client's.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Server {
    Ours,
    None,
}

impl Worth {
    /// From the trials of a cure that ran to their end; none where there is none.
    pub fn of(rows: &[Trial], cure: &str, ratio: f64, before_ns: u64, has_server: bool) -> Option<Worth> {
        let middle = middle(rows, cure)?;
        Some(Worth {
            ratio,
            // A single run may have waited for other programs; trials are many.
            before_ns: self::middle(rows, SHAM).map_or(before_ns as f64, |row| row.wall.0 as f64),
            wall_ns: middle.wall.0 as f64,
            cpu_ns: (middle.client_user + middle.client_system).0 as f64,
            exchanging_ns: middle.exchange_wall.0 as f64,
            has_server: if has_server { Server::Ours } else { Server::None },
        })
    }

    /// Whether something of the program's own work is left that is worth a run.
    pub fn is_enough(&self) -> bool {
        let is_long = self.wall_ns >= LEAST_SHARE * self.before_ns || self.wall_ns >= LEAST_LEFT;
        let is_busy = self.cpu_ns >= LEAST_BUSY * self.wall_ns;
        let is_waiting = self.exchanging_ns > MOST_EXCHANGING * self.wall_ns;
        let has_samples = self.wall_ns >= LEAST_SAMPLED;
        self.ratio >= LEAST_RATIO && is_long && has_samples && is_busy && !is_waiting && self.has_server == Server::None
    }

    /// How long a whole run takes.
    pub fn whole(&self) -> Duration {
        Duration::from_nanos(self.wall_ns as u64)
    }
}

/// The trial of middle length among those of an arm that ran to their end.
fn middle<'a>(rows: &'a [Trial], arm: &str) -> Option<&'a Trial> {
    let is_whole = |row: &&Trial| row.arm == arm && row.exit >= 0 && row.applied && row.problem.is_empty();
    let mut whole = rows.iter().filter(is_whole).collect::<Vec<_>>();
    whole.sort_by_key(|row| row.wall);
    whole.get(whole.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Nanos;

    /// A cured run of so many milliseconds, so many of them on a processor and in exchanges, of a program that took 1 s.
    fn worth(ratio: f64, wall: u64, cpu: u64, exchanging: u64, has_server: bool) -> bool {
        let row = Trial {
            arm: "cure".into(),
            wall: Nanos(wall * 1_000_000),
            client_user: Nanos(cpu * 1_000_000),
            exchange_wall: Nanos(exchanging * 1_000_000),
            applied: true,
            ..Trial::default()
        };
        Worth::of(&[row], "cure", ratio, 1_000_000_000, has_server).is_some_and(|worth| worth.is_enough())
    }

    #[test]
    fn work_that_is_left_is_worth_another_run() {
        assert!(worth(10.0, 90, 85, 0, false));
    }

    #[test]
    fn little_that_is_left_is_not() {
        assert!(!worth(60.0, 15, 14, 0, false));
        assert!(!worth(1.2, 800, 790, 0, false));
    }

    #[test]
    fn a_program_that_waits_or_exchanges_or_has_a_server_of_ours_has_shown_its_rest() {
        assert!(!worth(10.0, 90, 20, 0, false));
        assert!(!worth(10.0, 90, 85, 60, false));
        assert!(!worth(10.0, 90, 85, 0, true));
    }

    #[test]
    fn trials_that_were_cut_say_nothing_about_whole_runs() {
        let cut = Trial { arm: "cure".into(), exit: -1, applied: true, ..Trial::default() };
        assert_eq!(Worth::of(&[cut], "cure", 10.0, 1, false), None);
    }
}
