//! What A and B are: only what differs, and the command where they share it.

use crate::command::command;
use crate::style::Style;
use crate::text::{clean, wrap};
use case::{Comparison, Side};

/// The block of both sides.
pub(super) fn sides(comparison: &Comparison, style: Style) -> String {
    let (a, b) = (&comparison.a, &comparison.b);
    let mut text = String::new();
    if a.command == b.command && !a.command.is_empty() {
        text += &wrap(&command(&a.command), style.columns(), "Both: ", "      ");
    }
    let (of_a, of_b) = (particulars(a, b), particulars(b, a));
    if of_a.is_empty() && of_b.is_empty() {
        return text + "A and B differ in nothing.\n";
    }
    text + &side("A", &of_a, style) + &side("B", &of_b, style)
}

fn side(name: &str, particulars: &[String], style: Style) -> String {
    if particulars.is_empty() {
        return format!("{name}: nothing changed\n");
    }
    let lines = particulars.iter().enumerate().map(|(index, part)| {
        let label = if index == 0 { format!("{name}: ") } else { "   ".into() };
        wrap(part, style.columns(), &label, "     ")
    });
    lines.collect()
}

/// What is particular to one side, a line each.
pub(crate) fn particulars(one: &Side, other: &Side) -> Vec<String> {
    let mut parts = Vec::new();
    if one.command != other.command {
        parts.push(command(&one.command));
    }
    if one.server != other.server {
        parts.push(match one.server.as_slice() {
            [] => "no server of ours".into(),
            server => format!("server: {}", command(server)),
        });
    }
    let own = one.changes.iter().filter(|change| !other.changes.contains(change));
    let own = own.map(|change| clean(change.strip_prefix("with=").unwrap_or(change))).collect::<Vec<_>>();
    if !own.is_empty() {
        parts.push(format!("with {}", own.join(", ")));
    }
    if one.cases.is_empty() && !other.cases.is_empty() {
        parts.push("measured earlier".into());
    }
    if let Some(status) = one.exit.filter(|status| *status != 0) {
        parts.push(format!("its exit status was {status}"));
    }
    parts
}
