//! What makes up most of a difference: one account of the ledger, one library. Signed figures.

use super::sentence::{is_figure_of_its_own, is_processor, processor};
use crate::chain::code;
use crate::text::clean;
use case::{AccountContrast, CodeContrast, Compared, Comparison, Contrast, Nanos, Share};

/// What makes up less than this of a difference is not named in the verdict.
const LEAST_PART: f64 = 0.5;
/// The account of what no other explains: it says nothing of where a difference comes from.
const UNEXPLAINED: &str = "unexplained";

/// The account that makes up most of the difference in time.
pub(super) fn account(comparison: &Comparison, first: &Compared) -> Option<String> {
    if is_processor(&first.metric) || is_figure_of_its_own(&first.metric) {
        return None;
    }
    let whole = comparison.ledger.iter().map(|account| difference(account.a_ns, account.b_ns)).sum::<i64>();
    if whole == 0 || (whole > 0) != (first.outcome == Contrast::More) {
        return None;
    }
    let part = |account: &&AccountContrast| difference(account.a_ns, account.b_ns) as f64 / whole as f64;
    let largest = comparison.ledger.iter().max_by(|a, b| part(a).total_cmp(&part(b)))?;
    let share = part(&largest);
    if share < LEAST_PART || largest.name == UNEXPLAINED {
        return None;
    }
    let name = clean(&largest.name);
    let (figure, per) = (signed(largest.a_ns, largest.b_ns), per(comparison));
    // More than the whole where other accounts went the other way.
    let how = if share < 0.995 { format!("{} of", Share(share)) } else { "all of".into() };
    Some(format!("'{name}' makes up {how} the difference ({figure} {per})."))
}

/// The library that makes up most of the difference in processor time.
pub(super) fn library(comparison: &Comparison) -> Option<String> {
    let differences = comparison.libraries.iter().map(|code| difference(code.a_ns, code.b_ns));
    let whole = differences.sum::<i64>();
    let rising = processor(comparison)?.outcome == Contrast::More;
    if whole == 0 || (whole > 0) != rising {
        return None;
    }
    let part = |code: &CodeContrast| difference(code.a_ns, code.b_ns) as f64 / whole as f64;
    let largest = comparison.libraries.iter().max_by(|a, b| part(a).total_cmp(&part(b)))?;
    if part(largest) < LEAST_PART {
        return None;
    }
    let module = code("", &largest.module);
    let figure = signed(largest.a_ns, largest.b_ns);
    Some(format!("Most of the difference in processor time is in {module} ({figure} {}).", per(comparison)))
}

/// What the figures of ledger and profiles are of.
pub(super) fn per(comparison: &Comparison) -> &'static str {
    if comparison.per == "run" { "a run" } else { "a request" }
}

/// B's time less A's.
fn difference(a: u64, b: u64) -> i64 {
    (i128::from(b) - i128::from(a)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// B's time less A's, with its sign: `+21.9 ms`.
pub(super) fn signed(a: u64, b: u64) -> String {
    let sign = match b.cmp(&a) {
        std::cmp::Ordering::Greater => "+",
        std::cmp::Ordering::Less => "-",
        std::cmp::Ordering::Equal => "",
    };
    format!("{sign}{}", Nanos(a.abs_diff(b)))
}
