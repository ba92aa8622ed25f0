//! Versions by interventions: which arm is which, and what is compared with what.

/// The arms: every version plain, then every version with the first intervention, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factorial {
    /// How many versions; the first is what the others are compared with.
    pub versions: usize,
    /// How many interventions are tried on each.
    pub tries: usize,
}

/// Two arms that are compared, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versus {
    /// What is asked about.
    pub arm: usize,
    /// What it is compared with.
    pub reference: usize,
}

impl Factorial {
    /// The place of a version without anything.
    pub fn plain(self, version: usize) -> usize {
        version
    }

    /// The place of a version with one of the interventions.
    pub fn with(self, version: usize, attempt: usize) -> usize {
        (attempt + 1) * self.versions + version
    }

    /// The version at a place, and the intervention tried there; none where it is plain.
    pub fn of(self, place: usize) -> (usize, Option<usize>) {
        let versions = self.versions.max(1);
        (place % versions, (place / versions).checked_sub(1))
    }

    /// How many arms there are.
    pub fn arms(self) -> usize {
        self.versions * (self.tries + 1)
    }

    /// A version against the first one, both plain; none for the first.
    pub fn against_first(self, version: usize) -> Option<Versus> {
        (version > 0).then(|| Versus { arm: self.plain(version), reference: self.plain(0) })
    }

    /// A version plain against the same with an intervention.
    pub fn gain(self, version: usize, attempt: usize) -> Versus {
        Versus { arm: self.plain(version), reference: self.with(version, attempt) }
    }

    /// A version with an intervention against the first one with it; none for the first.
    pub fn remains(self, version: usize, attempt: usize) -> Option<Versus> {
        (version > 0).then(|| Versus { arm: self.with(version, attempt), reference: self.with(0, attempt) })
    }

    /// All that is compared: the intervals of all of it hold together.
    pub fn contrasts(self) -> Vec<Versus> {
        let plain = (0..self.versions).filter_map(|version| self.against_first(version));
        let pairs = (0..self.tries).flat_map(|attempt| (0..self.versions).map(move |version| (version, attempt)));
        let tried = pairs.flat_map(|(version, attempt)| {
            [Some(self.gain(version, attempt)), self.remains(version, attempt)].into_iter().flatten()
        });
        plain.chain(tried).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_of_one_version_with_one_thing_or_nothing() {
        let design = Factorial { versions: 3, tries: 2 };
        let places = (0..design.arms()).map(|place| design.of(place)).collect::<Vec<_>>();
        assert_eq!(places[..4], [(0, None), (1, None), (2, None), (0, Some(0))]);
        assert_eq!(design.of(design.with(1, 1)), (1, Some(1)));
        assert_eq!(design.arms(), 9);
    }

    #[test]
    fn versions_are_compared_with_the_first_and_what_is_tried_with_both_its_sides() {
        let contrasts = |versions, tries| Factorial { versions, tries }.contrasts();
        let versus = |arm, reference| Versus { arm, reference };
        assert_eq!(contrasts(3, 0), [versus(1, 0), versus(2, 0)]);
        assert_eq!(contrasts(2, 1), [versus(1, 0), versus(0, 2), versus(1, 3), versus(3, 2)]);
    }
}
