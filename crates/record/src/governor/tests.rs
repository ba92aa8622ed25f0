use super::*;

const TURN: f64 = 20e6;

/// A load that was made up: CPU time per second of time, and events.
#[derive(Clone, Copy)]
struct Load {
    with_rows: f64,
    with_sums: f64,
    busy: f64,
    events: f64,
}

/// Enough to saturate a thread.
const SATURATED: Load = Load { with_rows: 0.6, with_sums: 0.1, busy: 1.0, events: 400_000.0 };
const QUIET: Load = Load { with_rows: 0.01, with_sums: 0.004, busy: 0.1, events: 5_000.0 };

/// What came of it.
#[derive(Default)]
struct Played {
    now: Measured,
    windows: Vec<(u64, u64)>,
    opened: Option<u64>,
}

impl Played {
    fn beginning() -> Played {
        Played { opened: Some(0), ..Played::default() }
    }

    fn play(&mut self, governor: &mut Governor, load: Load, seconds: f64) {
        let end = self.now.elapsed.0 + (seconds * 1e9) as u64;
        while self.now.elapsed.0 < end {
            let is_open = self.opened.is_some();
            let cost = if is_open { load.with_rows } else { load.with_sums };
            self.now.elapsed += Nanos(TURN as u64);
            self.now.cost += Nanos((cost * TURN) as u64);
            self.now.subject += Nanos((load.busy * TURN) as u64);
            self.now.events += if is_open { (load.events * TURN / 1e9) as u64 } else { 0 };
            match governor.turn(self.now) {
                Some(Order::Open) => self.opened = Some(self.now.elapsed.0),
                Some(Order::Close) => self.windows.push((self.opened.take().expect("open"), self.now.elapsed.0)),
                None => {}
            }
        }
    }

    fn share_of_cpu(&self) -> f64 {
        self.now.cost.0 as f64 / self.now.elapsed.0 as f64
    }
}

fn budget(overhead: f64, events: u64, duration: Option<Duration>) -> Governor {
    Governor::new(Budget { overhead: Share(overhead), events, duration })
}

#[test]
fn what_costs_less_than_the_budget_has_rows_of_everything() {
    let (mut governor, mut played) = (budget(0.02, 8_000_000, Some(Duration::from_mins(5))), Played::beginning());
    played.play(&mut governor, QUIET, 300.0);
    assert_eq!((played.windows.len(), played.opened), (0, Some(0)));
}

#[test]
fn the_budget_is_kept_and_used() {
    let (mut governor, mut played) = (budget(0.2, u64::MAX, None), Played::beginning());
    played.play(&mut governor, SATURATED, 600.0);
    let share = played.share_of_cpu();
    assert!((0.18..=0.21).contains(&share), "{share}");
    let shortest = played.windows.iter().map(|(from, to)| to - from).min();
    assert!(shortest >= Some(WINDOW.0) && played.windows.len() > 100, "{shortest:?} {}", played.windows.len());
}

#[test]
fn a_window_goes_on_for_a_request_without_an_answer_and_the_budget_is_kept() {
    let played = |unanswered: bool| {
        let (mut governor, mut played) = (budget(0.2, u64::MAX, None), Played::beginning());
        played.now.unanswered = unanswered;
        played.play(&mut governor, SATURATED, 600.0);
        let lengths: Vec<u64> = played.windows.iter().map(|(from, to)| (to - from) / TURN as u64).collect();
        (lengths, played.share_of_cpu())
    };
    let held = (WINDOW + MOST_HELD).0.div_ceil(TURN as u64);
    let (lengths, share) = played(true);
    assert!(lengths.len() > 20 && lengths.iter().all(|&turns| turns == held), "{lengths:?}");
    assert!((0.17..=0.22).contains(&share), "{share}");
    assert!(played(false).0.iter().skip(1).all(|&turns| turns < held / 2));
}

#[test]
fn the_budget_is_of_the_cpu_time_that_the_subject_takes() {
    let eight = Load { with_rows: 4.8, with_sums: 0.8, busy: 8.0, events: 3.2e6 };
    let (mut governor, mut played) = (budget(0.2, u64::MAX, None), Played::beginning());
    played.play(&mut governor, eight, 600.0);
    let share = played.share_of_cpu();
    assert!((1.4..=1.7).contains(&share), "{share}");
}

#[test]
fn where_sums_alone_cost_as_much_there_are_rows_now_and_then() {
    let (mut governor, mut played) = (budget(0.02, u64::MAX, None), Played::beginning());
    played.play(&mut governor, SATURATED, 600.0);
    let longest = played.windows.windows(2).map(|pair| pair[1].0 - pair[0].1).max();
    assert!(longest <= Some(LONGEST_WITHOUT.0 + 2 * TURN as u64), "{longest:?}");
    let share = played.share_of_cpu();
    assert!((0.1..=0.11).contains(&share), "{share}");
}

#[test]
fn when_a_storm_is_over_there_are_rows_of_everything_again() {
    let (mut governor, mut played) = (budget(0.05, u64::MAX, None), Played::beginning());
    played.play(&mut governor, SATURATED, 20.0);
    let storms = played.windows.len();
    played.play(&mut governor, QUIET, 60.0);
    let (last, end) = (played.opened.expect("open"), played.now.elapsed.0);
    assert!(storms >= 1 && end - last > 20_000_000_000, "{storms} {last} {end}");
}

#[test]
fn events_spread_over_a_time_that_is_known() {
    let (mut governor, mut played) = (budget(1.0, 2_000_000, Some(Duration::from_mins(10))), Played::beginning());
    played.play(&mut governor, SATURATED, 600.0);
    assert!((1_800_000..=2_200_000).contains(&played.now.events), "{}", played.now.events);
    let late = played.windows.iter().filter(|(from, _)| *from > 500_000_000_000).count();
    assert!(late >= 2 && late < played.windows.len() / 3, "{late} of {}", played.windows.len());
}

#[test]
fn events_come_evenly_from_the_second_hour_on_where_the_end_is_unknown_or_far() {
    for duration in [None, Some(Duration::from_hours(300))] {
        let (mut governor, mut played) = (budget(1.0, 8_000_000, duration), Played::beginning());
        let mut by_hour = Vec::new();
        for _ in 0..3 {
            let before = played.now.events;
            played.play(&mut governor, SATURATED, 3600.0);
            by_hour.push(played.now.events - before);
        }
        assert!((4_500_000..=5_500_000).contains(&by_hour[0]), "{by_hour:?}");
        assert!(by_hour[1..].iter().all(|events| (1_900_000..=2_300_000).contains(events)), "{by_hour:?}");
    }
}

#[test]
fn a_clock_that_stands_decides_nothing() {
    let mut governor = budget(0.02, 8_000_000, None);
    assert_eq!(governor.turn(Measured::default()), None);
}
