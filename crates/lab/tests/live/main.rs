//! Programs that run: switched while they do, and measured.

#[path = "../fixture/mod.rs"]
mod fixture;
mod nodelay;
mod quantiles;
mod quota;
mod running;
