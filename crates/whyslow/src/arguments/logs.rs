//! The options of `whyslow logs`.

use super::examples;
use clap::Args;
use import::Format;
use std::path::PathBuf;

/// What `logs` takes.
#[derive(Args)]
#[command(args_override_self = true, after_help = examples::of("logs"))]
pub struct LogsArguments {
    /// Access logs, or folders of them: plain, gzip or zstd; - for standard input
    #[arg(required = true, value_name = "FILES")]
    pub paths: Vec<PathBuf>,

    /// The format: nginx's log_format or Apache's LogFormat, or one of common, combined, vhost_combined, json, haproxy, alb, envoy [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = Format::read)]
    pub format: Option<Format>,

    /// A file of address ranges that a crawler publishes as its own, text or JSON; repeatable. Without NAME, each line begins with one
    #[arg(long, value_name = "[NAME=]FILE")]
    pub ranges: Vec<String>,

    /// Also write a page, Markdown or JSON to this file, by its ending: .html, .md or .json
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
