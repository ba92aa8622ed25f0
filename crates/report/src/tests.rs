//! Documents as text, one module a kind of document.

mod answer;
mod bisection;
mod comparison;
mod matrix;
mod proved;
mod sweep;
