//! How a measured figure is written: three significant digits and the unit of its metric; how a ratio is said in words,
//! its base named.

use crate::text::{clean, count};
use case::Share;
use case::facts::{LoadFigure, Metric};

/// Two lengths are written in one unit, so that they can be compared at a glance, where they differ by less than this.
const SAME_UNIT: f64 = 1_000.0;
/// A larger number is written with its power of ten.
const LARGEST_COUNT: f64 = 1e12;
/// Units that programs print behind their figures.
const PRINTED_UNITS: [&str; 9] = ["ns", "us", "ms", "s", "%", "MB/s", "kB/s", "req/s", "requests/s"];
/// Units of time, and what each is in nanoseconds.
const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];

/// What a metric measures, as a noun: `time per request`.
pub(crate) fn noun(metric: &Metric) -> String {
    match metric {
        Metric::WallPerExchange => "time per request".into(),
        Metric::ElapsedPerExchange => "elapsed time per request".into(),
        Metric::CpuPerExchange => "CPU time per request".into(),
        Metric::Wall => "time per run".into(),
        Metric::Cpu => "CPU time per run".into(),
        Metric::Median => "median request time".into(),
        Metric::Tail95 => "p95 request time".into(),
        Metric::Tail99 => "p99 request time".into(),
        Metric::Output { expression, .. } => printed(expression),
        Metric::Load { figure: LoadFigure::Rate } => "rate of answers".into(),
        Metric::Load { figure: LoadFigure::Median } => "median latency".into(),
        Metric::Load { figure: LoadFigure::Tail99 } => "p99 latency".into(),
        Metric::Other { .. } if metric.is_none() => "figure measured".into(),
        Metric::Other { name } => clean(name),
    }
}

/// A figure of the program's output: by the name that stands before it, else by its pattern.
fn printed(pattern: &str) -> String {
    let before = pattern.split('(').next().unwrap_or_default();
    let name = before.trim_end_matches(['=', ':', ' ']);
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' '));
    let is_set_apart = before[name.len()..].contains(['=', ':']) || is_percentile(name);
    if is_name && is_set_apart && !name.is_empty() {
        format!("printed {name}")
    } else {
        format!("output figure '{}'", clean(pattern))
    }
}

/// Whether a word names a percentile, as `p95` does: then it is a name without a sign behind it, too.
fn is_percentile(word: &str) -> bool {
    word.strip_prefix('p').is_some_and(|digits| !digits.is_empty() && digits.chars().all(|one| one.is_ascii_digit()))
}

/// The unit that the program prints behind a figure, where its pattern has it: `ms` in `p95 ([0-9.]+) ms`.
fn printed_unit(metric: &Metric) -> &'static str {
    let Metric::Output { expression, .. } = metric else { return "" };
    let after = expression.rsplit_once(')').map_or("", |(_, after)| after.trim());
    PRINTED_UNITS.into_iter().find(|unit| *unit == after).unwrap_or_default()
}

/// Two figures against each other, in a clause: `a request took 0.210 ms instead of 44.1 ms`.
pub(crate) fn clause(metric: &Metric, before: f64, after: f64) -> String {
    let (before, after) = pair(metric, before, after);
    match metric {
        Metric::WallPerExchange => format!("a request took {after} instead of {before}"),
        Metric::CpuPerExchange => format!("a request took {after} of CPU time instead of {before}"),
        Metric::Wall => format!("the run took {after} instead of {before}"),
        Metric::Cpu => format!("the run took {after} of CPU time instead of {before}"),
        _ => format!("the {} was {after} instead of {before}", noun(metric)),
    }
}

/// Two figures of a metric, with their unit: the same for both unless they are far apart.
pub(crate) fn pair(metric: &Metric, first: f64, second: f64) -> (String, String) {
    if !metric.is_time() {
        let figure = |value: f64| format!("{} {}", three(value), printed_unit(metric)).trim_end().to_string();
        return (figure(first), figure(second));
    }
    let (most, least) = (first.max(second), first.min(second));
    if least > 0.0 && most / least < SAME_UNIT {
        let unit = unit_of(most);
        return (in_unit(first, unit), in_unit(second, unit));
    }
    (in_unit(first, unit_of(first)), in_unit(second, unit_of(second)))
}

/// A figure of a metric with its unit, and the ends of its interval in that unit: `44.1 ms (43.9 to 44.3)`.
pub(crate) fn spread(metric: &Metric, value: f64, low: f64, high: f64) -> String {
    if !metric.is_time() {
        return format!("{} ({})", three(value), range(low, high));
    }
    let unit = unit_of(value);
    format!("{} ({})", in_unit(value, unit), range(low / unit.1, high / unit.1))
}

/// One figure of a metric, with its unit.
pub(crate) fn single(metric: &Metric, value: f64) -> String {
    if metric.is_time() { in_unit(value, unit_of(value)) } else { three(value) }
}

