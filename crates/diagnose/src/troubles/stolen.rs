//! Time in which the hypervisor ran others: the machine's clocks go on, its programs do not, and whatever is measured then takes
//! longer.

use crate::analysis::Analysis;
use crate::steal::{self, STEAL};
use case::Trouble;

/// Columns of `/proc/stat` in which a machine had something to run, steal time among them (proc(5)).
const BUSY: [&str; 6] = ["user", "nice", "system", "irq", "softirq", STEAL];
/// What takes less than this of the time makes no run much longer.
const LEAST_SHARE: f64 = 0.05;

/// How much of its time the machine did not get.
pub fn find(analysis: &Analysis) -> Option<Trouble> {
    steal::stolen(analysis.recording)?;
    let moved = |columns: &[&str]| steal::ticks(analysis.recording, columns);
    let share = moved(&[STEAL]) as f64 / moved(&BUSY).max(1) as f64;
    (share >= LEAST_SHARE).then_some(Trouble::Stolen { share })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{US, keep_alive};
    use crate::tests::answer;
    use case::Trouble;
    use case::tables::Counter;

    fn troubles(columns: &[(&str, u64)]) -> Vec<Trouble> {
        let mut recording = keep_alive(5, 100 * US).end();
        recording.counters.extend(columns.iter().map(|(name, ticks)| Counter {
            scope: "cpu".into(),
            name: (*name).into(),
            before: 1_000,
            after: 1_000 + ticks,
        }));
        answer(&recording).troubles
    }

    #[test]
    fn a_machine_that_others_take_much_time_from_is_told() {
        let stolen = [("user", 40), ("system", 20), ("steal", 20), ("idle", 400)];
        assert_eq!(troubles(&stolen), [Trouble::Stolen { share: 0.25 }]);
        assert_eq!(troubles(&[("user", 400), ("system", 90), ("steal", 10)]), []);
        assert_eq!(troubles(&[("user", 10), ("steal", 4)]), []);
    }
}
