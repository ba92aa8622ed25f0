//! The options of `whyslow compare`.

use super::{CheckOutput, KeepingArguments, WorldArguments};
use clap::Args;
use std::path::PathBuf;

/// What `compare` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(
    args_override_self = true,
    override_usage = "whyslow compare [OPTIONS] 'A COMMAND' -- B COMMAND\n       \
    whyslow compare [OPTIONS] --a KEY=VALUE --b KEY=VALUE -- COMMAND",
    after_help = "KEY is env, link, folder, processors, quota, memory, setting, route (as the options of these names), \
    server, or with:\nan intervention of `whyslow explain`. Without any difference the program is compared with itself.\n\
    METRIC of --fail-if is wall, cpu, latency, elapsed, p50, p95, p99, or metric (that of --metric).\n\n\
    Exit codes: 0 no difference (or all --fail-if held), 1 a difference (or one failed), 2 error, 3 not known.\n\
    Example: whyslow compare 'curl -s https://host/ --cacert one.pem' -- curl -s https://host/"
)]
pub struct CompareArguments {
    /// Start this server first, for both, and stop it in the end; words are split as a shell splits them
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,

    /// What is particular to A: KEY=VALUE; can be given again
    #[arg(long = "a", value_name = "KEY=VALUE")]
    pub only_a: Vec<String>,

    /// What is particular to B: KEY=VALUE; can be given again
    #[arg(long = "b", value_name = "KEY=VALUE")]
    pub only_b: Vec<String>,

    /// Where both run.
    #[command(flatten)]
    pub world: WorldArguments,

    /// Fail where B / A is beyond this: 'wall > 1.05x'; the interval decides. Can be given again
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,

    /// Compare with B of a comparison kept earlier, instead of running A
    #[arg(long, value_name = "CASE", conflicts_with_all = ["only_a", "first"])]
    pub baseline: Option<PathBuf>,

    /// Spend at most this long on trials: 30s, 5m; without it, 60s
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,

    /// Decide by this metric: wall_ns, cpu_ns, exchange_p95_ns, ..., stdout:REGEX or stdout-more:REGEX
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    /// Compare what both sides write; sides that write different things are not compared
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = CheckOutput::Auto)]
    pub check_output: CheckOutput,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,

    /// A's command: one argument that is split as a shell splits it, or words; without it, B's
    #[arg(value_name = "A COMMAND")]
    pub first: Vec<String>,

    /// B's command
    #[arg(last = true, required = true, value_name = "B COMMAND")]
    pub second: Vec<String>,
}
