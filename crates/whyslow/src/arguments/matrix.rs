//! The options of `whyslow matrix`.

use super::{AskedEnd, KeepingArguments, WorldArguments, examples};
use clap::Args;
use std::path::PathBuf;

/// What `matrix` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(args_override_self = true, after_help = examples::MATRIX.text())]
pub struct MatrixArguments {
    /// The library, and its versions; the first one is what the others are compared with
    #[arg(long, value_name = "NAME=VERSION,...")]
    pub library: String,

    /// Build this on each version beside it; can be given again
    #[arg(long, value_name = "NAME=VERSION")]
    pub with: Vec<String>,

    /// Read how a library is built from this file; can be given again
    #[arg(long = "source", value_name = "FILE")]
    pub sources: Vec<PathBuf>,

    /// Measure this: cpu_ns, wall_ns_per_exchange, ..., stdout:REGEX or stdout-more:REGEX; can be given again
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,

    /// Attach this from outside besides, on each version: a name of `whyslow explain`, with =DOSE where it has one; can be given again
    #[arg(long = "try", value_name = "INTERVENTION")]
    pub tries: Vec<String>,

    /// Start this server first, for each trial, and stop it in the end; words are split as a shell splits them
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,

    /// Whose library it is; the other end runs on what it always runs on
    #[arg(long, value_enum, value_name = "END", default_value_t)]
    pub of: AskedEnd,

    /// Spend at most this long on trials: 30s, 5m; without it, 2m
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Print the matrix as JSON
    #[arg(long)]
    pub json: bool,

    /// The program to run, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Where they run. Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub world: WorldArguments,
}
