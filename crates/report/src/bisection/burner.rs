//! Who burns the time in the bad world, as distinct from what was switched: the call chain of both worlds.

use super::label::label;
use crate::chain::{Step, chain, code};
use crate::comparison::origin::signed;
use crate::hot_spots;
use crate::style::Style;
use crate::text::{clean, counted, wrap};
use case::{Bisection, CodeContrast, Nanos, Share};

/// Steps of a chain that a sentence has room for, at its outer and at its inner end.
const ENDS: usize = 2;
/// Between the names that one thing has on both sides.
const BOTH: &str = " / ";

/// The chain with its figures; empty where processor time is no part of the difference.
pub(super) fn burner(bisection: &Bisection, style: Style) -> String {
    let Some(burner) = &bisection.burner else { return String::new() };
    let of =
        if burner.factor.is_empty() { String::new() } else { format!(", of {}", label(bisection, &burner.factor)) };
    let head = format!("{}{of}: {} of the bad world's", clean(&burner.library), Share(burner.share));
    let text = wrap(&head, style.columns(), "Who burns the processor time: ", "  ");
    let sides = ["good", "bad", "bad - good"];
    text + &steps(&burner.chain, sides, style) + &hot_spots::table(&burner.hot_spots, sides, style)
}

/// A chain with the figures of both, outermost function first; empty for none.
pub(crate) fn steps(contrasts: &[CodeContrast], headings: [&str; 3], style: Style) -> String {
    if contrasts.is_empty() {
        return String::new();
    }
    let (contrasts, nameless) = readable(contrasts);
    let steps = contrasts.iter().map(|one| Step {
        figures: vec![Nanos(one.a_ns).to_string(), Nanos(one.b_ns).to_string(), signed(one.a_ns, one.b_ns)],
        name: code(&one.function, &one.module),
    });
    let left_out = left_out(nameless);
    let left_out = if left_out.is_empty() { left_out } else { format!("  {left_out}\n") };
    chain(&headings, &steps.collect::<Vec<_>>(), style) + &left_out
}

/// A chain as it is read: without steps that have no name, but for the innermost, and each with its library as the slower
/// side calls it. And how many steps were left out.
pub(crate) fn readable(contrasts: &[CodeContrast]) -> (Vec<CodeContrast>, usize) {
    let last = contrasts.len().saturating_sub(1);
    let kept = contrasts.iter().enumerate().filter(|(place, step)| *place == last || is_named(step));
    let told = |(_, step): (usize, &CodeContrast)| {
        let (function, module) = (step.function.as_str(), slower_side(&step.module).to_string());
        CodeContrast { function: function.rsplit(BOTH).next().unwrap_or(function).into(), module, ..step.clone() }
    };
    let kept = kept.map(told).collect::<Vec<_>>();
    let left_out = contrasts.len() - kept.len();
    (kept, left_out)
}

/// What to say of steps that were left out; empty for none.
pub(crate) fn left_out(nameless: usize) -> String {
    if nameless == 0 {
        return String::new();
    }
    format!("({} without a name left out)", counted(nameless as u64, "function"))
}

/// A library as the slower side calls it: `libssl.so.3` of `libssl.so.1.1 / libssl.so.3`.
pub(crate) fn slower_side(module: &str) -> &str {
    module.rsplit(BOTH).next().unwrap_or(module)
}

/// An address is no name.
pub(crate) fn is_named(step: &CodeContrast) -> bool {
    !step.function.is_empty() && !step.function.contains("+0x")
}

/// The chain in a line, from where it enters one of the libraries on: `SSL_CTX_new > ... > ossl_sa_doall_arg`.
pub(crate) fn way(chain: &[CodeContrast], libraries: &[String]) -> String {
    // One library under two names, as in `libssl.so.1.1 / libssl.so.3`, is told by either.
    let is_in = |step: &CodeContrast| step.module.split(BOTH).any(|name| libraries.iter().any(|one| one == name));
    let entry = chain.iter().position(is_in).unwrap_or(0);
    // Who calls the library tells more than its own first function.
    let caller = chain[..entry].iter().rfind(|step| is_named(step));
    let named = caller.into_iter().chain(chain[entry..].iter().filter(|step| is_named(step)));
    let named = named.map(|step| clean(&step.function)).collect::<Vec<_>>();
    if named.len() <= 2 * ENDS {
        return named.join(" > ");
    }
    format!("{} > ... > {}", named[..ENDS].join(" > "), named[named.len() - ENDS..].join(" > "))
}
