//! The best line of code behind a call, looked up once for each stack.

use crate::analysis::Analysis;
use crate::place;
use case::Place;
use case::tables::Call;
use rustc_hash::FxHashMap;

/// Places by stacks.
#[derive(Default)]
pub struct Places {
    numbers: FxHashMap<(u32, u32), usize>,
    found: Vec<Option<Place>>,
}

impl Places {
    /// A number for the place of a call: the same for calls from the same line.
    pub fn number(&mut self, analysis: &Analysis, call: &Call) -> usize {
        let stacks = (call.script_stack, call.stack);
        if let Some(&number) = self.numbers.get(&stacks) {
            return number;
        }
        let best = place::of_call(&analysis.code, call).into_iter().next();
        let number = self.found.iter().position(|known| *known == best).unwrap_or_else(|| {
            self.found.push(best);
            self.found.len() - 1
        });
        self.numbers.insert(stacks, number);
        number
    }

    /// The place with a number; none where the code is not known.
    pub fn place(&self, number: usize) -> Option<Place> {
        self.found.get(number).cloned().flatten()
    }
}
