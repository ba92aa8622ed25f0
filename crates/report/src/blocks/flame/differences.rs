//! The differences of CPU time: of a comparison and a bisection one, of a matrix one for each version that differs
//! from the first, with a switch between them.

use super::{Drawn, NO_SAMPLES, SideOfFlames, drawn};
use crate::document::{Body, Difference, Document};
use crate::text::{clean, joined};
use askama::Template;
use case::Matrix;
use case::views::{MOST_PAIRS, Pairs};

/// What a difference calls its two sides.
pub struct Sides {
    /// What differs from what: the picture's name in the switch.
    pub choice: String,
    /// The columns of its table: A's and B's.
    pub columns: [String; 2],
    /// What red and blue say.
    pub colours: [String; 2],
}

/// The differences as HTML; empty for none.
pub(super) fn differences(document: &Document) -> String {
    let id = |number: usize| match document.differences.len() {
        1 => "flame-difference".to_string(),
        _ => format!("flame-difference-{}", number + 1),
    };
    let all = document.differences.iter().enumerate();
    let flames = all.map(|(number, one)| of(document.body, id(number), one)).collect::<Vec<_>>();
    let Body::Matrix(matrix) = document.body else {
        return flames.iter().map(|flame| flame.render().unwrap_or_default()).collect();
    };
    if flames.is_empty() {
        return String::new();
    }
    let (name, note) = heading(matrix);
    SideOfFlames::of(name, note, flames).render().unwrap_or_default()
}

/// One of them.
fn of(body: Body, id: String, difference: &Difference) -> Drawn {
    let (a, b) = (clean(&difference.a), clean(&difference.b));
    let title = match body {
        Body::Bisection(_) => "CPU time: the bad world (B) against the good one (A)".to_string(),
        Body::Matrix(_) => format!("CPU time: {b} (B) against {a} (A)"),
        _ => format!("CPU time: {b} against {a}"),
    };
    let choice = format!("{b} against {a}");
    let sides = match body {
        // Tooltips and selections say A and B for short.
        Body::Matrix(_) => Sides {
            choice,
            colours: [format!("{b} (B) takes more"), format!("{a} (A) takes more")],
            columns: [format!("{a} (A)"), format!("{b} (B)")],
        },
        _ => Sides { choice, colours: [format!("{b} takes more"), "less".to_string()], columns: [a, b] },
    };
    Drawn { sides: Some(sides), ..drawn(id, title, NO_SAMPLES, &difference.flame) }
}

/// What stands above those of a matrix, and what has no picture though it differs.
fn heading(matrix: &Matrix) -> (String, String) {
    let Some(pairs) = Pairs::of(matrix) else { return Default::default() };
    let first = clean(&pairs.first.version);
    let left_out = pairs.left_out.iter().map(|version| clean(&version.version)).collect::<Vec<_>>();
    let name = format!("What differs from {first}");
    let note = match left_out.len() {
        0 => String::new(),
        number => format!(
            "{MOST_PAIRS} versions at most are drawn against {first}, the largest slow-down first. {} {} from it too, and \
             {} left out here.",
            joined(&left_out),
            if number == 1 { "differs" } else { "differ" },
            if number == 1 { "is" } else { "are" },
        ),
    };
    (name, note)
}

#[cfg(test)]
mod tests;
