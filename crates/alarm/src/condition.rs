//! When an alarm is raised: `cpu > 30 % for 10 min`, `cpu-per-request changed`, `finding busy-spin`, `gone for 1 min`.

use case::{ServiceSample, WatchedMetric};
use std::str::FromStr;
use std::time::Duration;

/// What is asked of a service.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A figure is over or under a limit.
    Limit {
        /// The figure.
        figure: Figure,
        /// Whether it must be over it.
        over: bool,
        /// The limit, in the figure's unit.
        limit: f64,
        /// For how long.
        lasting: Duration,
    },
    /// A change point, or out of line with the others.
    Changed(WatchedMetric),
    /// A recording has found this cause; none for any.
    Finding(Option<String>),
    /// It does not run.
    Gone(Duration),
}

/// A figure of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// CPU time, as a share of one CPU.
    Cpu,
    /// The share that it takes: of one CPU's time, for a service; see [`Figure::ShareOfRequests`] for logs.
    Share,
    /// The share of all requests in a log that are its.
    ShareOfRequests,
    /// CPU time a request, in nanoseconds.
    CpuPerRequest,
    /// Requests a second.
    Requests,
    /// Until an answer's first byte, a request, in nanoseconds.
    AnswerTime,
    /// The share of answers with a status of 5xx.
    Failures,
    /// Memory, in bytes.
    Memory,
    /// The share of time that it was throttled.
    Throttled,
    /// The share of time that threads waited for a CPU, summed over them.
    RunDelay,
    /// Segments sent again, a second.
    Retransmitted,
    /// Connections dropped by full queues, a second.
    Overflows,
}

const FIGURES: [(&str, Figure); 11] = [
    ("cpu", Figure::Cpu),
    ("share", Figure::Share),
    ("cpu-per-request", Figure::CpuPerRequest),
    ("requests", Figure::Requests),
    ("answer-time", Figure::AnswerTime),
    ("failures", Figure::Failures),
    ("memory", Figure::Memory),
    ("throttled", Figure::Throttled),
    ("run-delay", Figure::RunDelay),
    ("retransmitted", Figure::Retransmitted),
    ("overflows", Figure::Overflows),
];

impl Figure {
    /// Its value in an interval, in which all did this; none where there is none.
    pub fn of(self, sample: &ServiceSample, all: &[ServiceSample]) -> Option<f64> {
        let seconds = sample.length.seconds();
        if seconds <= 0.0 {
            return None;
        }
        match self {
            Figure::Cpu | Figure::Share => Some(sample.cpu().seconds() / seconds),
            Figure::ShareOfRequests => {
                let requests: u64 = all.iter().map(|one| one.requests).sum();
                (requests > 0).then(|| sample.requests as f64 / requests as f64)
            }
            Figure::CpuPerRequest => sample.cpu_per_request(),
            Figure::Requests => sample.counts_requests.then_some(sample.requests as f64 / seconds),
            Figure::AnswerTime => sample.answering_per_request(),
            Figure::Failures => (sample.requests > 0).then(|| sample.failures as f64 / sample.requests as f64),
            Figure::Memory => Some(sample.memory as f64),
            Figure::Throttled => Some(sample.throttled.seconds() / seconds),
            Figure::RunDelay => Some(sample.run_delay.seconds() / seconds),
            Figure::Retransmitted => Some(sample.retransmitted as f64 / seconds),
            Figure::Overflows => Some(sample.overflows as f64 / seconds),
        }
    }

    /// What it is where a log is watched, of which agents are the services; none for what a log does not say.
    fn of_log(self) -> Option<Figure> {
        match self {
            Figure::Share | Figure::ShareOfRequests => Some(Figure::ShareOfRequests),
            Figure::Requests | Figure::AnswerTime | Figure::Failures => Some(self),
            _ => None,
        }
    }

    /// The factors of the units that its limits may have.
    fn units(self) -> &'static [(&'static str, f64)] {
        const SHARES: &[(&str, f64)] = &[("%", 0.01), ("", 1.0)];
        const TIMES: &[(&str, f64)] = &[("us", 1e3), ("ms", 1e6), ("s", 1e9)];
        const SIZES: &[(&str, f64)] = &[("MB", 1e6), ("GB", 1e9), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)];
        const RATES: &[(&str, f64)] = &[("/s", 1.0), ("", 1.0), ("/min", 1.0 / 60.0)];
        match self {
            Figure::Cpu
            | Figure::Share
            | Figure::ShareOfRequests
            | Figure::Failures
            | Figure::Throttled
            | Figure::RunDelay => SHARES,
            Figure::CpuPerRequest | Figure::AnswerTime => TIMES,
            Figure::Memory => SIZES,
            Figure::Requests | Figure::Retransmitted | Figure::Overflows => RATES,
        }
    }
}

