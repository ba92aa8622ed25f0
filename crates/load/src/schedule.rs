//! The moments at which requests start, by the arrival that is wanted.

use crate::arrival::Arrival;
use crate::plan::Plan;
use fastrand::Rng;
use std::time::Duration;

/// A moment at which a request is to start, from the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Due {
    pub at: Duration,
    /// Which of the steps it belongs to.
    pub step: usize,
    /// What is asked for, where that is said.
    pub target: Option<usize>,
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
    /// How many more there are.
    left: u64,
}

impl Schedule {
    /// None where requests start as soon as they can. `most` is how many this thread starts at most.
    pub(crate) fn of(plan: &Plan, thread: usize, threads: usize, most: u64) -> Option<Schedule> {
        let random = Rng::with_seed(plan.seed.wrapping_add(thread as u64));
        let (arrival, whole) = (plan.arrival.clone(), plan.duration);
        (arrival != Arrival::Closed).then_some(Schedule {
            arrival,
            whole,
            thread,
            threads,
            random,
            at: 0.0,
            number: 0,
            step: 0,
            left: most,
        })
    }

    /// The next moment; none behind the end.
    pub(crate) fn next(&mut self) -> Option<Due> {
        let whole = self.whole.as_secs_f64();
        self.left = self.left.checked_sub(1)?;
        let mut target = None;
        let at = match &self.arrival {
            Arrival::Closed => return None,
            Arrival::Constant(rate) => self.evenly(*rate, 0.0),
            Arrival::Replay(replay) => {
                let (at, asked) = replay.arrivals.get(self.number as usize * self.threads + self.thread)?;
                target = Some(*asked as usize);
                at.as_secs_f64()
            }
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
        (at < whole).then(|| Due { at: Duration::from_secs_f64(at), step: self.step, target })
    }

    /// Threads take turns, so that all together are evenly spaced. Multiplied rather than summed up: no error adds up.
    fn evenly(&self, rate: f64, begun: f64) -> f64 {
        begun + (self.number as f64 * self.threads as f64 + self.thread as f64) / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;
    use crate::replay::Replay;
    use std::sync::Arc;

    fn moments(arrival: &Arrival, threads: usize, most: u64) -> Vec<Due> {
        let seconds = Duration::from_secs(10);
        let plan = Plan { arrival: arrival.clone(), duration: seconds, seed: 7, ..plan("http://h/") };
        let of = |thread| Schedule::of(&plan, thread, threads, most).expect("open");
        let mut all = Vec::new();
        for mut one in (0..threads).map(of) {
            all.extend(std::iter::from_fn(|| one.next()));
        }
        all.sort_by_key(|due| due.at);
        all
    }

    #[test]
    fn threads_together_keep_a_constant_rate_evenly() {
        let all = moments(&Arrival::Constant(100.0), 3, u64::MAX);
        assert_eq!(all.len(), 1000);
        let gaps = all.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at).as_micros());
        assert!(gaps.into_iter().all(|gap| (9_999..=10_001).contains(&gap)));
    }

    #[test]
    fn a_thread_starts_no_more_than_its_share() {
        assert_eq!(moments(&Arrival::Constant(100.0), 3, 20).len(), 60);
        assert_eq!(moments(&Arrival::Poisson(100.0), 2, 0).len(), 0);
    }

    #[test]
    fn random_arrivals_have_the_mean_and_the_spread_of_a_poisson_process() {
        let all = moments(&Arrival::Poisson(1000.0), 2, u64::MAX);
        assert!((9_600..=10_400).contains(&all.len()), "{}", all.len());
        let gaps = all.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at).as_secs_f64()).collect::<Vec<_>>();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.9..1.1).contains(&(variance.sqrt() / mean)), "{variance} {mean}");
    }

    #[test]
    fn steps_have_equal_times_and_their_own_rates() {
        let all = moments(&Arrival::Steps(vec![10.0, 100.0]), 2, u64::MAX);
        let of = |step| all.iter().filter(|due| due.step == step).count();
        assert_eq!((of(0), of(1)), (50, 500));
        assert!(all.iter().all(|due| (due.step == 1) == (due.at >= Duration::from_secs(5))));
    }

    #[test]
    fn what_was_recorded_comes_as_it_came_whichever_thread_starts_it() {
        let arrivals = (0..7).map(|number| (Duration::from_millis(number * number), number as u32)).collect::<Vec<_>>();
        let all =
            moments(&Arrival::Replay(Arc::new(Replay { arrivals: arrivals.clone(), ..Replay::default() })), 3, 99);
        let seen = all.iter().map(|due| (due.at, due.target.unwrap_or_default() as u32)).collect::<Vec<_>>();
        assert_eq!(seen, arrivals);
    }

    #[test]
    fn a_closed_arrival_has_no_schedule() {
        assert!(Schedule::of(&plan("http://h/"), 0, 1, u64::MAX).is_none());
    }
}
