//! How a measured figure is written: three significant digits and the unit of its metric; how a ratio is said in words,
//! its base named.

use crate::text::{clean, count};

/// A figure of the program's own output is named by its pattern after one of these: less of it is better, or more.
const LESS: &str = "stdout:";
const MORE: &str = "stdout-more:";
/// Two lengths are written in one unit, so that they can be compared at a glance, where they differ by less than this.
const SAME_UNIT: f64 = 1_000.0;
/// A larger number is written with its power of ten.
const LARGEST_COUNT: f64 = 1e12;
/// Units of time, and what each is in nanoseconds.
const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];

/// What a metric measures, as a noun: `time per request`.
pub(crate) fn noun(metric: &str) -> String {
    match metric {
        "wall_ns_per_exchange" => "time per request".into(),
        "elapsed_ns_per_exchange" => "elapsed time per request".into(),
        "cpu_ns_per_exchange" => "processor time per request".into(),
        "wall_ns" => "the run's time".into(),
        "cpu_ns" => "the run's processor time".into(),
        "exchange_p50_ns" => "the median of requests".into(),
        "exchange_p95_ns" => "the 95th percentile of requests".into(),
        "exchange_p99_ns" => "the 99th percentile of requests".into(),
        "" => "the figure measured".into(),
        _ => match metric.strip_prefix(LESS).or_else(|| metric.strip_prefix(MORE)) {
            Some(pattern) => printed(pattern),
            None => clean(metric),
        },
    }
}

/// A figure of the program's output: by the name that stands before it, else by its pattern.
fn printed(pattern: &str) -> String {
    let before = pattern.split('(').next().unwrap_or_default();
    let name = before.trim_end_matches(['=', ':', ' ']);
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' '));
    let is_set_apart = before[name.len()..].contains(['=', ':']);
    if is_name && is_set_apart && !name.is_empty() {
        format!("the printed {name}")
    } else {
        format!("the figure of '{}' in the output", clean(pattern))
    }
}

/// Two figures against each other, in a clause: `a request took 0.210 ms instead of 44.1 ms`.
pub(crate) fn clause(metric: &str, before: f64, after: f64) -> String {
    let (before, after) = pair(metric, before, after);
    match metric {
        "wall_ns_per_exchange" => format!("a request took {after} instead of {before}"),
        "cpu_ns_per_exchange" => format!("a request took {after} of processor time instead of {before}"),
        "wall_ns" => format!("the run took {after} instead of {before}"),
        "cpu_ns" => format!("the run took {after} of processor time instead of {before}"),
        _ => format!("{} was {after} instead of {before}", noun(metric)),
    }
}

/// Two figures of a metric, with their unit: the same for both unless they are far apart.
pub(crate) fn pair(metric: &str, first: f64, second: f64) -> (String, String) {
    if !is_time(metric) {
        return (three(first), three(second));
    }
    let (most, least) = (first.max(second), first.min(second));
    if least > 0.0 && most / least < SAME_UNIT {
        let unit = unit_of(most);
        return (in_unit(first, unit), in_unit(second, unit));
    }
    (in_unit(first, unit_of(first)), in_unit(second, unit_of(second)))
}

/// A figure of a metric with its unit, and the ends of its interval in that unit: `44.1 ms (43.9 to 44.3)`.
pub(crate) fn spread(metric: &str, value: f64, low: f64, high: f64) -> String {
    if !is_time(metric) {
        return format!("{} ({})", three(value), range(low, high));
    }
    let unit = unit_of(value);
    format!("{} ({})", in_unit(value, unit), range(low / unit.1, high / unit.1))
}

/// One figure of a metric, with its unit.
pub(crate) fn single(metric: &str, value: f64) -> String {
    if is_time(metric) { in_unit(value, unit_of(value)) } else { three(value) }
}

/// The unit that fits a value of a metric, with its size; without a name for what is no time.
pub(crate) fn scaled(metric: &str, value: f64) -> (&'static str, f64) {
    if is_time(metric) { unit_of(value) } else { ("", 1.0) }
}

fn is_time(metric: &str) -> bool {
    let kind = metric.strip_suffix("_per_exchange").unwrap_or(metric);
    let percentile = metric.starts_with("exchange_p") && metric.ends_with("_ns");
    percentile || matches!(kind, "wall_ns" | "elapsed_ns" | "cpu_ns")
}

fn unit_of(nanos: f64) -> (&'static str, f64) {
    // Less than half of the last digit below a unit is written in that unit: 1.00 ms, not 1,000 us.
    UNITS.into_iter().find(|(_, size)| nanos >= size * 0.9995).unwrap_or(UNITS[3])
}

fn in_unit(nanos: f64, (name, size): (&str, f64)) -> String {
    format!("{} {name}", three(nanos / size))
}

/// A number with three significant digits: `0.210`, `44.1`, `1,230`.
pub(crate) fn three(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".into();
    }
    // Rounded first: 9.996 is 10.0, not 10.00.
    let rounded = format!("{value:.2e}").parse::<f64>().unwrap_or(value);
    if rounded.abs() >= LARGEST_COUNT {
        return format!("{value:.2e}");
    }
    if rounded.abs() >= 1_000.0 {
        let sign = if rounded < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(rounded.abs().round() as u64));
    }
    let magnitude = if rounded == 0.0 { 0.0 } else { rounded.abs().log10().floor() };
    let digits = (2.0 - magnitude).clamp(0.0, 9.0) as usize;
    format!("{rounded:.digits$}")
}

