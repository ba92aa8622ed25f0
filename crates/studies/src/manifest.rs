//! The head of a case.

use case::{Manifest, redact_arguments};
use lab::{Subject, World};
use std::time::SystemTime;

/// The head of a case, as far as the recorder cannot know it. What could be a secret in the commands is replaced.
pub fn manifest(subject: &Subject, world: &World) -> Manifest {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Manifest {
        schema: case::SCHEMA,
        whyslow: env!("CARGO_PKG_VERSION").to_string(),
        command: redact_arguments(&subject.client),
        server: redact_arguments(subject.server.as_deref().unwrap_or_default()),
        names: subject.names,
        link: world.link.map(|link| link.to_string()).unwrap_or_default(),
        started_unix_seconds: now.map_or(0, |since| since.as_secs()),
        ..Manifest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_a_command_do_not_reach_the_manifest() {
        let client = ["curl", "-u", "me:pw"].map(String::from).to_vec();
        let manifest = manifest(&Subject { client, ..Subject::default() }, &World::default());
        assert_eq!(manifest.command, ["curl", "-u", "*"]);
    }
}
