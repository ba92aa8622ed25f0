//! A ladder in words.

use crate::text::{clean, count, counted};
use case::views::{Ladder, Stretch, Why};
use case::{Account, Nanos};
use std::collections::BTreeMap;

/// A second account is named where it has at least this share of the exchange.
const NAMED: f64 = 0.1;

/// A tab's name: `Typical`, or `A: typical`.
pub(super) fn name(side: &str, ladder: &Ladder) -> String {
    let why = why(ladder);
    if side.is_empty() { why } else { format!("{}: {}", clean(side), why.to_lowercase()) }
}

fn why(ladder: &Ladder) -> String {
    match &ladder.why {
        Why::Typical => "Typical".to_string(),
        Why::Worst => "Worst".to_string(),
        Why::Best => "Best".to_string(),
        Why::MostOf { account } => format!("Most of: {}", clean(&account.name())),
    }
}

/// Why it is shown, behind another reason: `worst`, or the account that it has most of.
pub(in crate::blocks) fn short(why: &Why) -> String {
    match why {
        Why::Typical => "typical".to_string(),
        Why::Worst => "worst".to_string(),
        Why::Best => "best".to_string(),
        Why::MostOf { account } => clean(&account.name()),
    }
}

/// What the exchange is, and where most of its time went.
pub(super) fn sentence(side: &str, ladder: &Ladder, exchanges: u64) -> String {
    let which =
        format!("{}: request {}, {}.", name(side, ladder), request(ladder.number, exchanges), Nanos(ladder.length_ns));
    let mut sums = sums(&ladder.stretches).into_iter();
    let Some((account, ns)) = sums.next() else { return which };
    let mut where_to = format!("{}: {}", part(ns, ladder.length_ns), clean(&account.name()));
    let second = sums.next().filter(|(_, ns)| *ns as f64 >= NAMED * ladder.length_ns as f64);
    if let Some((account, ns)) = second {
        where_to += &format!("; {}: {}", Nanos(ns), clean(&account.name()));
    }
    format!("{which} {where_to}.")
}

/// `51 of 100`.
pub(super) fn request(number: u64, exchanges: u64) -> String {
    let of = if exchanges > 0 { format!(" of {}", count(exchanges)) } else { String::new() };
    format!("{}{of}", count(number))
}

/// Accounts with their time, most first.
fn sums(stretches: &[Stretch]) -> Vec<(&Account, u64)> {
    let mut sums: BTreeMap<&Account, u64> = BTreeMap::new();
    for stretch in stretches {
        *sums.entry(&stretch.account).or_default() += stretch.to.saturating_sub(stretch.from);
    }
    let mut sums: Vec<(&Account, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|&(account, ns)| (std::cmp::Reverse(ns), account));
    sums
}

/// A part of a length: `40.9 of 44.0 ms`.
pub(super) fn part(ns: u64, of: u64) -> String {
    let (ns, of) = (Nanos(ns).to_string(), Nanos(of).to_string());
    match (ns.split_once(' '), of.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} of {of}"),
        _ => format!("{ns} of {of}"),
    }
}

/// What found no place; empty where all did.
pub(super) fn left_out(ladder: &Ladder) -> String {
    if ladder.left_out == 0 {
        return String::new();
    }
    format!("Left out: {} that took little of the time.", counted(ladder.left_out, "step"))
}

/// A time since the exchange began, with as many decimals as its length is worth: `+0.042 ms`.
pub(super) fn since(at: u64, length: u64) -> String {
    let at = at as f64;
    match length {
        0..=999_999 => format!("+{:.1} us", at / 1e3),
        1_000_000..=99_999_999 => format!("+{:.3} ms", at / 1e6),
        100_000_000..=9_999_999_999 => format!("+{:.2} ms", at / 1e6),
        _ => format!("+{:.2} s", at / 1e9),
    }
}
