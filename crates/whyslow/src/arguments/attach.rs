//! The options of `whyslow attach`.

use super::{AnswerArguments, examples};
use clap::Args;
use std::path::PathBuf;

/// What `attach` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(args_override_self = true, after_help = examples::ATTACH.text())]
pub struct AttachArguments {
    /// The process to watch, with its threads and children
    #[arg(value_name = "PID", required_unless_present = "port", conflicts_with = "port")]
    pub pid: Option<u32>,

    /// Watch the process that listens on this TCP port
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,

    /// Record for this long: 10s, 500ms, 2m; without it, 5s
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,

    /// Record this many requests at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,

    /// Keep the case in this new folder; without it, in a new one under ~/.local/state/whyslow
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Take this many CPU samples a second on each processor; 0 takes none
    #[arg(long = "hz", value_name = "N", default_value_t = 997, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub sampling_hertz: u32,

    /// Only watch: do not switch anything in the program
    #[arg(long)]
    pub no_prove: bool,

    /// Spend at most this long on proving: 30s, 5m; without it, 30s
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,

    /// How to answer.
    #[command(flatten)]
    pub answer: AnswerArguments,
}
