//! Where the calls of each number are: most detectors ask for a few of them among millions.

use crate::analysis::Analysis;
use case::tables::Call;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The rows of the table of calls by their numbers, in order.
#[derive(Default)]
pub struct CallNumbers(FxHashMap<u16, Vec<u32>>);

impl CallNumbers {
    /// Looks through the table: once to count, for lists with no room to spare, of which a large recording would have a lot.
    pub fn new(calls: &[Call]) -> CallNumbers {
        let mut counts: FxHashMap<u16, usize> = FxHashMap::default();
        for call in calls {
            *counts.entry(call.number).or_default() += 1;
        }
        let mut numbers: FxHashMap<u16, Vec<u32>> =
            counts.into_iter().map(|(number, count)| (number, Vec::with_capacity(count))).collect();
        for (row, call) in calls.iter().enumerate() {
            numbers.entry(call.number).or_default().push(row as u32);
        }
        CallNumbers(numbers)
    }

    /// The rows whose numbers a test accepts, in order.
    fn rows(&self, accepts: impl Fn(u16) -> bool) -> Cow<'_, [u32]> {
        let mut lists = self.0.iter().filter(|(number, _)| accepts(**number)).map(|(_, rows)| rows.as_slice());
        let first = lists.next().unwrap_or_default();
        let rest: Vec<&[u32]> = lists.collect();
        if rest.is_empty() {
            return Cow::Borrowed(first);
        }
        let mut rows = [&[first], rest.as_slice()].concat().concat();
        rows.sort_unstable();
        Cow::Owned(rows)
    }
}

impl<'r> Analysis<'r> {
    /// The calls whose numbers a test accepts, with their rows, in order of the table.
    pub(crate) fn calls_of(&self, accepts: impl Fn(u16) -> bool) -> impl Iterator<Item = (usize, &'r Call)> {
        let rows = self.numbers.rows(accepts);
        (0..rows.len()).map(move |index| (rows[index] as usize, self.call(rows[index] as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_several_numbers_are_in_the_order_of_the_table() {
        let recording = case::Recording {
            calls: [3, 1, 2, 1, 3].map(|number| Call { number, ..Call::default() }).to_vec(),
            ..case::Recording::default()
        };
        let analysis = Analysis::new(&recording);
        let rows = |accepts: &dyn Fn(u16) -> bool| analysis.calls_of(accepts).map(|(row, _)| row).collect::<Vec<_>>();
        assert_eq!(rows(&|number| number != 2), [0, 1, 3, 4]);
        assert_eq!(rows(&|number| number == 1), [1, 3]);
        assert_eq!(rows(&|number| number == 9), Vec::<usize>::new());
    }
}