/// The unit that fits a value of a metric, with its size; without a name for what is no time.
pub(crate) fn scaled(metric: &Metric, value: f64) -> (&'static str, f64) {
    if metric.is_time() { unit_of(value) } else { ("", 1.0) }
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
/// open for what else is to be said. A loss is said as how much more there is.
pub(crate) fn times(metric: &Metric, ratio: f64, low: f64, high: f64) -> String {
    let (factor, interval) = factor(metric, ratio, low, high);
    format!("{factor} (95 % interval {interval}")
}

/// A ratio over 1 for a gain in words, and its interval: `210 times less`, `198 to 223`.
pub(crate) fn factor(metric: &Metric, ratio: f64, low: f64, high: f64) -> (String, String) {
    let is_gain = ratio >= 1.0;
    if three(ratio) == "1.00" || three(1.0 / ratio) == "1.00" {
        return ("unchanged".into(), range(low, high));
    }
    // Over 1 in either direction: a ratio below it is turned round, and so is its interval.
    let (factor, low, high) = if is_gain { (ratio, low, high) } else { (1.0 / ratio, 1.0 / high, 1.0 / low) };
    let word = if is_gain == metric.more_is_better() { "more" } else { "less" };
    (format!("{} times {word}", three(factor)), range(low, high))
}

/// A ratio as a change: `12 % more`, `8.0 % less`.
pub(crate) fn change(ratio: f64) -> String {
    match ratio {
        _ if ratio >= 2.0 => format!("{} times more", three(ratio - 1.0)),
        _ if ratio >= 1.0 => format!("{} more", Share(ratio - 1.0)),
        _ => format!("{} less", Share(1.0 - ratio)),
    }
}

/// Whether B of a comparison is the better side beyond doubt.
pub(crate) fn is_better(compared: &case::Compared) -> bool {
    let better = if compared.metric.more_is_better() { case::Contrast::More } else { case::Contrast::Less };
    compared.outcome == better
}

/// Whether a metric is a mean over requests.
pub(crate) fn is_each_request(metric: &Metric) -> bool {
    use Metric::{CpuPerExchange, ElapsedPerExchange, WallPerExchange};
    matches!(metric, WallPerExchange | ElapsedPerExchange | CpuPerExchange)
}

/// What the ratios of a metric divide, so that over 1 is a gain.
pub(crate) fn base(metric: &Metric) -> &'static str {
    if metric.more_is_better() { "after / before" } else { "before / after" }
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
        let shown = |before, after| clause(&"wall_ns_per_exchange".into(), before, after);
        assert_eq!(shown(44_060_000.0, 210_000.0), "a request took 0.210 ms instead of 44.1 ms");
        assert_eq!(shown(1e9, 999.0), "a request took 999 ns instead of 1.00 s");
        assert_eq!(pair(&"cpu_ns".into(), 999_700.0, 0.0), ("1.00 ms".to_string(), "0.00 ns".to_string()));
    }

    #[test]
    fn a_percentile_is_a_time_and_named_in_words() {
        let shown = clause(&"exchange_p95_ns".into(), 334e6, 20.1e6);
        assert_eq!(shown, "the p95 request time was 20.1 ms instead of 334 ms");
        assert_eq!(spread(&"exchange_p99_ns".into(), 1.2e6, 0.9e6, 1.51e6), "1.20 ms (0.900 to 1.51)");
        assert_eq!(spread(&"stdout:x".into(), 1.2, 0.9, 1.51), "1.20 (0.900 to 1.51)");
    }

    #[test]
    fn a_figure_of_the_users_own_has_no_unit_of_ours() {
        let shown = clause(&"stdout:rate=([0-9.]+)".into(), 22.7, 4_761.9);
        assert_eq!(shown, "the printed rate was 4,760 instead of 22.7");
        assert_eq!(noun(&"stdout:cpu_ms: ([0-9.]+)".into()), "printed cpu_ms");
        assert_eq!(noun(&"stdout:p95 ([0-9.]+) ms".into()), "printed p95");
        assert_eq!(pair(&"stdout:p95 ([0-9.]+) ms".into(), 183.0, 7.34), ("183 ms".to_string(), "7.34 ms".to_string()));
        // A word before a figure need not be its name, and an expression is none.
        assert_eq!(noun(&"stdout:in ([0-9]+) s".into()), "output figure 'in ([0-9]+) s'");
        assert_eq!(noun(&"stdout:x([0-9]+)".into()), "output figure 'x([0-9]+)'");
        assert_eq!(noun(&"stdout:.*=([0-9]+)".into()), "output figure '.*=([0-9]+)'");
    }

    #[test]
    fn a_ratio_says_which_way_it_went() {
        let time = |ratio, low, high| times(&"wall_ns".into(), ratio, low, high);
        assert_eq!(time(210.0, 198.0, 223.0), "210 times less (95 % interval 198 to 223");
        assert_eq!(time(1.0, 0.99, 1.01), "unchanged (95 % interval 0.990 to 1.01");
        assert_eq!(time(0.5, 0.4, 0.8), "2.00 times more (95 % interval 1.25 to 2.50");
        let rate = |ratio, low, high| times(&"stdout-more:rate".into(), ratio, low, high);
        assert_eq!(rate(210.0, 198.0, 223.0), "210 times more (95 % interval 198 to 223");
        assert_eq!(rate(0.5, 0.4, 0.8), "2.00 times less (95 % interval 1.25 to 2.50");
    }
}
