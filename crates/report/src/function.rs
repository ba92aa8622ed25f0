//! How functions and call chains are called.

use crate::text::clean;
use case::{CodeContrast, Function};

/// Functions of a chain that a sentence has room for, at its outer and at its inner end.
const ENDS: usize = 2;
/// Between the names that one thing has on both sides.
const BOTH: &str = " / ";

/// A chain as it is read: without frames that have no name, but for the innermost, and each with its library as the
/// slower side calls it. And how many frames were left out.
pub(crate) fn readable(contrasts: &[CodeContrast]) -> (Vec<CodeContrast>, usize) {
    let last = contrasts.len().saturating_sub(1);
    let kept = contrasts.iter().enumerate().filter(|(place, step)| *place == last || is_named(step));
    let of_slower = |(_, step): (usize, &CodeContrast)| {
        let (function, module) = (step.function.as_str(), slower_side(&step.module).to_string());
        CodeContrast { function: function.rsplit(BOTH).next().unwrap_or(function).into(), module, ..step.clone() }
    };
    let kept = kept.map(of_slower).collect::<Vec<_>>();
    let left_out = contrasts.len() - kept.len();
    (kept, left_out)
}

/// A library as the slower side calls it: `libssl.so.3` of `libssl.so.1.1 / libssl.so.3`.
pub(crate) fn slower_side(module: &str) -> &str {
    module.rsplit(BOTH).next().unwrap_or(module)
}

/// An address is no name.
pub(crate) fn is_named(step: &CodeContrast) -> bool {
    Function::of(&step.function).is_named()
}

/// The chain in a line, from where it enters one of the libraries on: `SSL_CTX_new > ... > ossl_sa_doall_arg`.
pub(crate) fn way(chain: &[CodeContrast], libraries: &[String]) -> String {
    // One library under two names, as in `libssl.so.1.1 / libssl.so.3`, is known by either.
    let is_in = |step: &CodeContrast| step.module.split(BOTH).any(|name| libraries.iter().any(|one| one == name));
    let entry = chain.iter().position(is_in).unwrap_or(0);
    // Who calls the library says more than its own first function.
    let caller = chain[..entry].iter().rfind(|step| is_named(step));
    let named = caller.into_iter().chain(chain[entry..].iter().filter(|step| is_named(step)));
    let named = named.map(|step| clean(&step.function)).collect::<Vec<_>>();
    if named.len() <= 2 * ENDS {
        return named.join(" > ");
    }
    format!("{} > ... > {}", named[..ENDS].join(" > "), named[named.len() - ENDS..].join(" > "))
}

/// A function with its library or program: `X509_load (libcrypto.so.3)`.
pub(crate) fn code(function: &str, module: &str) -> String {
    let (name, module) = (clean(function), clean(module));
    match (Function::of(function), module.is_empty()) {
        (Function::Unknown, true) => "unknown".into(),
        (Function::Unknown, false) => module,
        // An address in a module names the module already.
        (_, true) | (Function::At(_), false) => name,
        (Function::Unnamed(_), false) => format!("functions without a name ({module})"),
        (Function::Named(_), false) => format!("{name} ({module})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_with_its_library_and_an_address_has_it_already() {
        assert_eq!(code("load", "x.so"), "load (x.so)");
        assert_eq!(code("x.so+0x40", "x.so"), "x.so+0x40");
        assert_eq!(code("x.so.1 / x.so.2+0x...", "x.so.2"), "functions without a name (x.so.2)");
        assert_eq!((code("", "x.so").as_str(), code("", "").as_str()), ("x.so", "unknown"));
    }
}
