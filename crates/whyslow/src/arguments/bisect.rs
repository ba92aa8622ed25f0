//! The options of `whyslow bisect`.

use super::{KeepNames, KeepingArguments, WorldArguments, end, examples};
use clap::{ArgAction, Args};
use lab::worlds::WorldName;
use lab::{End, Metric};
use std::time::Duration;
use studies::Words;

/// What `bisect` takes.
#[derive(Args)]
#[command(after_help = examples::of("bisect"))]
pub struct BisectArguments {
    /// The world in which the program is fast
    #[arg(long, value_name = "WORLD")]
    pub good: WorldName,

    /// The world in which it is slow
    #[arg(long, value_name = "WORLD")]
    pub bad: WorldName,

    /// Start this server for each trial and stop it afterwards; split like a shell command
    #[arg(long, value_name = "COMMAND", action = ArgAction::Append)]
    pub server: Option<Words>,

    /// Which end runs in the two worlds; the other runs on the host
    #[arg(long, value_name = "END", value_parser = end(), default_value = "client", requires_if("server", "server"))]
    pub of: End,

    /// Also install this package when making a release; repeatable
    #[arg(long, value_name = "NAME")]
    pub package: Vec<String>,

    /// Build each commit with this command, in its folder
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,

    /// Decide by this metric: wall_ns, cpu_ns, ..., stdout:REGEX or stdout-more:REGEX [default: the one that differs most]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<Metric>,

    /// Time allowed for the search: 30s, 5m [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub budget: Option<Duration>,

    /// Also run this command in both worlds, as a control
    #[arg(long, value_name = "COMMAND")]
    pub control: Option<Words>,

    /// Try candidates in random order from this seed, not in the order the profile suggests
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,

    /// Only search; try neither fixes for the bad world nor a downgrade
    #[arg(long)]
    pub only_search: bool,

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
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Where both run. Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub world: WorldArguments,
}
