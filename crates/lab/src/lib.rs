//! Worlds: what a subject runs in, beyond what it is. So far one part of a world is built: the link.

mod link;
mod rate;

pub use link::{Addresses, Link, LinkError};
pub use rate::Rate;
