//! The options of `whyslow logs`.

use super::examples;
use clap::{Args, Subcommand};
use import::Format;
use std::path::PathBuf;
use std::time::Duration;

/// What `logs` takes.
#[derive(Args)]
#[command(args_override_self = true, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = examples::of("logs"))]
pub struct LogsArguments {
    /// What to do instead of reading logs.
    #[command(subcommand)]
    pub action: Option<LogsAction>,

    /// Access logs, or folders of them: plain, gzip or zstd; - for standard input
    #[arg(required = true, value_name = "FILES")]
    pub paths: Vec<PathBuf>,

    /// The format: nginx's log_format or Apache's LogFormat, or one of common, combined, vhost_combined, json, haproxy, alb, envoy [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = Format::read)]
    pub format: Option<Format>,

    /// A file of address ranges that a crawler publishes as its own, text or JSON; repeatable. Without NAME, each line begins with one
    #[arg(long, value_name = "[NAME=]FILE")]
    pub ranges: Vec<String>,

    /// Follow the files as they grow, across rotation: who asked for what in the last minute
    #[arg(short = 'f', long, conflicts_with_all = ["file", "case", "sql"])]
    pub follow: bool,

    /// Send alarms by the rules in this file while following: 'share > 30 % for 10 min', for an agent
    #[arg(long, value_name = "RULES.toml", requires = "follow")]
    pub alarms: Option<PathBuf>,

    /// Stop following after this long [default: until Ctrl-C or SIGTERM]
    #[arg(long, value_name = "TIME", value_parser = studies::duration, requires = "follow")]
    pub duration: Option<Duration>,

    /// How to answer.
    #[command(flatten)]
    pub answer: LogsAnswer,
}

/// How logs and cubes are answered.
#[derive(Args)]
pub struct LogsAnswer {
    /// A case of the server (`whyslow attach --port N`): what requests cost it in CPU time, by route
    #[arg(long, value_name = "CASE")]
    pub case: Option<PathBuf>,

    /// Also write the counts to this file, as a Parquet table that `logs merge` and SQL engines read
    #[arg(long, value_name = "FILE.parquet")]
    pub cube: Option<PathBuf>,

    /// Answer this question in SQL instead, over the table traffic that --cube writes (contrib/sql has questions)
    #[arg(long, value_name = "QUERY", conflicts_with_all = ["file", "case"])]
    pub sql: Option<String>,

    /// Also write a page, Markdown or JSON to this file, by its ending: .html, .md or .json
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What else can be done.
#[derive(Subcommand)]
pub enum LogsAction {
    /// Merge cubes of several logs: the answer is that of one pass over all of them
    Merge(LogsMergeArguments),
}

/// What `logs merge` takes.
#[derive(Args)]
pub struct LogsMergeArguments {
    /// Cubes that `logs --cube` wrote, or folders of them, also in folders host=NAME/day=DATE
    #[arg(required = true, value_name = "CUBES")]
    pub cubes: Vec<PathBuf>,

    /// How to answer.
    #[command(flatten)]
    pub answer: LogsAnswer,
}
