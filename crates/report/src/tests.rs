//! Documents as text, told apart by what they are of.

mod answer;
mod bisection;
mod comparison;
mod matrix;
mod proved;
mod sweep;
