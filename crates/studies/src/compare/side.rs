//! One of the two that are compared.

use crate::{StudyError, Words};
use case::{Side, redact_arguments};
use lab::{Arm, Asked, LabError, Subject, TrialSpec, World};
use std::str::FromStr;

/// What is changed for one side alone: `env=LANG=C`, `server=./serve --fast`, `with=tcp-nodelay`.
#[derive(Clone, Debug)]
pub struct Change {
    /// As it was typed.
    text: String,
    what: Changed,
}

#[derive(Clone, Debug)]
enum Changed {
    World(lab::Change),
    Server(Words),
    /// An intervention, as it is typed.
    With(String),
}

impl FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Change, String> {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not KEY=VALUE"))?;
        let what = match key {
            "server" => Changed::Server(value.parse()?),
            "with" => {
                value.parse::<Asked>().map_err(|error| error.to_string())?;
                Changed::With(value.to_string())
            }
            _ if lab::Change::KEYS.contains(&key) => Changed::World(lab::Change::read(key, value)?),
            _ => {
                return Err(format!(
                    "there is no `{key}` to change; use {}, server, with",
                    lab::Change::KEYS.join(", ")
                ));
            }
        };
        Ok(Change { text: text.to_string(), what })
    }
}

/// One side.
pub struct Sided {
    /// What is run.
    pub subject: Subject,
    /// Where.
    pub world: World,
    /// What is attached.
    pub arm: Arm,
    /// What is particular to this side alone, as `KEY=VALUE`; a server of its own is in the subject.
    pub changes: Vec<String>,
}

impl Sided {
    /// A side from what both have in common and what is changed for it. The subject's user and input are its own.
    ///
    /// # Errors
    /// Where the changes do not go together, or an intervention cannot be tried here.
    pub fn of(
        command: &[String],
        server: Option<&Words>,
        mut world: World,
        changes: &[Change],
    ) -> Result<Sided, StudyError> {
        let (mut server, mut interventions) = (server, Vec::new());
        for change in changes {
            match &change.what {
                Changed::World(change) => world.apply(change.clone()),
                Changed::Server(words) => server = Some(words),
                Changed::With(intervention) => interventions.push(intervention.clone()),
            }
        }
        world.check().map_err(LabError::World)?;
        let subject = Subject::within(&world, command, server.map(|words| &**words))?;
        let server = subject.server.clone().unwrap_or_default();
        let spec = TrialSpec { server, world: world.clone(), interventions, ..TrialSpec::default() };
        // A server of its own is shown as such.
        let others = changes.iter().filter(|change| !matches!(change.what, Changed::Server(_)));
        let changes = others.map(|change| change.text.clone()).collect();
        Ok(Sided { arm: spec.arm(None, &[])?, subject, world, changes })
    }

    /// Both sides, A first. What B's interventions are made of is attached to A too, inert, where A has none: only what
    /// they do is to differ.
    pub fn paired([mut a, b]: [Sided; 2]) -> [Sided; 2] {
        if a.arm.parts.is_empty() {
            a.arm.treatment = b.arm.treatment.inert();
        }
        [a, b]
    }

    /// The side as the comparison shows it.
    pub(crate) fn side(&self) -> Side {
        Side {
            command: redact_arguments(&self.subject.client),
            server: redact_arguments(self.subject.server.as_deref().unwrap_or_default()),
            changes: redact_arguments(&self.changes),
            ..Side::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(texts: &[&str]) -> Vec<Change> {
        texts.iter().map(|text| text.parse().expect("a change")).collect()
    }

    #[test]
    fn what_is_said_of_one_side_changes_only_that_side() {
        let (command, server) = (["b".to_string()], "serve".parse::<Words>().expect("words"));
        let side =
            |texts: &[&str]| Sided::of(&command, Some(&server), World::default(), &changes(texts)).expect("a side");
        let [a, b] = Sided::paired([side(&[]), side(&["env=LANG=C", "server=serve --fast", "with=no-fsync"])]);
        assert!(a.world.environment.is_empty() && b.world.environment.len() == 1);
        assert_eq!(a.subject.server.unwrap_or_default(), ["serve"]);
        assert_eq!(b.subject.server.unwrap_or_default(), ["serve", "--fast"]);
        assert_eq!((a.arm.parts.len(), b.arm.parts.len()), (0, 1));
        assert_eq!(a.arm.treatment, b.arm.treatment.inert());
        assert_eq!(b.changes, ["env=LANG=C", "with=no-fsync"]);
    }

    #[test]
    fn a_link_needs_a_server_and_a_route_needs_a_link() {
        let alone = |text: &str| Sided::of(&["b".to_string()], None, World::default(), &changes(&[text]));
        let refused = |text: &str| alone(text).map(|_| ()).expect_err("refused").to_string();
        assert!(refused("link=mtu=1500").contains("a server at its other end"));
        assert!(refused("route=client: quickack 1").contains("needs a link"));
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_known_ones() {
        let refused = |text: &str| text.parse::<Change>().map(|_| ()).expect_err("refused");
        assert!(refused("colour=red").ends_with("route, server, with"));
        assert!(refused("env").contains("KEY=VALUE"));
        assert!(refused("with=warp").contains("`warp` is not an intervention"));
        assert!(refused("quota=much").contains("as in 0.5"));
    }
}
