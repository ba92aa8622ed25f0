//! The options of `whyslow run`.

use super::{AnswerArguments, CheckOutput, Driver, KeepNames, KeepingArguments, WorldArguments, examples};
use case::Share;
use clap::{ArgAction, Args};
use lab::{Asked, Metric};
use std::time::Duration;
use studies::Words;

/// What `run` takes.
#[derive(Args)]
#[command(args_override_self = true, after_help = examples::of("run"))]
pub struct RunArguments {
    /// Start this server first, record it too, and stop it afterwards; split like a shell command
    #[arg(long, value_name = "COMMAND", action = ArgAction::Append)]
    pub server: Option<Words>,

    /// Drive a load instead of a program, 1000 requests unless you say otherwise: http://{server}:8080/,rate=500,connections=64 (options of whyslow load, without dashes)
    #[arg(long, value_name = "URL[,OPTION...]", conflicts_with = "command")]
    pub load: Option<Driver>,

    /// Stop recording after this long: 10s, 500ms, 2m
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub duration: Option<Duration>,

    /// Stop recording after this many requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Keep names of hosts, paths, files and programs in the case; `no` writes pseudonyms instead
    #[arg(long, value_name = "YES|NO", value_enum, default_value_t)]
    pub keep_names: KeepNames,

    /// CPU samples per second and CPU; 0 for none
    #[arg(long = "hz", value_name = "N", default_value_t = 997, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub sampling_hertz: u32,

    /// Keep at most this many events (a million takes 80 MB to diagnose); later ones are only added up
    #[arg(long, value_name = "N", default_value_t = record::DEFAULT_EVENTS, value_parser = clap::value_parser!(u64).range(1..))]
    pub events: u64,

    /// Keep the cost of recording down to this, in percent of the programs' CPU time and of one CPU at least: where
    /// single events cost more, they are recorded in windows [default: all are recorded, up to --events]
    #[arg(long, value_name = "PERCENT", value_parser = studies::overhead)]
    pub overhead: Option<Share>,

    /// Skip the proof: do not re-run the program with suspected causes switched off
    #[arg(long)]
    pub no_prove: bool,

    /// Time allowed for proving: 30s, 5m [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub budget: Option<Duration>,

    /// Also try this intervention (see whyslow explain) on the top finding, as NAME or NAME=DOSE; repeatable
    #[arg(long = "try", value_name = "INTERVENTION")]
    pub asked: Vec<Asked>,

    /// Judge by a number the program prints: stdout:REGEX (less is better) or stdout-more:REGEX (more is better)
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<Metric>,

    /// Compare the program's output with and without each intervention; one that changes it proves nothing
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = CheckOutput::Auto)]
    pub check_output: CheckOutput,

    /// Return the program's exit status instead of ours
    #[arg(long)]
    pub exit_as_subject: bool,

    /// How to answer.
    #[command(flatten)]
    pub answer: AnswerArguments,

    /// The program to run and its arguments
    #[arg(last = true, required_unless_present = "load", value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Where they run. Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub world: WorldArguments,
}
