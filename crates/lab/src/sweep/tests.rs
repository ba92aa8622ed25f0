//! Sweeps of made-up programs: their times are known, so what a sweep finds can be compared with the truth.

mod cliffs;
mod program;
mod shapes;
mod trials;
