//! The options of `whyslow pcap`.

use super::{AnswerArguments, KeepNames, examples};
use clap::Args;
use std::path::PathBuf;

/// What `pcap` takes.
#[derive(Args)]
#[command(args_override_self = true, after_help = examples::of("pcap"))]
pub struct PcapArguments {
    /// The capture: pcap or pcapng, plain, gzip or zstd; - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Write the case to this new folder [default: a new one under ~/.local/state/whyslow]
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Keep names of hosts and paths in the case; `no` writes pseudonyms instead
    #[arg(long, value_name = "YES|NO", value_enum, default_value_t)]
    pub keep_names: KeepNames,

    /// How to answer.
    #[command(flatten)]
    pub answer: AnswerArguments,
}
