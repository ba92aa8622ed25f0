//! The options of `whyslow feeds`.

use super::examples;
use super::load::TlsArguments;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// What `feeds` takes.
#[derive(Args)]
#[command(after_help = examples::of("feeds"))]
pub struct FeedsArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: FeedsAction,
}

/// What can be done with feeds.
#[derive(Subcommand)]
pub enum FeedsAction {
    /// Ask for each feed of a list, and count what is new
    Refresh(FeedsRefreshArguments),
    /// Show how long rounds took over days, and when that changed
    History(FeedsHistoryArguments),
}

/// What `feeds refresh` takes.
#[derive(Args)]
pub struct FeedsRefreshArguments {
    /// The feeds: OPML, or an address in each line
    #[arg(value_name = "FILE")]
    pub list: PathBuf,

    /// Keep what is known of feeds in this file [default: feeds.redb in ~/.local/state/whyslow]
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,

    /// Take addresses of names from this file, in the form of /etc/hosts; others are looked up
    #[arg(long, value_name = "FILE")]
    pub hosts: Option<PathBuf>,

    /// Make this many rounds
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,

    /// Begin a round this long after the one before began
    #[arg(long, value_name = "TIME", value_parser = studies::duration, default_value = "10m")]
    pub every: Duration,

    /// Connections at a time
    #[arg(short, long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub connections: u32,

    /// Connections to one origin at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub per_origin: u32,

    /// Threads [default: one a CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// A request that takes longer has failed
    #[arg(long, value_name = "TIME", value_parser = studies::duration, default_value = "30s")]
    pub timeout: Duration,

    /// Feeds larger than this have failed, in MiB; uncompressed they may have four times as many
    #[arg(long, value_name = "MIB", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub max_size: u32,

    /// Ask for robots.txt once a day, and do as it says
    #[arg(long)]
    pub robots: bool,

    /// Say who you are, ideally with an address for complaints
    #[arg(long, value_name = "TEXT", default_value = concat!("whyslow/", env!("CARGO_PKG_VERSION")))]
    pub user_agent: String,

    /// How TLS is spoken.
    #[command(flatten)]
    pub tls: TlsArguments,

    /// Where it is shown.
    #[command(flatten)]
    pub shown: FeedsShownArguments,
}

/// What `feeds history` takes.
#[derive(Args)]
pub struct FeedsHistoryArguments {
    /// The list of feeds [default: the one refreshed last]
    #[arg(value_name = "FILE")]
    pub list: Option<PathBuf>,

    /// The database [default: feeds.redb in ~/.local/state/whyslow]
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,

    /// Where it is shown.
    #[command(flatten)]
    pub shown: FeedsShownArguments,
}

/// Where an answer is shown.
#[derive(Args)]
pub struct FeedsShownArguments {
    /// Also write a page, Markdown or JSON to this file, by its ending: .html, .md or .json
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
