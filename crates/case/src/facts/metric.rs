//! What a trial is judged by: one number of its row. Less is better, but for a figure of the program's own that says
//! otherwise.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use storage::tables::Trial;

/// One number of a trial. In JSON one string: `wall_ns_per_exchange`, `stdout:REGEX`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Metric {
    /// The mean length of an exchange: from the first byte of a request to the last of its response.
    WallPerExchange,
    /// The length that half of the exchanges stay below.
    Median,
    /// The length that 95 % of the exchanges stay below.
    Tail95,
    /// The length that 99 % of the exchanges stay below.
    Tail99,
    /// The window's length over its exchanges: what lies between exchanges is part of it.
    ElapsedPerExchange,
    /// CPU time of both ends over the exchanges.
    CpuPerExchange,
    /// The length of the whole run.
    Wall,
    /// CPU time of the whole run, both ends.
    Cpu,
    /// The first group (or else the whole match) of a regular expression in the client's standard output.
    Output {
        /// The expression.
        expression: String,
        /// Which way is better.
        better: Better,
    },
    /// What a load says of itself: the client is `whyslow load`, with `--json`.
    Load {
        /// Which of its figures.
        figure: LoadFigure,
    },
    /// One that this version does not know: its name is all there is. Empty where nothing was measured.
    Other {
        /// The name.
        name: String,
    },
}

impl Default for Metric {
    fn default() -> Metric {
        Metric::Other { name: String::new() }
    }
}

/// What is no metric, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MetricError(pub String);

/// Which way a metric gets better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Better {
    /// Less of it: a time, a cost.
    #[default]
    Less,
    /// More of it: a rate.
    More,
}

/// A figure of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadFigure {
    /// Answers a second; more is better.
    Rate,
    /// The median latency, from the intended start.
    Median,
    /// The 99th percentile of the latency, from the intended start.
    Tail99,
}

impl LoadFigure {
    const ALL: [LoadFigure; 3] = [LoadFigure::Rate, LoadFigure::Median, LoadFigure::Tail99];

    fn name(self) -> &'static str {
        match self {
            LoadFigure::Rate => "answered_per_second",
            LoadFigure::Median => "latency_p50_ns",
            LoadFigure::Tail99 => "latency_p99_ns",
        }
    }

    /// Finds it in the document of a load. One without an answer has none.
    fn find_in(self, output: &[u8]) -> Option<f64> {
        let load = serde_json::from_slice::<serde_json::Value>(output).ok()?;
        let figure = match self {
            LoadFigure::Rate => &load["answered_per_second"],
            LoadFigure::Median => &load["latency"]["p50_ns"],
            LoadFigure::Tail99 => &load["latency"]["p99_ns"],
        };
        figure.as_f64().filter(|figure| *figure > 0.0)
    }
}

/// What stands before a regular expression where less is better.
const LESS: &str = "stdout:";
/// What stands before a regular expression where more is better.
const MORE: &str = "stdout-more:";

impl Metric {
    /// Those that have a name, all but a figure of the program's own.
    pub const NAMED: [Metric; 8] = [
        Metric::WallPerExchange,
        Metric::ElapsedPerExchange,
        Metric::CpuPerExchange,
        Metric::Median,
        Metric::Tail95,
        Metric::Tail99,
        Metric::Wall,
        Metric::Cpu,
    ];

    /// Whether nothing was measured, or nobody kept what.
    pub fn is_none(&self) -> bool {
        matches!(self, Metric::Other { name } if name.is_empty())
    }

    /// The metric that is named so; none where it is not known. A pattern is not checked.
    fn of_name(name: &str) -> Option<Metric> {
        let output = |expression: &str, better| Metric::Output { expression: expression.to_string(), better };
        let named = || Metric::NAMED.into_iter().find(|metric| metric.to_string() == name);
        let load =
            || LoadFigure::ALL.into_iter().find(|figure| figure.name() == name).map(|figure| Metric::Load { figure });
        let less = || name.strip_prefix(LESS).map(|expression| output(expression, Better::Less));
        let more = || name.strip_prefix(MORE).map(|expression| output(expression, Better::More));
        named().or_else(load).or_else(less).or_else(more)
    }

    /// Whether it is a time, in nanoseconds; a figure of the program's own has the unit that the program gives it.
    pub fn is_time(&self) -> bool {
        !matches!(self, Metric::Output { .. } | Metric::Load { figure: LoadFigure::Rate } | Metric::Other { .. })
    }

    /// Whether it is CPU time.
    pub fn is_processor(&self) -> bool {
        matches!(self, Metric::Cpu | Metric::CpuPerExchange)
    }

    /// Whether it is a figure of the program's own, found in what it writes.
    pub fn is_of_the_program(&self) -> bool {
        matches!(self, Metric::Output { .. } | Metric::Load { .. })
    }

