//! Calibrates the sequential rule on real timings of this machine and writes the tables of docs/statistics.md.
//!
//! Usage: calibrate [--experiments N] [--keep FILE | --again FILE] [PAGE]
//!
//! Runs N experiments (1,000) in which both arms are the same program, to the last look, and counts alarms; plants
//! effects in their timings, and measures programs that really are 3 % longer. Without PAGE the tables are printed.
//! --keep writes the timings to FILE; --again judges those of FILE instead of measuring.

mod experiment;
mod neighbour;
mod page;
mod summary;
mod timings;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use experiment::Experiment;
use timings::Timings;
use workload::Workload;

/// Real experiments of a program that is 3 % longer, for each of two workloads: enough to tell 95 % from 88 %.
const LONGER: usize = 150;

struct Arguments {
    experiments: usize,
    keep: Option<PathBuf>,
    again: Option<PathBuf>,
    page: Option<PathBuf>,
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { experiments: 1_000, keep: None, again: None, page: None };
    while let Some(word) = given.next() {
        let mut next = || given.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--experiments" => arguments.experiments = next()?.parse().map_err(|error| format!("{word}: {error}"))?,
            "--again" => arguments.again = Some(next()?.into()),
            "--keep" => arguments.keep = Some(next()?.into()),
            _ => arguments.page = Some(word.into()),
        }
    }
    Ok(arguments)
}

fn calibrate(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let timings = match &arguments.again {
        Some(file) => timings::kept(file)?,
        None => measured(arguments.experiments)?,
    };
    if let Some(file) = &arguments.keep {
        timings::keep(&timings, file)?;
    }
    let (longer, equal): (Vec<_>, Vec<_>) = timings.experiments.into_iter().partition(|one| one.ratio > 1.0);
    let tables = format!("{}\n{}", timings.conditions, summary::tables(&equal, &longer));
    match &arguments.page {
        Some(page) => page::put(page, &tables)?,
        None => print!("{tables}"),
    }
    Ok(())
}

fn measured(count: usize) -> std::io::Result<Timings> {
    let before = load();
    let mut experiments = Vec::new();
    for number in 0..count {
        let workload = Workload::ALL[number % Workload::ALL.len()];
        // The workloads take turns, without and with a neighbour.
        let disturbed = number / Workload::ALL.len() % 2 == 1;
        experiments.push(Experiment::run(workload, 1.0, disturbed, number as u64)?);
        if number % 50 == 49 {
            eprintln!("calibrate: {} of {count} experiments without a difference", number + 1);
        }
    }
    for number in 0..LONGER.min(count) {
        for workload in [Workload::Compute, Workload::PingPong] {
            experiments.push(Experiment::run(workload, 1.03, number % 2 == 1, (count + number) as u64)?);
        }
    }
    let conditions = format!(
        "On {} processors, Linux {}; load average {before} before and {} after.",
        std::thread::available_parallelism().map_or(0, usize::from),
        std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
        load(),
    );
    Ok(Timings { conditions, experiments })
}

fn load() -> String {
    let averages = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    averages.split(' ').next().unwrap_or_default().to_owned()
}

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    // The compute workload is this program again.
    if let [word, rounds] = &given[..]
        && word == workload::COMPUTE
    {
        return workload::compute(rounds);
    }
    let done = arguments(given.into_iter()).map_err(Into::into).and_then(|arguments| calibrate(&arguments));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("calibrate: {error}");
            ExitCode::from(2)
        }
    }
}
