//! What requests cost the server in CPU time: each route's mean in a recording of it, times the requests that the log has of that
//! route. What the recording has not seen is not guessed.

use crate::StudyError;
use case::{Case, Recording, RouteCost, SavedCpu, TrafficCost};
use diagnose::Analysis;
use import::Counts;
use stats::{Resampling, mean, percentile_interval};
use std::collections::BTreeMap;
use std::path::Path;

/// Fewer recorded requests of a route say nothing of its mean.
const LEAST_RECORDED: usize = 5;
/// So many routes are listed.
const MOST_LISTED: usize = 50;
/// 95 % intervals, the same each time.
const DRAWS: Resampling = Resampling { times: 999, seed: 20, confidence: 0.95 };

/// CPU time of a recording's requests by route.
pub struct Costs {
    case: String,
    routes: BTreeMap<Vec<u8>, Vec<f64>>,
}

impl Costs {
    /// Those that a case holds.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(folder: &Path) -> Result<Costs, StudyError> {
        let recording = Recording::load(&Case::open(folder)?)?;
        let mut costs = Costs { case: folder.display().to_string(), routes: BTreeMap::new() };
        for cost in Analysis::new(&recording).request_costs() {
            costs.routes.entry(import::route(cost.target.as_bytes())).or_default().push(cost.cpu_ns as f64);
        }
        costs.routes.retain(|_, values| values.len() >= LEAST_RECORDED);
        Ok(costs)
    }

    /// What the requests of some families took by that, and for how many of their requests it is known.
    fn of(&self, counts: &Counts, is_asked: impl Fn(u16) -> bool) -> (f64, u64) {
        let (mut cpu_ns, mut known) = (0.0, 0);
        for (family, route, counted) in counts.routes() {
            if let Some(values) = self.routes.get(route).filter(|_| is_asked(family)) {
                cpu_ns += mean(values) * counted.tally.requests as f64;
                known += counted.tally.requests;
            }
        }
        (cpu_ns, known)
    }

    /// What all requests took by that, route by route.
    pub fn of_all(&self, counts: &Counts) -> TrafficCost {
        let mut requests: BTreeMap<&[u8], u64> = BTreeMap::new();
        for (_, route, counted) in counts.routes() {
            *requests.entry(route).or_default() += counted.tally.requests;
        }
        let one = |(route, values): (&Vec<u8>, &Vec<f64>)| {
            let interval = percentile_interval(values, mean, DRAWS)?;
            Some(RouteCost {
                route: String::from_utf8_lossy(route).into_owned(),
                recorded: values.len() as u64,
                mean_ns: mean(values) as u64,
                low_ns: interval.low as u64,
                high_ns: interval.high as u64,
                requests: requests.get(&route[..]).copied().unwrap_or(0),
            })
        };
        let mut routes = self.routes.iter().filter_map(one).filter(|one| one.requests > 0).collect::<Vec<_>>();
        routes.sort_by_key(|one| std::cmp::Reverse(u128::from(one.mean_ns) * u128::from(one.requests)));
        routes.truncate(MOST_LISTED);
        let (cpu_ns, known) = self.of(counts, |_| true);
        TrafficCost { case: self.case.clone(), cpu_ns: cpu_ns as u64, known, routes }
    }

    /// What a family's requests took by that; none where the recording has none of its routes.
    pub fn of_family(&self, counts: &Counts, family: u16) -> Option<SavedCpu> {
        let (all, _) = self.of(counts, |_| true);
        let (cpu_ns, known) = self.of(counts, |of| of == family);
        (known > 0 && all > 0.0).then(|| SavedCpu { cpu_ns: cpu_ns as u64, share: cpu_ns / all, known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use import::Options;

    #[test]
    fn a_familys_cpu_is_that_of_the_routes_that_were_recorded_and_no_other() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("log");
        let line = |agent: &str, target: &str| {
            format!("203.0.113.7 - - [10/Oct/2000:20:55:36 +0000] \"GET {target} HTTP/1.1\" 200 1 \"-\" \"{agent}\"\n")
        };
        let text = line("ExampleBot/1", "/tag/7?page=1").repeat(30) + &line("ExampleBot/1", "/new").repeat(10);
        std::fs::write(&path, text + &line("curl/8", "/tag/8?page=2").repeat(10)).expect("written");
        let done = import::read(&import::find(&[path]).expect("a log"), &Options::default());
        let routes = BTreeMap::from([(import::route(b"/tag/1?page=*"), vec![2e6, 4e6, 3e6, 3e6, 3e6])]);
        let costs = Costs { case: "c".into(), routes };
        let number = |name: &str| done.counts.families().iter().position(|one| one.name == name).expect("a family");
        let saved = costs.of_family(&done.counts, number("ExampleBot") as u16).expect("known");
        assert_eq!((saved.cpu_ns, saved.known), (90_000_000, 30));
        assert!((saved.share - 0.75).abs() < 1e-9);
        let all = costs.of_all(&done.counts);
        assert_eq!((all.cpu_ns, all.known, all.routes.len()), (120_000_000, 40, 1));
        assert!(all.routes[0].low_ns < all.routes[0].mean_ns && all.routes[0].mean_ns < all.routes[0].high_ns);
    }
}
