//! The options of `whyslow matrix`.

use super::{AskedEnd, KeepingArguments, WorldArguments, examples};
use clap::Args;
use std::path::PathBuf;

/// What `matrix` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(args_override_self = true, after_help = examples::MATRIX.text())]
pub struct MatrixArguments {
    /// The library and its versions; the first is the baseline
    #[arg(long, value_name = "NAME=VERSION,...")]
    pub library: String,

    /// Also build this against each version; repeatable
    #[arg(long, value_name = "NAME=VERSION")]
    pub with: Vec<String>,

    /// Read how to build a library from this file; repeatable
    #[arg(long = "source", value_name = "FILE")]
    pub sources: Vec<PathBuf>,

    /// Measure this: cpu_ns, wall_ns_per_exchange, ..., stdout:REGEX or stdout-more:REGEX; repeatable
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,

    /// Also measure each version with this intervention (see whyslow explain), as NAME or NAME=DOSE; repeatable
    #[arg(long = "try", value_name = "INTERVENTION")]
    pub tries: Vec<String>,

    /// Start this server for each trial and stop it afterwards; split like a shell command
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,

    /// Which end loads the library; the other keeps its own
    #[arg(long, value_enum, value_name = "END", default_value_t)]
    pub of: AskedEnd,

    /// Time allowed for trials: 30s, 5m [default: 2m]
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,

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
