//! Servers for tests, on loopback addresses: a farm of feeds by the ten thousand under names of their own, over TLS with
//! certificates of an authority of its own ([`Farm`]); and servers that are broken in one way each ([`bad`]).
//!
//! No program is built with it.

pub mod bad;
mod certificates;
mod coding;
mod connection;
mod content;
mod layout;
mod serve;

pub use certificates::Authority;
pub use coding::{brotli, gzip};
pub use layout::{Kind, Layout};
pub use serve::{Counted, Farm};
