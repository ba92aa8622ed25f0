//! Errors of worlds.

use super::{Failure, again};

impl Failure {
    /// A world that cannot be had; the laboratory knows what to try.
    pub fn no_world(world: &str, why: &str, remedy: &str) -> Failure {
        let remedy = if remedy.is_empty() { again() } else { remedy.to_string() };
        Failure::new(format!("cannot set up {world}"), why, remedy)
    }

    /// A world's name that has no form of those.
    pub fn world_name(why: &str) -> Failure {
        Failure::new("not a world", why, "whyslow world make debian:bookworm")
    }

    /// Ctrl-C before the world was there.
    pub fn world_interrupted() -> Failure {
        let why = "the world was still being made; what was downloaded is kept";
        Failure::new("interrupted", why, again())
    }
}
