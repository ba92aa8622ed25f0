//! Timings in a file, to be judged again: a line an experiment, its timings in the order in which they were taken.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use crate::experiment::Experiment;
use crate::workload::Workload;

/// Timings, and one line that says where and when they were taken.
pub struct Timings {
    pub conditions: String,
    pub experiments: Vec<Experiment>,
}

/// Writes the conditions after a `#`; then of each experiment workload, `neighbour` or `alone`, the longer arm's ratio, the seed of the order, and whole microseconds.
pub fn keep(timings: &Timings, file: &Path) -> io::Result<()> {
    let mut text = format!("#{}\n", timings.conditions);
    for experiment in &timings.experiments {
        let neighbour = if experiment.disturbed { "neighbour" } else { "alone" };
        // Writing into a string cannot fail.
        let _ = write!(text, "{},{neighbour},{},{}", experiment.workload.name(), experiment.ratio, experiment.seed);
        for seconds in &experiment.in_order {
            let _ = write!(text, ",{:.0}", seconds * 1e6);
        }
        text.push('\n');
    }
    fs::write(file, text)
}

/// Reads what [`keep`] wrote.
pub fn kept(file: &Path) -> io::Result<Timings> {
    let text = fs::read_to_string(file)?;
    let broken = |number: usize| io::Error::other(format!("{}:{}: no experiment", file.display(), number + 1));
    let mut timings = Timings { conditions: String::new(), experiments: Vec::new() };
    for (number, line) in text.lines().enumerate() {
        match line.strip_prefix('#') {
            Some(conditions) => conditions.clone_into(&mut timings.conditions),
            None => timings.experiments.push(experiment(line).ok_or_else(|| broken(number))?),
        }
    }
    Ok(timings)
}

fn experiment(line: &str) -> Option<Experiment> {
    let mut words = line.split(',');
    let name = words.next()?;
    let workload = Workload::ALL.into_iter().find(|workload| workload.name() == name)?;
    let disturbed = words.next()? == "neighbour";
    let (ratio, seed) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let in_order: Option<Vec<f64>> = words.map(|word| Some(word.parse::<f64>().ok()? / 1e6)).collect();
    Some(Experiment::new(workload, ratio, disturbed, seed, in_order?))
}
