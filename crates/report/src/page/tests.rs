//! Pages, by what they are of.

mod bisection;
mod comparison;
mod document;
mod feeds;
mod load;
mod matrix;
mod pairs;
mod steps;
mod sweep;
mod traffic;
mod verdict;
mod watched;
