//! The options of `whyslow sweep`.

use super::{Driver, KeepNames, KeepingArguments, WorldArguments, examples};
use clap::{ArgAction, Args};
use lab::{Metric, Vary};
use std::time::Duration;
use studies::Words;

/// What `sweep` takes.
#[derive(Args)]
#[command(args_override_self = true, after_help = examples::of("sweep"))]
pub struct SweepArguments {
    /// What to vary and over which values
    #[arg(long, value_name = "NAME=SPEC", value_parser = Vary::parse)]
    pub vary: Vary,

    /// Start this server for each trial and stop it afterwards; split like a shell command
    #[arg(long, value_name = "COMMAND", action = ArgAction::Append)]
    pub server: Option<Words>,

    /// Drive a load instead of a program, 1000 requests unless you say otherwise: http://{server}:8080/,rate=500,connections=64 (options of whyslow load, without dashes)
    #[arg(long, value_name = "URL[,OPTION...]", conflicts_with = "command")]
    pub load: Option<Driver>,

    /// Time allowed for trials: 30s, 5m [default: 90s]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub budget: Option<Duration>,

    /// Measure this: wall_ns, cpu_ns, wall_ns_per_exchange, ..., stdout:REGEX or stdout-more:REGEX
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<Metric>,

    /// Keep names of hosts, paths, files and programs in the case; `no` writes pseudonyms instead
    #[arg(long, value_name = "YES|NO", value_enum, default_value_t)]
    pub keep_names: KeepNames,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// The program to run and its arguments
    #[arg(last = true, required_unless_present = "load", value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Where they run. Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub world: WorldArguments,
}