    /// Whether it is of exchanges; else of whole runs, or what the program says.
    pub fn is_of_exchanges(&self) -> bool {
        !matches!(self, Metric::Wall | Metric::Cpu | Metric::Output { .. } | Metric::Load { .. } | Metric::Other { .. })
    }

    /// Those shown beside the one a finding is judged by: whoever looks at one asks for the others. `exchanges` is how
    /// many there were.
    pub fn others(&self, exchanges: u64) -> Vec<Metric> {
        let all = match exchanges {
            0 => vec![Metric::Wall, Metric::Cpu],
            _ => vec![Metric::ElapsedPerExchange, Metric::WallPerExchange, Metric::CpuPerExchange],
        };
        all.into_iter().filter(|one| one != self).collect()
    }

    /// Whether it is of whole runs: such a trial must not be cut.
    pub fn needs_whole_run(&self) -> bool {
        matches!(self, Metric::Wall | Metric::Cpu | Metric::Output { .. } | Metric::Load { .. })
    }

    /// The number, of a trial that has one; always such that less is better.
    pub fn of(&self, trial: &Trial) -> Option<f64> {
        let cpu = trial.client_user.0 + trial.client_system.0 + trial.server_user.0 + trial.server_system.0;
        let each = |nanos: u64| (trial.exchanges > 0).then(|| nanos as f64 / trial.exchanges as f64);
        let value = match self {
            Metric::WallPerExchange => each(trial.exchange_wall.0)?,
            Metric::Median => trial.exchange_p50.0 as f64,
            Metric::Tail95 => trial.exchange_p95.0 as f64,
            Metric::Tail99 => trial.exchange_p99.0 as f64,
            Metric::ElapsedPerExchange => each(trial.wall.0)?,
            Metric::CpuPerExchange => each(cpu)?,
            // Of a run that was given up this is how long we waited.
            Metric::Wall | Metric::Cpu if trial.exit < 0 => return None,
            Metric::Wall => trial.wall.0 as f64,
            Metric::Cpu => cpu as f64,
            Metric::Output { .. } | Metric::Load { .. } if self.more_is_better() => trial.metric.recip(),
            Metric::Output { .. } | Metric::Load { .. } => trial.metric,
            Metric::Other { .. } => return None,
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }

    /// The number as it is shown: the program's own figure as the program writes it.
    pub fn shown(&self, value: f64) -> f64 {
        match self {
            _ if self.more_is_better() => value.recip(),
            _ => value,
        }
    }

    /// Finds the figure in what the client wrote.
    pub fn find_in(&self, output: &[u8]) -> Option<f64> {
        self.values_in(output).first().copied().filter(|value| value.is_finite())
    }

    /// Finds the figure wherever it stands in what the client wrote, as the program writes it.
    pub fn values_in(&self, output: &[u8]) -> Vec<f64> {
        if let Metric::Load { figure } = self {
            return figure.find_in(output).into_iter().collect();
        }
        let Metric::Output { expression, .. } = self else { return Vec::new() };
        // An expression that was read once is one.
        let Ok(expression) = Regex::new(expression) else { return Vec::new() };
        let text = String::from_utf8_lossy(output);
        let found = expression.captures_iter(&text).filter_map(|captures| captures.get(1).or_else(|| captures.get(0)));
        found.map(|found| found.as_str().trim().parse().unwrap_or(f64::NAN)).collect()
    }

    /// Whether more of it is better.
    pub fn more_is_better(&self) -> bool {
        matches!(self, Metric::Output { better: Better::More, .. } | Metric::Load { figure: LoadFigure::Rate })
    }
}

impl FromStr for Metric {
    type Err = MetricError;

