//! The options of `whyslow bisect`.

use super::{AskedEnd, KeepingArguments, WorldArguments, examples};
use clap::Args;

/// What `bisect` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = examples::BISECT.text())]
pub struct BisectArguments {
    /// The world in which the program is fast
    #[arg(long, value_name = "WORLD")]
    pub good: String,

    /// The world in which it is slow
    #[arg(long, value_name = "WORLD")]
    pub bad: String,

    /// Start this server first, for each trial, and stop it in the end; words are split as a shell splits them
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,

    /// Whose world is asked about; the other end runs on the host
    #[arg(long, value_enum, value_name = "END", default_value_t)]
    pub of: AskedEnd,

    /// Install this package too, where a release has to be made; can be given again
    #[arg(long, value_name = "NAME")]
    pub package: Vec<String>,

    /// Build a commit with this command, in its folder
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,

    /// Decide by this metric: wall_ns, cpu_ns, ..., stdout:REGEX or stdout-more:REGEX; without it, by what differs most
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    /// Spend at most this long on the search: 30s, 5m; without it, 2m
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,

    /// Run this command in both worlds too, as a control
    #[arg(long, value_name = "COMMAND")]
    pub control: Option<String>,

    /// Try things in an order drawn from this number, not in that of the profile
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,

    /// Only search: do not look for what cures the bad world, nor try the packages' own way back
    #[arg(long)]
    pub only_search: bool,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Print the bisection as JSON
    #[arg(long)]
    pub json: bool,

    /// The program to run, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Where both run. Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub world: WorldArguments,
}
