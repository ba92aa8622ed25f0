//! The command that goes back to what was fast, on a line of its own so that it can be copied.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::part::{Part, under};
use crate::place::figure_at;
use crate::text::clean;
use case::{Bisection, ProbeKind, ProbeResult};

pub(crate) const BLOCK: Block = Block::of(Section::Bisection, |document: &Document| {
    let Some(bisection) = document.bisection() else { return Vec::new() };
    let Some(command) = command(bisection) else { return Vec::new() };
    under(format!("To go back ({})", confirmed(bisection)), [Part::Command(command)])
});

/// The command itself.
fn command(bisection: &Bisection) -> Option<String> {
    let command = bisection.culprit.as_ref().map(|culprit| clean(&culprit.command))?;
    (!command.is_empty()).then_some(command)
}

/// Whether the command was tried, and what that gave.
fn confirmed(bisection: &Bisection) -> String {
    let is_confirmed = bisection.culprit.as_ref().is_some_and(|culprit| culprit.command_confirmed);
    let apt = bisection.probes.iter().rfind(|probe| probe.kind == ProbeKind::Apt && probe.result == ProbeResult::Good);
    match (is_confirmed, apt.and_then(|probe| figure_at(bisection, probe.place))) {
        (true, Some(figure)) => format!("tried on an overlay of the bad world: {figure}"),
        (true, None) => "tried on an overlay of the bad world".into(),
        (false, _) => "not tried".into(),
    }
}