impl Condition {
    /// The same asked of a log; none for what a log does not say.
    pub fn of_log(&self) -> Option<Condition> {
        match self {
            Condition::Limit { figure, over, limit, lasting } => {
                Some(Condition::Limit { figure: figure.of_log()?, over: *over, limit: *limit, lasting: *lasting })
            }
            _ => None,
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        // `CPU per request` is how people write it.
        let lower = text
            .trim()
            .to_lowercase()
            .replace("cpu per request", "cpu-per-request")
            .replace("answer time", "answer-time");
        let (rest, lasting) = match lower.split_once(" for ") {
            Some((rest, length)) => (rest.trim(), self::length(length)?),
            None => (lower.as_str(), Duration::ZERO),
        };
        if rest == "gone" {
            return Ok(Condition::Gone(lasting));
        }
        if let Some(name) = rest.strip_prefix("finding ") {
            let name = name.trim().trim_matches('\'');
            return Ok(Condition::Finding((name != "any").then(|| name.to_string())));
        }
        if let Some(metric) = rest.strip_suffix(" changed") {
            return Ok(Condition::Changed(match metric.trim() {
                "cpu-per-request" => WatchedMetric::CpuPerRequest,
                "answer-time" => WatchedMetric::AnswerTime,
                "failures" => WatchedMetric::Failures,
                "cpu" => WatchedMetric::Cpu,
                other => {
                    return Err(format!(
                        "`{other}` is not looked at for changes; cpu-per-request, answer-time, failures and cpu are"
                    ));
                }
            }));
        }
        let at = rest.find(['>', '<']).ok_or_else(|| {
            format!("`{text}` is no condition: 'cpu > 30 % for 10 min', 'cpu-per-request changed', 'finding busy-spin' or 'gone for 1 min'")
        })?;
        let (name, limit) = (rest[..at].trim(), rest[at + 1..].trim());
        let known = FIGURES.iter().find(|(known, _)| *known == name);
        let names = || FIGURES.map(|(name, _)| name).join(", ");
        let (_, figure) = known.ok_or_else(|| format!("`{name}` is no figure; there are {}", names()))?;
        let end = limit.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(limit.len());
        let (number, unit) = (limit[..end].parse::<f64>(), limit[end..].trim());
        let factor = figure.units().iter().find(|(known, _)| known.eq_ignore_ascii_case(unit));
        let units = || {
            figure.units().iter().map(|(unit, _)| *unit).filter(|unit| !unit.is_empty()).collect::<Vec<_>>().join(", ")
        };
        match (number, factor) {
            (Ok(number), Some((_, factor))) => Ok(Condition::Limit {
                figure: *figure,
                over: rest.as_bytes()[at] == b'>',
                limit: number * factor,
                lasting,
            }),
            _ => Err(format!("`{limit}` is no limit for {name}: a number with one of {}", units())),
        }
    }
}

/// A length of time: `90 s`, `10 min`, `2 h`.
fn length(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let seconds = match text[end..].trim() {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        _ => 0,
    };
    let number = text[..end].parse::<u64>().ok().filter(|number| (1..=100_000).contains(number) && seconds > 0);
    number
        .map(|number| Duration::from_secs(number * seconds))
        .ok_or_else(|| format!("`{text}` is no length of time: 90 s, 10 min, 2 h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Condition>();
        let limit = |figure, over, limit, lasting| {
            Ok(Condition::Limit { figure, over, limit, lasting: Duration::from_secs(lasting) })
        };
        assert_eq!(read("share > 30 % for 10 min"), limit(Figure::Share, true, 0.3, 600));
        assert_eq!(read("CPU per request > 5 ms"), limit(Figure::CpuPerRequest, true, 5e6, 0));
        assert_eq!(read("requests < 1/s for 90 s"), limit(Figure::Requests, false, 1.0, 90));
        assert_eq!(read("memory>2GiB"), limit(Figure::Memory, true, 2_147_483_648.0, 0));
        assert_eq!(read("CPU per request changed"), Ok(Condition::Changed(WatchedMetric::CpuPerRequest)));
        assert_eq!(read("finding busy-spin"), Ok(Condition::Finding(Some("busy-spin".into()))));
        assert_eq!(read("finding any"), Ok(Condition::Finding(None)));
        assert_eq!(read("gone for 1 min"), Ok(Condition::Gone(Duration::from_mins(1))));
        for wrong in
            ["", "cpu", "cpu > ", "cpu > 5 ms", "memory > 5 %", "nonsense > 5", "memory changed", "cpu > 1 % for ever"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
