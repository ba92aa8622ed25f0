//! The options of `whyslow steps`.

use super::examples;
use clap::Args;
use import::Shape;
use lab::Rate;
use std::path::PathBuf;
use studies::Words;

/// What `steps` takes.
#[derive(Args)]
#[command(args_override_self = true, after_help = examples::of("steps"))]
pub struct StepsArguments {
    /// The series: iperf3's JSON, a table, or text; plain, gzip or zstd; - for standard input
    #[arg(value_name = "FILE", required_unless_present = "run", conflicts_with = "run")]
    pub file: Option<PathBuf>,

    /// The column of a table that holds the values, by its name or number
    #[arg(long, value_name = "COLUMN", conflicts_with = "pattern")]
    pub column: Option<String>,

    /// The column that holds the times, in seconds [default: a row each second]
    #[arg(long, value_name = "COLUMN", requires = "column")]
    pub times: Option<String>,

    /// Take values from lines of text: the group `value` or the first; times, in seconds, from the group `time`
    #[arg(long, value_name = "REGEX", value_parser = Shape::pattern)]
    pub pattern: Option<Shape>,

    /// Run this command at several rates, in bits a second, and look for a token bucket; {rate} and {seconds} are replaced
    #[arg(long, value_name = "CMD")]
    pub run: Option<Words>,

    /// The full rate to ask for: 400mbit [default: 0, as much as there is]
    #[arg(long, value_name = "RATE", requires = "run")]
    pub rate: Option<Rate>,

    /// How long the first run takes
    #[arg(long, value_name = "N", requires = "run", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: u32,

    /// Also write a page, Markdown or JSON to this file, by its ending: .html, .md or .json
    #[arg(short = 'o', long = "output", value_name = "OUTPUT")]
    pub output: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
