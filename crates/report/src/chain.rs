//! A call chain as a tree: figures on the left, each function one step further in than its caller.

use crate::style::Style;
use crate::text::{clean, counted, shorten};

/// Further out, callers only carry the whole: they are counted.
const MOST_STEPS: usize = 16;

/// One function of the chain.
pub(crate) struct Step {
    /// Its figures, one a column.
    pub figures: Vec<String>,
    /// What it is called.
    pub name: String,
}

/// The chain, outermost function first, under the headings of its figures.
pub(crate) fn chain(headings: &[&str], steps: &[Step], style: Style) -> String {
    let left_out = steps.len().saturating_sub(MOST_STEPS);
    let shown = &steps[left_out..];
    let heading = Step { figures: headings.iter().map(ToString::to_string).collect(), name: String::new() };
    let width = |column: usize| {
        let rows = [&heading].into_iter().chain(shown);
        rows.map(|step| step.figures.get(column).map_or(0, |figure| figure.chars().count())).max().unwrap_or(0)
    };
    let widths = (0..headings.len()).map(width).collect::<Vec<_>>();
    let line = |step: &Step, depth: usize| {
        let figures = widths.iter().enumerate().map(|(column, width)| {
            let figure = step.figures.get(column).map_or("", String::as_str);
            format!("  {figure:>width$}")
        });
        let figures = figures.collect::<String>();
        let room = style.columns().saturating_sub(figures.chars().count() + 2 + depth);
        let text = format!("{figures}  {}{}", " ".repeat(depth), shorten(&step.name, room));
        text.trim_end().to_string() + "\n"
    };
    let mut text = line(&heading, 0);
    if left_out > 0 {
        let name = format!("({} further out)", counted(left_out as u64, "caller"));
        text += &line(&Step { figures: Vec::new(), name }, 0);
    }
    text + &shown.iter().enumerate().map(|(depth, step)| line(step, depth)).collect::<String>()
}

/// A function with its library or program: `X509_load (libcrypto.so.3)`.
pub(crate) fn code(function: &str, module: &str) -> String {
    let (function, module) = (clean(function), clean(module));
    match (function.is_empty(), module.is_empty()) {
        (true, true) => "unknown".into(),
        (true, false) => module,
        (false, true) => function,
        _ if function.ends_with("+0x...") => format!("functions without a name ({module})"),
        // An address in a module names the module already.
        _ if function.contains("+0x") => function,
        _ => format!("{function} ({module})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_is_one_step_further_in() {
        let step = |figure: &str, name: &str| Step { figures: vec![figure.into()], name: name.into() };
        let text = chain(&["A"], &[step("12 ms", "main"), step("9 ms", &code("load", "x.so"))], Style::default());
        assert_eq!(text, "      A\n  12 ms  main\n   9 ms   load (x.so)\n");
    }

    #[test]
    fn a_function_is_told_with_its_library_and_an_address_has_it_already() {
        assert_eq!(code("load", "x.so"), "load (x.so)");
        assert_eq!(code("x.so+0x40", "x.so"), "x.so+0x40");
        assert_eq!(code("x.so.1 / x.so.2+0x...", "x.so.2"), "functions without a name (x.so.2)");
        assert_eq!((code("", "x.so").as_str(), code("", "").as_str()), ("x.so", "unknown"));
    }

    #[test]
    fn a_deep_chain_keeps_its_inner_end_and_its_width() {
        let steps =
            (0..40).map(|depth| Step { figures: vec!["1 ms".into()], name: format!("f{depth} {}", "x".repeat(99)) });
        let text = chain(&["A"], &steps.collect::<Vec<_>>(), Style::default());
        assert!(
            text.contains("(24 callers further out)") && text.contains("f39 x") && !text.contains("f23 "),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
