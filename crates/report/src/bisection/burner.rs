//! Who burns the time in the bad world, as distinct from what was switched: the call chain of both worlds.

use super::label::label;
use crate::chain::{Step, chain, code};
use crate::comparison::origin::signed;
use crate::style::Style;
use crate::text::{clean, wrap};
use case::{Bisection, CodeContrast, Nanos, Share};

/// Steps of a chain that a sentence has room for, at its outer and at its inner end.
const ENDS: usize = 2;

/// The chain with its figures; empty where processor time is no part of the difference.
pub(super) fn burner(bisection: &Bisection, style: Style) -> String {
    let Some(burner) = &bisection.burner else { return String::new() };
    let of =
        if burner.factor.is_empty() { String::new() } else { format!(", of {}", label(bisection, &burner.factor)) };
    let head = format!("{}{of}: {} of the bad world's", clean(&burner.library), Share(burner.share));
    let text = wrap(&head, style.columns(), "Who burns the processor time: ", "  ");
    text + &steps(&burner.chain, ["good", "bad", "bad - good"], style)
}

/// A chain with the figures of both, outermost function first; empty for none.
pub(crate) fn steps(contrasts: &[CodeContrast], headings: [&str; 3], style: Style) -> String {
    if contrasts.is_empty() {
        return String::new();
    }
    let steps = contrasts.iter().map(|one| Step {
        figures: vec![Nanos(one.a_ns).to_string(), Nanos(one.b_ns).to_string(), signed(one.a_ns, one.b_ns)],
        name: code(&one.function, &one.module),
    });
    chain(&headings, &steps.collect::<Vec<_>>(), style)
}

/// The chain in a line, from where it enters one of the libraries on: `SSL_CTX_new > ... > ossl_sa_doall_arg`.
pub(crate) fn way(chain: &[CodeContrast], libraries: &[String]) -> String {
    // One library under two names, as in `libssl.so.1.1 / libssl.so.3`, is told by either.
    let is_in = |step: &CodeContrast| step.module.split(" / ").any(|name| libraries.iter().any(|one| one == name));
    let entry = chain.iter().position(is_in).unwrap_or(0);
    // An address is no name.
    let is_named = |step: &&CodeContrast| !step.function.is_empty() && !step.function.contains("+0x");
    // Who calls the library tells more than its own first function.
    let caller = chain[..entry].iter().rfind(is_named);
    let named = caller.into_iter().chain(chain[entry..].iter().filter(is_named));
    let named = named.map(|step| clean(&step.function)).collect::<Vec<_>>();
    if named.len() <= 2 * ENDS {
        return named.join(" > ");
    }
    format!("{} > ... > {}", named[..ENDS].join(" > "), named[named.len() - ENDS..].join(" > "))
}
