//! Variables of the environment that differ.

use super::{Change, Difference};
use crate::worlds::Ready;
use case::{Factor, FactorKind};
use std::collections::BTreeSet;

pub(super) fn differences(good: &Ready, bad: &Ready) -> Vec<Difference> {
    let names = good.environment.keys().chain(bad.environment.keys()).collect::<BTreeSet<_>>();
    let differing = names.into_iter().filter(|name| value(good, name) != value(bad, name));
    let difference = |name: &String| Difference {
        factor: Factor {
            name: name.clone(),
            kind: FactorKind::Environment,
            good: shown(name, value(good, name)),
            bad: shown(name, value(bad, name)),
            members: vec![name.clone()],
            ..Factor::default()
        },
        change: Change::Variable { name: name.clone(), value: value(good, name) },
    };
    differing.map(difference).collect()
}

/// The value in a world: what it says nothing of is as with us.
fn value(world: &Ready, name: &str) -> Option<String> {
    world.environment.get(name).cloned().unwrap_or_else(|| std::env::var(name).ok())
}

/// A value as it may be written down: secrets are not.
fn shown(name: &str, value: Option<String>) -> String {
    let Some(value) = value else { return String::new() };
    let shown = case::redact_arguments(&[format!("--{name}={value}")]).remove(0);
    shown.split_once('=').map(|(_, value)| value.to_string()).unwrap_or_default()
}
