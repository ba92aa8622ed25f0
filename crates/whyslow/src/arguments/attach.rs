//! The options of `whyslow attach`.

use super::{AnswerArguments, KeepNames, examples};
use case::Share;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// What `attach` takes.
#[derive(Args, Clone)]
#[command(args_override_self = true, after_help = examples::of("attach"))]
pub struct AttachArguments {
    /// The process to watch, with its threads and children
    #[arg(value_name = "PID", required_unless_present = "port", conflicts_with = "port")]
    pub pid: Option<u32>,

    /// Watch the process listening on this TCP port
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,

    /// Record for this long: 10s, 500ms, 2m [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub duration: Option<Duration>,

    /// Stop recording after this many requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,

    /// Write the case to this new folder [default: a new one under ~/.local/state/whyslow]
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Keep names of hosts, paths, files and programs in the case; `no` writes pseudonyms instead
    #[arg(long, value_name = "YES|NO", value_enum, default_value_t)]
    pub keep_names: KeepNames,

    /// CPU samples per second and CPU; 0 for none [default: 997, and 97 when recording for more than a minute]
    #[arg(long = "hz", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub sampling_hertz: Option<u32>,

    /// Keep the cost of recording down to this, in percent of the program's CPU time and of one CPU at least: where
    /// single events cost more, they are recorded in windows; totals are always counted
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = studies::overhead)]
    pub overhead: Share,

    /// Only watch; change nothing in the program
    #[arg(long)]
    pub no_prove: bool,

    /// Time allowed for proving: 30s, 5m [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub budget: Option<Duration>,

    /// How to answer.
    #[command(flatten)]
    pub answer: AnswerArguments,
}
