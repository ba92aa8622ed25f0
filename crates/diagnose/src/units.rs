//! What the figures of two sides are of, so that they compare: an exchange where every recording has some, else a run.

use crate::Analysis;
use case::Recording;

/// How often each side did what is compared, its recordings taken together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// The first side.
    pub a: f64,
    /// The second.
    pub b: f64,
    /// Whether they are exchanges.
    pub exchanges: bool,
}

impl Units {
    /// From the recordings of both sides.
    pub fn of(a: &[Recording], b: &[Recording]) -> Units {
        let exchanges = |side: &[Recording]| -> Vec<usize> {
            side.iter().map(|recording| Analysis::new(recording).exchanges.len()).collect()
        };
        Units::new(&exchanges(a), &exchanges(b))
    }

    /// From the exchanges in each recording of both sides.
    pub fn new(a: &[usize], b: &[usize]) -> Units {
        let exchanges = !a.is_empty() && !b.is_empty() && a.iter().chain(b).all(|&count| count > 0);
        let of = |side: &[usize]| {
            if exchanges { side.iter().sum::<usize>() as f64 } else { side.len().max(1) as f64 }
        };
        Units { a: of(a), b: of(b), exchanges }
    }
}
