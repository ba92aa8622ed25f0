//! A call chain as a table: figures of both, their difference, and each function one step further in than its caller.

use crate::chain::code;
use crate::comparison::origin::signed;
use crate::text::counted;
use askama::Template;
use case::{CodeContrast, Nanos};

/// Callers further out only carry the whole: so many steps are shown.
const MOST_STEPS: usize = 16;

#[derive(Template)]
#[template(path = "page/chain.html")]
struct Chain<'a> {
    a: &'a str,
    b: &'a str,
    steps: Vec<Step>,
    /// `2 callers`, that are left out; empty for none.
    further_out: String,
}

/// One function of it.
struct Step {
    depth: usize,
    name: String,
    a: String,
    b: String,
    difference: String,
}

/// The chain as HTML, both sides named as told; empty for none.
pub(super) fn chain(contrasts: &[CodeContrast], [a, b]: [&str; 2]) -> String {
    let further_out = contrasts.len().saturating_sub(MOST_STEPS);
    let steps = contrasts[further_out..].iter().enumerate().map(|(depth, one)| Step {
        depth,
        name: code(&one.function, &one.module),
        a: Nanos(one.a_ns).to_string(),
        b: Nanos(one.b_ns).to_string(),
        difference: signed(one.a_ns, one.b_ns),
    });
    let steps = steps.collect::<Vec<_>>();
    if steps.is_empty() {
        return String::new();
    }
    let further_out = if further_out > 0 { counted(further_out as u64, "caller") } else { String::new() };
    Chain { a, b, steps, further_out }.render().unwrap_or_default()
}