/// An exponent, to two decimals: `1.97`.
pub(crate) fn power(exponent: f64) -> String {
    if !exponent.is_finite() {
        return "unknown".into();
    }
    let text = format!("{exponent:.2}");
    if text == "-0.00" { "0.00".into() } else { text }
}

/// A ratio over 1 for a gain with its interval, in words: `210 times less (95 % interval 198 to 223`, the bracket left
/// open for what else is to be said. No gain is told as how much there is instead.
pub(crate) fn times(metric: &str, ratio: f64, low: f64, high: f64) -> String {
    let (factor, interval) = factor(metric, ratio, low, high);
    format!("{factor} (95 % interval {interval}")
}

/// A ratio over 1 for a gain in words, and its interval: `210 times less`, `198 to 223`.
pub(crate) fn factor(metric: &str, ratio: f64, low: f64, high: f64) -> (String, String) {
    let more = is_better_larger(metric);
    let told =
        |factor: f64, words: &str, low: f64, high: f64| (format!("{} times {words}", three(factor)), range(low, high));
    match ratio >= 1.0 && three(ratio) != "1.00" {
        true => told(ratio, if more { "more" } else { "less" }, low, high),
        false if more => told(ratio, "as much", low, high),
        false => told(1.0 / ratio, "as much", 1.0 / high, 1.0 / low),
    }
}

/// Whether more of a metric is better: then its ratios are after / before.
pub(crate) fn is_better_larger(metric: &str) -> bool {
    metric.starts_with(MORE)
}

/// What the ratios of a metric divide, so that over 1 is a gain.
pub(crate) fn base(metric: &str) -> &'static str {
    if is_better_larger(metric) { "after / before" } else { "before / after" }
}

/// The ends of an interval.
pub(crate) fn range(low: f64, high: f64) -> String {
    format!("{} to {}", three(low), three(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_three_significant_digits() {
        let numbers = [0.0, 0.02104, 0.9996, 1.0, 9.996, 44.06, 222.4, 12_345.0, 2e15];
        let shown = numbers.map(three);
        assert_eq!(shown, ["0.00", "0.0210", "1.00", "1.00", "10.0", "44.1", "222", "12,300", "2.00e15"]);
        assert_eq!(three(f64::NAN), "unknown");
    }

    #[test]
    fn two_times_that_are_compared_share_a_unit() {
        let shown = |before, after| clause("wall_ns_per_exchange", before, after);
        assert_eq!(shown(44_060_000.0, 210_000.0), "a request took 0.210 ms instead of 44.1 ms");
        assert_eq!(shown(1e9, 999.0), "a request took 999 ns instead of 1.00 s");
        assert_eq!(pair("cpu_ns", 999_700.0, 0.0), ("1.00 ms".to_string(), "0.00 ns".to_string()));
    }

    #[test]
    fn a_percentile_is_a_time_and_named_in_words() {
        let shown = clause("exchange_p95_ns", 334e6, 20.1e6);
        assert_eq!(shown, "the 95th percentile of requests was 20.1 ms instead of 334 ms");
        assert_eq!(spread("exchange_p99_ns", 1.2e6, 0.9e6, 1.51e6), "1.20 ms (0.900 to 1.51)");
        assert_eq!(spread("stdout:x", 1.2, 0.9, 1.51), "1.20 (0.900 to 1.51)");
    }

    #[test]
    fn a_figure_of_the_users_own_has_no_unit_of_ours() {
        let shown = clause("stdout:rate=([0-9.]+)", 22.7, 4_761.9);
        assert_eq!(shown, "the printed rate was 4,760 instead of 22.7");
        assert_eq!(noun("stdout:cpu_ms: ([0-9.]+)"), "the printed cpu_ms");
        // A word before a figure need not be its name, and an expression is none.
        assert_eq!(noun("stdout:in ([0-9]+) s"), "the figure of 'in ([0-9]+) s' in the output");
        assert_eq!(noun("stdout:x([0-9]+)"), "the figure of 'x([0-9]+)' in the output");
        assert_eq!(noun("stdout:.*=([0-9]+)"), "the figure of '.*=([0-9]+)' in the output");
    }

    #[test]
    fn a_ratio_says_which_way_it_went() {
        let time = |ratio, low, high| times("wall_ns", ratio, low, high);
        assert_eq!(time(210.0, 198.0, 223.0), "210 times less (95 % interval 198 to 223");
        assert_eq!(time(1.0, 0.99, 1.01), "1.00 times as much (95 % interval 0.990 to 1.01");
        assert_eq!(time(0.5, 0.4, 0.8), "2.00 times as much (95 % interval 1.25 to 2.50");
        let rate = |ratio, low, high| times("stdout-more:rate", ratio, low, high);
        assert_eq!(rate(210.0, 198.0, 223.0), "210 times more (95 % interval 198 to 223");
        assert_eq!(rate(0.5, 0.4, 0.8), "0.500 times as much (95 % interval 0.400 to 0.800");
    }
}
