//! The catalogue: every pathology that whyslow knows by name, whether or not a detector looks for it.

use crate::detectors::ALL;

/// A pathology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The stable identifier, `P01`.
    pub id: &'static str,
    /// The name, `nagle-delayed-ack`.
    pub name: &'static str,
    /// Whether a run is searched for it.
    pub is_looked_for: bool,
    /// Why nothing outside can switch it off, in a sentence; empty where something can.
    pub not_switched: &'static str,
}

/// What has no detector: it is told beside an answer, or another command asks for it.
const OTHERS: [Known; 3] = [
    Known {
        id: "P30",
        name: "run-queue-delay",
        is_looked_for: true,
        not_switched: "Who keeps the CPUs is no part of the program: `--processors`, or a machine of its own, shows the difference.",
    },
    Known { id: "P43", name: "dependency-regression", is_looked_for: false, not_switched: "" },
    Known { id: "P44", name: "bots", is_looked_for: false, not_switched: "" },
];

/// All of them, in the order of their identifiers. Both names are stable: what is not looked for any more keeps its number.
pub fn catalogue() -> Vec<Known> {
    let looked_for = ALL.iter().map(|one| Known {
        id: one.page.id,
        name: one.page.name,
        is_looked_for: true,
        not_switched: one.not_switched,
    });
    let mut all = looked_for.chain(OTHERS).collect::<Vec<_>>();
    all.sort_by_key(|known| known.id);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_number_of_its_own_in_a_row_without_gaps_and_a_name_of_its_own() {
        let all = catalogue();
        let numbers = all.iter().map(|known| known.id.to_string()).collect::<Vec<_>>();
        let expected = (1..=all.len()).map(|number| format!("P{number:02}")).collect::<Vec<_>>();
        assert_eq!(numbers, expected);
        let mut names = all.iter().map(|known| known.name).collect::<Vec<_>>();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }
}
