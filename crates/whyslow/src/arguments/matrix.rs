//! The options of `whyslow matrix`.

use super::{KeepNames, KeepingArguments, WorldArguments, end, examples};
use clap::{ArgAction, Args};
use lab::{End, Metric};
use std::path::PathBuf;
use std::time::Duration;
use studies::Words;
use studies::matrix::{Named, tried};

/// What `matrix` takes.
#[derive(Args)]
#[command(args_override_self = true, after_help = examples::of("matrix"))]
pub struct MatrixArguments {
    /// The library and its versions; the first is the baseline
    #[arg(long, value_name = "NAME=VERSION,...")]
    pub library: Named,

    /// Also build this against each version; repeatable
    #[arg(long, value_name = "NAME=VERSION")]
    pub with: Vec<Named>,

    /// Read how to build a library from this file; repeatable
    #[arg(long = "source", value_name = "FILE")]
    pub sources: Vec<PathBuf>,

    /// Measure this: cpu_ns, wall_ns_per_exchange, ..., stdout:REGEX or stdout-more:REGEX; repeatable
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<Metric>,

    /// Also measure each version with this intervention (see whyslow explain), as NAME or NAME=DOSE; repeatable
    #[arg(long = "try", value_name = "INTERVENTION", value_parser = tried)]
    pub tries: Vec<String>,

    /// Start this server for each trial and stop it afterwards; split like a shell command
    #[arg(long, value_name = "COMMAND", action = ArgAction::Append)]
    pub server: Option<Words>,

    /// Which end loads the library; the other keeps its own
    #[arg(long, value_name = "END", value_parser = end(), default_value = "client", requires_if("server", "server"))]
    pub of: End,

    /// Time allowed for trials: 30s, 5m [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub budget: Option<Duration>,

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

    /// Where they run. Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub world: WorldArguments,
}
