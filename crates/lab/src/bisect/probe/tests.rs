use super::*;
use case::Nanos;

/// A noisy shared machine: runs vary by `spread`, and one in twenty is disturbed and takes up to four times as long.
struct Machine {
    random: fastrand::Rng,
    spread: f64,
    disturbed: f64,
}

impl Machine {
    fn new(seed: u64, spread: f64) -> Machine {
        Machine { random: fastrand::Rng::with_seed(seed), spread, disturbed: 0.05 }
    }

    fn run(&mut self, length: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.random.f64()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.random.f64()).cos();
        let longer = if self.random.f64() < self.disturbed { 1.0 + 3.0 * self.random.f64() } else { 1.0 };
        length * (self.spread * normal).exp() * longer
    }

    /// The axis as a baseline of six pairs tells it.
    fn axis(&mut self, bad: f64) -> Axis {
        let trial = |round, arm: &str, length: f64| Trial {
            round,
            arm: arm.to_string(),
            wall: Nanos((length * 1e9) as u64),
            applied: true,
            ..Trial::default()
        };
        let mut trials = Vec::new();
        for round in 0..6 {
            trials.push(trial(round, "A", self.run(1.0)));
            trials.push(trial(round, "B", self.run(bad)));
        }
        Axis::of(&trials, &Metric::Wall).unwrap_or(Axis { good: 1.0, bad, deviation: 0.5 })
    }

    fn probe(&mut self, axis: &Axis, length: f64, bad: f64, seed: u64) -> Probed {
        let machine = std::cell::RefCell::new(self);
        let run_probe: Run = &mut || Ok(Some(machine.borrow_mut().run(length)));
        let run_control: Run = &mut || Ok(Some(machine.borrow_mut().run(bad)));
        probe(axis, MOST_PAIRS, run_probe, run_control, seed).expect("it runs")
    }
}

const PROBES: u64 = 2_000;

/// The shares of wrong and of unclear answers among probes of good and bad worlds, and the mean number of pairs.
fn rates(spread: f64, bad: f64) -> (f64, f64, f64) {
    let (mut wrong, mut unclear, mut pairs) = (0, 0, 0);
    for seed in 0..PROBES {
        let mut machine = Machine::new(seed, spread);
        let axis = machine.axis(bad);
        let (length, other) = if seed % 2 == 0 { (1.0, ProbeResult::Bad) } else { (bad, ProbeResult::Good) };
        let probed = machine.probe(&axis, length, bad, seed);
        wrong += u64::from(probed.result == other);
        unclear += u64::from(probed.result == ProbeResult::Unclear);
        pairs += u64::from(probed.pairs);
    }
    let share = |count: u64| count as f64 / PROBES as f64;
    println!(
        "{bad} times as long, runs varying by {spread}: {} wrong, {} unclear, {} pairs",
        share(wrong),
        share(unclear),
        share(pairs)
    );
    (share(wrong), share(unclear), share(pairs))
}

#[test]
fn five_times_as_long_is_decided_by_two_pairs_on_a_noisy_machine() {
    let (wrong, unclear, pairs) = rates(0.05, 5.0);
    assert!(wrong < 0.01 && unclear < 0.02 && pairs < 2.5, "{wrong} {unclear} {pairs}");
}

#[test]
fn a_third_more_is_decided_by_a_few_pairs() {
    let (wrong, unclear, pairs) = rates(0.05, 1.3);
    assert!(wrong < 0.01 && unclear < 0.05 && pairs < 6.0, "{wrong} {unclear} {pairs}");
}

#[test]
fn a_tenth_more_takes_more_pairs() {
    let (wrong, unclear, pairs) = rates(0.03, 1.1);
    assert!(wrong < 0.01 && unclear < 0.1 && pairs < 15.0, "{wrong} {unclear} {pairs}");
}

#[test]
fn noise_as_large_as_the_difference_leaves_it_unclear_rather_than_wrong() {
    let axis = Axis { good: 1.0, bad: 1.1, deviation: 0.28 };
    let (mut wrong, mut unclear) = (0, 0);
    for seed in 0..500 {
        let mut machine = Machine::new(seed, 0.2);
        let result = machine.probe(&axis, 1.1, 1.1, seed).result;
        wrong += i32::from(result == ProbeResult::Good);
        unclear += i32::from(result == ProbeResult::Unclear);
    }
    assert!(wrong <= 3 && unclear > 400, "{wrong} {unclear}");
}

#[test]
fn a_world_in_between_is_unclear_and_its_place_is_reported() {
    let axis = Axis { good: 1.0, bad: 5.0, deviation: 0.05 };
    let mut machine = Machine { disturbed: 0.0, ..Machine::new(1, 0.03) };
    let probed = machine.probe(&axis, 5.0_f64.sqrt(), 5.0, 1);
    assert_eq!(probed.result, ProbeResult::Unclear);
    assert!((probed.place.expect("a place") - 0.5).abs() < 0.1, "{probed:?}");
    assert!(probed.pairs < 10, "{probed:?}");
    let mostly = machine.probe(&axis, 1.3, 5.0, 1);
    assert_eq!(mostly.result, ProbeResult::Good, "{mostly:?}");
}

#[test]
fn one_pair_far_out_decides_nothing() {
    let axis = Axis { good: 1.0, bad: 5.0, deviation: 0.05 };
    let mut probing = Probing::new(&axis);
    probing.add(0.001, 5.0);
    assert_eq!(probing.decision(), None);
    probing.add(5.0, 5.0);
    assert_eq!(probing.decision(), None);
    probing.add(5.1, 5.0);
    probing.add(5.0, 5.0);
    assert_eq!(probing.decision(), Some(ProbeResult::Bad));
    assert!(probing.place().0.abs() < 0.05);
}

#[test]
fn a_program_that_fails_twice_in_it_cannot_be_tried() {
    let axis = Axis { good: 1.0, bad: 5.0, deviation: 0.05 };
    let mut runs = 0;
    let run_probe: Run = &mut || {
        runs += 1;
        Ok(None)
    };
    let probed = probe(&axis, MOST_PAIRS, run_probe, &mut || Ok(Some(5.0)), 1).expect("it runs");
    assert_eq!((probed.result, probed.place, runs), (ProbeResult::Untestable, None, 2));
    let mut fails = true;
    let once: Run = &mut || Ok(Some(1.0).filter(|_| !std::mem::take(&mut fails)));
    assert_eq!(probe(&axis, 9, once, &mut || Ok(Some(5.0)), 1).expect("it runs").result, ProbeResult::Good);
    let no_control = probe(&axis, 9, &mut || Ok(Some(1.0)), &mut || Ok(None), 1).expect("it runs");
    assert_eq!(no_control.result, ProbeResult::Unclear);
}

#[test]
fn an_axis_needs_a_difference() {
    assert_eq!(Axis::of(&[], &Metric::Wall), None);
    let mut calm = Machine { disturbed: 0.0, ..Machine::new(3, 0.02) };
    let axis = calm.axis(2.0);
    assert!((axis.bad / axis.good - 2.0).abs() < 0.1 && axis.deviation < 0.2, "{axis:?}");
    assert!(axis.deviation >= LEAST_DEVIATION);
}
