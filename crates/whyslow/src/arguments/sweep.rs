//! The options of `whyslow sweep`.

use super::{KeepingArguments, WorldArguments};
use clap::Args;

/// What `sweep` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(
    args_override_self = true,
    after_help = "SPEC is a list (1,100,4K), a range (10..100), with a step (10..100:5), or of powers (1..16K:log).\n\
    Where it jumps in a range, values between are tried, too; between those of a list nothing is.\n\
    NAME stands in either command as {NAME}. Without it there, mtu and rate change the link, quota, memory and\n\
    processors the world, and concurrency runs so many clients side by side.\n\n\
    Exit codes: 0 nothing found, 1 a cliff, growth out of hand or a finding, 2 error, 3 inconclusive.\n\
    Example: whyslow sweep --vary size=1..16K:log --server 'python3 server.py' -- python3 client.py --size {size}"
)]
pub struct SweepArguments {
    /// What to vary, and through which values
    #[arg(long, value_name = "NAME=SPEC")]
    pub vary: String,

    /// Start this server first, for each trial, and stop it in the end; words are split as a shell splits them
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,

    /// Where they run.
    #[command(flatten)]
    pub world: WorldArguments,

    /// Spend at most this long on trials: 30s, 5m; without it, 90s
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,

    /// Measure this: wall_ns, cpu_ns, wall_ns_per_exchange, ..., stdout:REGEX or stdout-more:REGEX
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Print the sweep as JSON
    #[arg(long)]
    pub json: bool,

    /// The program to run, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
