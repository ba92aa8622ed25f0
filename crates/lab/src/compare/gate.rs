//! Conditions that a comparison must not meet: `wall > 1.05x`. The interval decides, not the point.

use crate::metric::Metric;
use case::{Compared, Gate, GateState};
use std::str::FromStr;

/// A condition as it was typed and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    /// Names of metrics, of which the first that was measured counts.
    metrics: Vec<String>,
    /// Whether it is met above its limit, or below.
    is_above: bool,
    limit: f64,
}

/// Short names, each for the metrics that it can mean: of whole runs where these were measured, else of exchanges.
const SHORT: [(&str, &[Metric]); 7] = [
    ("wall", &[Metric::Wall, Metric::ElapsedPerExchange]),
    ("cpu", &[Metric::Cpu, Metric::CpuPerExchange]),
    ("elapsed", &[Metric::ElapsedPerExchange, Metric::Wall]),
    ("latency", &[Metric::WallPerExchange]),
    ("p50", &[Metric::Median]),
    ("p95", &[Metric::Tail95]),
    ("p99", &[Metric::Tail99]),
];

/// The short name for the figure of `--metric`.
const OWN: &str = "metric";

impl Condition {
    /// As it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What became of it.
    pub fn gate(&self, all: &[Compared]) -> Gate {
        let found = self.metrics.iter().find_map(|name| all.iter().find(|one| one.metric.to_string() == *name));
        let found = found.or_else(|| all.first().filter(|_| self.metrics == [OWN]));
        let mut gate = Gate { condition: self.text.clone(), limit: self.limit, ..Gate::default() };
        let Some(found) = found else {
            gate.metric = self.metrics.first().cloned().map(Metric::from).unwrap_or_default();
            return gate;
        };
        gate.metric.clone_from(&found.metric);
        (gate.ratio, gate.low, gate.high) = (found.ratio, found.low, found.high);
        let (is_beyond, is_within) = if self.is_above {
            (found.low > self.limit, found.high <= self.limit)
        } else {
            (found.high < self.limit, found.low >= self.limit)
        };
        gate.state = match (is_beyond, is_within) {
            (true, _) => GateState::Failed,
            (_, true) => GateState::Passed,
            _ => GateState::Open,
        };
        gate
    }

    /// Whether one of these metrics can decide it.
    pub fn is_decidable_by(&self, metrics: &[Metric]) -> bool {
        let named = |name: &String| metrics.iter().any(|metric| metric.to_string() == *name);
        self.metrics.iter().any(named)
            || (self.metrics == [OWN] && metrics.first().is_some_and(Metric::is_of_the_program))
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let sign = text.find(['>', '<']).ok_or("write METRIC > RATIOx or METRIC < RATIOx, as in wall > 1.05x")?;
        let (name, rest) = text.split_at(sign);
        let (name, limit) = (name.trim(), rest[1..].trim());
        let number = limit.strip_suffix('x').and_then(|number| number.trim().parse::<f64>().ok());
        let limit = number.filter(|number| number.is_finite() && *number > 0.0);
        let limit = limit
            .ok_or_else(|| format!("`{}` is not a ratio; use a number and an x, as in 1.05x", rest[1..].trim()))?;
        Ok(Condition { text: text.trim().to_string(), metrics: metrics(name)?, is_above: rest.starts_with('>'), limit })
    }
}

fn metrics(name: &str) -> Result<Vec<String>, String> {
    if let Some((_, metrics)) = SHORT.iter().find(|(short, _)| *short == name) {
        return Ok(metrics.iter().map(ToString::to_string).collect());
    }
    if name == OWN || Metric::NAMED.iter().any(|metric| metric.to_string() == name) {
        return Ok(vec![name.to_string()]);
    }
    let short = SHORT.iter().map(|(short, _)| *short).collect::<Vec<_>>().join(", ");
    Err(format!("`{name}` is not a metric; use {short}, {OWN} (that of --metric), or a name from the table"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(condition: &str, low: f64, high: f64) -> GateState {
        let wall = Compared { metric: "wall_ns".into(), ratio: low.midpoint(high), low, high, ..Compared::default() };
        condition.parse::<Condition>().expect("a condition").gate(&[wall]).state
    }

    #[test]
    fn the_interval_decides_and_not_the_point() {
        assert_eq!(state("wall > 1.05x", 1.06, 1.2), GateState::Failed);
        assert_eq!(state("wall > 1.05x", 1.01, 1.2), GateState::Open);
        assert_eq!(state("wall>1.05x", 0.9, 1.04), GateState::Passed);
        assert_eq!(state("wall_ns < 0.9x", 0.5, 0.6), GateState::Failed);
        assert_eq!(state("wall_ns < 0.9x", 0.95, 1.1), GateState::Passed);
        assert_eq!(state("cpu > 1.05x", 2.0, 3.0), GateState::Open, "what was not measured decides nothing");
    }

    #[test]
    fn a_condition_that_cannot_be_read_says_what_can() {
        let refused = |text: &str| text.parse::<Condition>().expect_err("refused");
        assert!(refused("wall 1.05x").contains("METRIC > RATIOx"));
        assert!(refused("speed > 1.05x").contains("wall, cpu"));
        assert!(refused("wall > 1.05").contains("1.05x"));
        assert!(refused("wall > -1x").contains("not a ratio"));
    }
}
