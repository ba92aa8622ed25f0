//! When requests are to start.

use fastrand::Rng;
use std::time::Duration;

/// When requests start.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// As soon as the one before is answered.
    Closed,
    /// At so many a second, evenly.
    Constant(f64),
    /// At so many a second in the mean, at random.
    Poisson(f64),
    /// At one rate after another, for equal parts of the time.
    Steps(Vec<f64>),
}

/// A moment at which a request is to start, from the beginning, and which of the steps it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Due {
    pub at: Duration,
    pub step: usize,
}

/// The moments of one of several threads: together they keep to the arrival.
pub(crate) struct Schedule {
    arrival: Arrival,
    whole: Duration,
    thread: usize,
    threads: usize,
    random: Rng,
    /// Seconds, and requests of this thread since the step began.
    at: f64,
    number: u64,
    step: usize,
}

impl Schedule {
    /// None where requests start as soon as they can.
    pub(crate) fn of(arrival: &Arrival, whole: Duration, thread: usize, threads: usize, seed: u64) -> Option<Schedule> {
        let random = Rng::with_seed(seed.wrapping_add(thread as u64));
        let arrival = arrival.clone();
        (arrival != Arrival::Closed).then_some(Schedule {
            arrival,
            whole,
            thread,
            threads,
            random,
            at: 0.0,
            number: 0,
            step: 0,
        })
    }

    /// The next moment; none behind the end.
    pub(crate) fn next(&mut self) -> Option<Due> {
        let whole = self.whole.as_secs_f64();
        let at = match &self.arrival {
            Arrival::Closed => return None,
            Arrival::Constant(rate) => self.evenly(*rate, 0.0),
            Arrival::Poisson(rate) => {
                // A sum of independent Poisson processes is one: each thread has its share of the rate.
                let share = rate / self.threads as f64;
                self.at -= (1.0 - self.random.f64()).ln() / share;
                self.at
            }
            Arrival::Steps(rates) => {
                let each = whole / rates.len() as f64;
                loop {
                    let rate = rates.get(self.step)?;
                    let begun = each * self.step as f64;
                    let at = self.evenly(*rate, begun);
                    if at < begun + each {
                        break at;
                    }
                    (self.step, self.number) = (self.step + 1, 0);
                }
            }
        };
        self.number += 1;
        (at < whole).then(|| Due { at: Duration::from_secs_f64(at), step: self.step })
    }

    /// Threads take turns, so that all together are evenly spaced. Multiplied rather than summed up: no error adds up.
    fn evenly(&self, rate: f64, begun: f64) -> f64 {
        begun + (self.number as f64 * self.threads as f64 + self.thread as f64) / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(arrival: &Arrival, threads: usize) -> Vec<Due> {
        let of = |thread| Schedule::of(arrival, Duration::from_secs(10), thread, threads, 7).expect("open");
        let mut all = Vec::new();
        for mut one in (0..threads).map(of) {
            all.extend(std::iter::from_fn(|| one.next()));
        }
        all.sort_by_key(|due| due.at);
        all
    }

    #[test]
    fn threads_together_keep_a_constant_rate_evenly() {
        let all = moments(&Arrival::Constant(100.0), 3);
        assert_eq!(all.len(), 1000);
        let gaps = all.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at).as_micros());
        assert!(gaps.into_iter().all(|gap| (9_999..=10_001).contains(&gap)));
    }

    #[test]
    fn random_arrivals_have_the_mean_and_the_spread_of_a_poisson_process() {
        let all = moments(&Arrival::Poisson(1000.0), 2);
        assert!((9_600..=10_400).contains(&all.len()), "{}", all.len());
        let gaps = all.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at).as_secs_f64()).collect::<Vec<_>>();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.9..1.1).contains(&(variance.sqrt() / mean)), "{variance} {mean}");
    }

    #[test]
    fn steps_have_equal_times_and_their_own_rates() {
        let all = moments(&Arrival::Steps(vec![10.0, 100.0]), 2);
        let of = |step| all.iter().filter(|due| due.step == step).count();
        assert_eq!((of(0), of(1)), (50, 500));
        assert!(all.iter().all(|due| (due.step == 1) == (due.at >= Duration::from_secs(5))));
    }

    #[test]
    fn a_closed_arrival_has_no_schedule() {
        assert!(Schedule::of(&Arrival::Closed, Duration::from_secs(1), 0, 1, 0).is_none());
    }
}
