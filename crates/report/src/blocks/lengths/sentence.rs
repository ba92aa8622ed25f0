//! What the lengths come down to, in words.

use super::{longest, points, quantile};
use crate::text::{count, counted};
use case::Nanos;
use case::views::Lengths;

/// What takes more than this many medians is worth counting.
const MANY_MEDIANS: u64 = 10;

/// Median, percentiles and the longest, and how many took far longer than most.
pub(super) fn sentence(lengths: &Lengths) -> String {
    let longest_ns = Nanos(longest(lengths));
    if lengths.count == 1 {
        return format!("The only request took {longest_ns}.");
    }
    let [_, (_, p95), (_, p99), _] = points(lengths);
    let mut parts = vec![format!("half took at most {}", Nanos(quantile(lengths, 0.5)))];
    parts.extend(p95.map(|ns| format!("95 % at most {}", Nanos(ns))));
    parts.extend(p99.map(|ns| format!("99 % at most {}", Nanos(ns))));
    let which = lengths.worst.first().map_or(String::new(), |worst| {
        format!(" (number {}, which ended {} after recording began)", count(worst.number), Nanos(worst.at))
    });
    let of = counted(lengths.count, "request");
    format!("Of {of}, {}; the longest took {longest_ns}{which}.{}", parts.join(", "), tenfold(lengths))
}

/// `2 of 100 took more than ten times the median.` Empty where none did.
fn tenfold(lengths: &Lengths) -> String {
    let limit = quantile(lengths, 0.5).saturating_mul(MANY_MEDIANS);
    let listed = lengths.worst.iter().filter(|one| one.length_ns > limit).count();
    let all = count(lengths.count);
    match listed {
        0 => String::new(),
        // The list has an end: there may be more.
        _ if listed == lengths.worst.len() && (listed as u64) < lengths.count => {
            format!(" At least {} of {all} took more than ten times the median.", count(listed as u64))
        }
        _ => format!(" {} of {all} took more than ten times the median.", count(listed as u64)),
    }
}