    fn from_str(text: &str) -> Result<Metric, MetricError> {
        let Some(metric) = Metric::of_name(text) else {
            let known = "stdout:REGEX, stdout-more:REGEX, wall_ns, cpu_ns, wall_ns_per_exchange, \
                         elapsed_ns_per_exchange, cpu_ns_per_exchange, exchange_p50_ns, exchange_p95_ns, \
                         exchange_p99_ns; of a load answered_per_second, \
                         latency_p50_ns, latency_p99_ns";
            return Err(MetricError(format!("`{text}` is not a metric; use {known}")));
        };
        let Metric::Output { expression, .. } = &metric else { return Ok(metric) };
        match Regex::new(expression) {
            Ok(_) => Ok(metric),
            Err(error) => {
                let reason = error.to_string().lines().last().unwrap_or_default().trim().to_string();
                Err(MetricError(format!("`{expression}` is not a regular expression: {reason}")))
            }
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::WallPerExchange => out.write_str("wall_ns_per_exchange"),
            Metric::Median => out.write_str("exchange_p50_ns"),
            Metric::Tail95 => out.write_str("exchange_p95_ns"),
            Metric::Tail99 => out.write_str("exchange_p99_ns"),
            Metric::ElapsedPerExchange => out.write_str("elapsed_ns_per_exchange"),
            Metric::CpuPerExchange => out.write_str("cpu_ns_per_exchange"),
            Metric::Wall => out.write_str("wall_ns"),
            Metric::Cpu => out.write_str("cpu_ns"),
            Metric::Output { expression, better: Better::Less } => write!(out, "{LESS}{expression}"),
            Metric::Output { expression, better: Better::More } => write!(out, "{MORE}{expression}"),
            Metric::Load { figure } => out.write_str(figure.name()),
            Metric::Other { name } => out.write_str(name),
        }
    }
}

/// As a document names it, whatever that is. What a user asks for is parsed instead, and refused where it is unknown.
impl From<String> for Metric {
    fn from(name: String) -> Metric {
        Metric::of_name(&name).unwrap_or(Metric::Other { name })
    }
}

impl From<&str> for Metric {
    fn from(name: &str) -> Metric {
        name.to_string().into()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> String {
        metric.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cost;
    use storage::Nanos;

    fn trial() -> Trial {
        Trial {
            wall: Nanos(1_000),
            exchanges: 10,
            exchange_wall: Nanos(600),
            client_user: Nanos(100),
            server_system: Nanos(50),
            metric: 4.0,
            ..Trial::default()
        }
    }

    #[test]
    fn each_metric_is_its_number_of_the_trial() {
        let value = |name: &str| name.parse::<Metric>().expect("a metric").of(&trial());
        assert_eq!(value("wall_ns_per_exchange"), Some(60.0));
        assert_eq!(value("elapsed_ns_per_exchange"), Some(100.0));
        assert_eq!(value("cpu_ns_per_exchange"), Some(15.0));
        assert_eq!(value("wall_ns"), Some(1_000.0));
        assert_eq!(value("stdout:x"), Some(4.0));
        assert_eq!(value("stdout-more:x"), Some(0.25));
        assert_eq!(Metric::WallPerExchange.of(&Trial { exchanges: 0, ..trial() }), None);
        assert_eq!(Metric::Wall.of(&Trial { exit: -1, ..trial() }), None);
    }

    #[test]
    fn a_figure_is_found_in_the_output_and_a_bad_expression_is_refused() {
        let metric = "stdout:median ([0-9.]+) ms".parse::<Metric>().expect("a metric");
        assert_eq!(metric.find_in(b"100 requests, median 44.20 ms\n"), Some(44.2));
        assert_eq!(metric.find_in(b"nothing"), None);
        assert_eq!(metric.values_in(b"median 1 ms\nmedian 2.5 ms\n"), [1.0, 2.5]);
        assert!("stdout:(".parse::<Metric>().is_err());
        assert!("speed".parse::<Metric>().is_err_and(|error| error.to_string().contains("stdout:REGEX")));
    }

    #[test]
    fn figures_of_a_load_are_found_in_its_document() {
        let document = br#"{"answered_per_second": 1590.25, "latency": {"p50_ns": 5000000, "p99_ns": 7}}"#;
        let found = |name: &str| name.parse::<Metric>().expect("a metric").find_in(document);
        assert_eq!(found("answered_per_second"), Some(1590.25));
        assert_eq!((found("latency_p50_ns"), found("latency_p99_ns")), (Some(5e6), Some(7.0)));
        let rate = "answered_per_second".parse::<Metric>().expect("a metric");
        assert_eq!(rate.of(&trial()).map(|value| rate.shown(value)), Some(4.0));
        assert!(rate.more_is_better() && rate.needs_whole_run() && !rate.is_time());
        assert_eq!(rate.find_in(b"No request was answered"), None);
        assert_eq!(rate.find_in(br#"{"answered_per_second": 0.0}"#), None);
    }

    #[test]
    fn it_is_one_string_in_json_also_where_it_is_not_known() {
        let named = Metric::NAMED.map(|metric| metric.to_string());
        let others = ["stdout:rate=(.*)", "stdout-more:(", "energy_joules", ""].map(String::from);
        for name in named.into_iter().chain(others) {
            let json = serde_json::to_string(&Metric::from(name.clone())).expect("JSON");
            assert_eq!(json, serde_json::to_string(&name).expect("JSON"));
            assert_eq!(serde_json::from_str::<Metric>(&json).expect("a metric"), Metric::from(name));
        }
        assert!(Metric::default().is_none() && !Metric::Wall.is_none());
    }

    #[test]
    fn a_cost_between_exchanges_is_judged_by_elapsed_time() {
        let cost = Cost { ns_per_exchange: 10, between_ns_per_exchange: 9, share_of_wall: 0.9, ..Cost::default() };
        assert_eq!(cost.metric(5), Metric::ElapsedPerExchange);
        assert_eq!(Cost { between_ns_per_exchange: 0, ..cost }.metric(5), Metric::WallPerExchange);
        assert_eq!(Cost { share_of_cpu: 1.0, ..cost }.metric(5), Metric::CpuPerExchange);
        assert_eq!(cost.metric(0), Metric::Wall);
    }
}
