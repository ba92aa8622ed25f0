//! What most of a difference is: one account of the ledger, one library, one system call. Signed figures.

use crate::contrast::{cpu, per, signed, times};
use crate::function::code;
use crate::text::clean;
use case::facts::Metric;
use case::{
    Account, AccountContrast, CallContrast, CodeContrast, Compared, Comparison, Contrast, Function, Per, Share,
};

/// What makes up less than this of a difference is not named in the verdict.
const LEAST_PART: f64 = 0.5;
/// Counts of calls that differ by less are no explanation.
const LEAST_CALLS: f64 = 1.5;
/// What is left out is mentioned from this part of the rest on.
const LEAST_LEFT_OUT: f64 = 0.1;

/// Time without a processor: on a machine that others use too it grows with the work.
fn is_waiting(account: &Account) -> bool {
    matches!(account, Account::RunDelay { .. } | Account::RunDelayOutside)
}

/// The account that makes up most of the difference in time.
pub(super) fn account(comparison: &Comparison, first: &Compared) -> Option<String> {
    if first.metric.is_processor() || first.metric.is_of_the_program() {
        return None;
    }
    // Who has more to do waits longer for a busy processor, too: that is no cause beside the work.
    let is_more_work = cpu(comparison).is_some_and(|cpu| cpu.outcome == first.outcome);
    let counts = |account: &&AccountContrast| !(is_more_work && is_waiting(&account.account));
    let accounts = comparison.ledger.iter().filter(counts);
    let whole = accounts.clone().map(|account| difference(account.a_ns, account.b_ns)).sum::<i64>();
    if whole == 0 || (whole > 0) != (first.outcome == Contrast::More) {
        return None;
    }
    let part = |account: &&AccountContrast| difference(account.a_ns, account.b_ns) as f64 / whole as f64;
    let largest = accounts.clone().max_by(|a, b| part(a).total_cmp(&part(b)))?;
    let share = part(&largest);
    if share < LEAST_PART || largest.account == Account::Unexplained {
        return None;
    }
    let name = clean(&largest.name);
    let (figure, per) = (signed(largest.a_ns, largest.b_ns), per(comparison));
    // More than the whole where other accounts went the other way.
    let how = if share < 0.995 { Share(share).to_string() } else { "All".into() };
    let all = comparison.ledger.iter().map(|account| difference(account.a_ns, account.b_ns)).sum::<i64>();
    let apart = if (all - whole).abs() as f64 >= LEAST_LEFT_OUT * whole.abs() as f64 {
        ", time spent waiting for a CPU left out"
    } else {
        ""
    };
    Some(format!("{how} of the difference is '{name}' ({figure} {per}{apart})."))
}

/// The library that makes up most of the difference in CPU time, and the function of it that does.
pub(super) fn library(comparison: &Comparison) -> Option<String> {
    let differences = comparison.libraries.iter().map(|code| difference(code.a_ns, code.b_ns));
    let whole = differences.sum::<i64>();
    let measured = cpu(comparison)?;
    let rising = measured.outcome == Contrast::More;
    if whole == 0 || (whole > 0) != rising {
        return None;
    }
    // Libraries whose difference may be chance are not listed: those that are can be a small part of what was measured.
    let is_same_unit = (measured.metric == Metric::Cpu) == (comparison.per == Per::Run);
    let measured = if is_same_unit { (measured.b - measured.a).abs() } else { 0.0 };
    let whole = measured.max((whole as f64).abs()).copysign(whole as f64);
    let part = |code: &CodeContrast| difference(code.a_ns, code.b_ns) as f64 / whole;
    let largest = comparison.libraries.iter().max_by(|a, b| part(a).total_cmp(&part(b)))?;
    if part(largest) < LEAST_PART {
        return None;
    }
    let module = code("", &largest.module);
    let figure = signed(largest.a_ns, largest.b_ns);
    // What carries much more than its library's own time is only on the way to another's.
    let is_its_own = |step: &&CodeContrast| {
        let of_library = part(step) / part(largest);
        step.module == largest.module
            && !Function::of(&step.function).is_address()
            && (LEAST_PART..LEAST_PART.recip()).contains(&of_library)
    };
    let function = comparison.chain.iter().rfind(is_its_own).map(|step| clean(&step.function));
    let function = function.map(|name| format!(", most of it in {name} and what it calls")).unwrap_or_default();
    let per = per(comparison);
    Some(format!("Most of the difference in CPU time is in {module} ({figure} {per}){function}."))
}

/// The system call that makes up most of the difference because there are more or fewer of it.
pub(super) fn call(comparison: &Comparison, first: &Compared) -> Option<String> {
    let whole = match (&first.metric, comparison.per) {
        (Metric::Wall, Per::Run) | (Metric::WallPerExchange | Metric::ElapsedPerExchange, Per::Exchange) => {
            first.b - first.a
        }
        _ => return None,
    };
    let part = |call: &CallContrast| difference(call.a_ns, call.b_ns) as f64 / whole;
    let largest = comparison.calls.iter().max_by(|a, b| part(a).total_cmp(&part(b)))?;
    let (more, fewer) = (largest.a_count.max(largest.b_count), largest.a_count.min(largest.b_count));
    let grows_with_it = (largest.b_count > largest.a_count) == (whole > 0.0);
    if part(largest) < LEAST_PART || more < LEAST_CALLS * fewer || !grows_with_it {
        return None;
    }
    let name = clean(&largest.call);
    let about = if largest.about.is_empty() { String::new() } else { format!(" ({})", clean(&largest.about)) };
    let (in_a, in_b, per) = (times(largest.a_count), times(largest.b_count), per(comparison));
    Some(format!("B calls {name}{about} {in_b} times {per}, A {in_a} times."))
}

/// B's time less A's.
fn difference(a: u64, b: u64) -> i64 {
    (i128::from(b) - i128::from(a)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
