//! Sweeps of made-up programs: their times are known, so what the sweep finds can be told from what is there.

mod cliffs;
mod program;
mod shapes;
mod trials;
