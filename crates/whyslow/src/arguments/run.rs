//! The options of `whyslow run`.

use super::{AnswerArguments, CheckOutput, KeepingArguments, WorldArguments, examples};
use clap::Args;

/// What `run` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(args_override_self = true, after_help = examples::RUN.text())]
pub struct RunArguments {
    /// Start this server first, record it too, and stop it in the end; words are split as a shell splits them
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,

    /// Record for this long at most: 10s, 500ms, 2m
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,

    /// Record this many requests at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Take this many CPU samples a second on each processor; 0 takes none
    #[arg(long = "hz", value_name = "N", default_value_t = 997, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub sampling_hertz: u32,

    /// Keep this many events at most (80 MB of memory a million, for the diagnosis); what comes later is counted as lost
    #[arg(long, value_name = "N", default_value_t = record::DEFAULT_EVENTS, value_parser = clap::value_parser!(u64).range(1..))]
    pub events: u64,

    /// Only suspect: do not run the program again to switch suspected causes off and measure
    #[arg(long)]
    pub no_prove: bool,

    /// Spend at most this long on proving: 30s, 5m; without it, 60s
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,

    /// Try this besides, on the top finding: a name of `whyslow explain`, with =DOSE where it has one; can be given again
    #[arg(long = "try", value_name = "INTERVENTION")]
    pub asked: Vec<String>,

    /// Judge by a figure that the program prints: stdout:REGEX (less is better) or stdout-more:REGEX
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    /// Compare what the program writes with and without an intervention; one that changes it proves nothing
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = CheckOutput::Auto)]
    pub check_output: CheckOutput,

    /// Return the program's exit status instead of ours
    #[arg(long)]
    pub exit_as_subject: bool,

    /// How to answer.
    #[command(flatten)]
    pub answer: AnswerArguments,

    /// The program to run, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Where they run. Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub world: WorldArguments,
}
