//! The options of `whyslow watch`.

use super::examples;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use studies::services::Selected;

/// What `watch` takes.
#[derive(Args, Clone)]
#[allow(clippy::struct_excessive_bools)] // Each is an option by itself.
#[command(args_conflicts_with_subcommands = true, after_help = examples::of("watch"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct WatchArguments {
    /// What to do instead of watching.
    #[command(subcommand)]
    pub action: Option<WatchAction>,

    /// What to watch: a process (1234), a port (:80), a systemd unit (nginx) or a control group (/system.slice/nginx.service) [default: all that listen]
    #[arg(value_name = "SERVICE")]
    pub services: Vec<Selected>,

    /// Sample this often
    #[arg(long, value_name = "TIME", value_parser = interval, default_value = "10s")]
    pub every: Duration,

    /// Keep what is seen in this folder; several may watch into one [default: ~/.local/state/whyslow/history]
    #[arg(long, value_name = "FOLDER")]
    pub history: Option<PathBuf>,

    /// Also count system calls, which slows every call on this machine a little
    #[arg(long)]
    pub calls: bool,

    /// Record and diagnose a service that gets out of line, for 5 s and at most once an hour
    #[arg(long)]
    pub record_on_change: bool,

    /// Write the case of the first recording to this new folder [default: a new one under ~/.local/state/whyslow]
    #[arg(short = 'o', long = "output", value_name = "FOLDER", requires = "record_on_change")]
    pub folder: Option<PathBuf>,

    /// Send alarms by the rules in this file
    #[arg(long, value_name = "RULES.toml")]
    pub alarms: Option<PathBuf>,

    /// Stop after this long [default: until Ctrl-C or SIGTERM]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub duration: Option<Duration>,

    /// Stop once something was recorded
    #[arg(long, requires = "record_on_change")]
    pub until_recorded: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What else can be done.
#[derive(Subcommand, Clone)]
pub enum WatchAction {
    /// Show what was watched: in the terminal, or as a page
    Show(WatchShowArguments),
}

/// What `watch show` takes.
#[derive(Args, Clone)]
pub struct WatchShowArguments {
    /// The history's folder [default: ~/.local/state/whyslow/history]
    #[arg(long, value_name = "FOLDER")]
    pub history: Option<PathBuf>,

    /// How far back: 30m, 1h, 24h, 7d
    #[arg(long, value_name = "TIME", value_parser = span, default_value = "24h")]
    pub since: Duration,

    /// Also write a page to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Looking more often than once a second costs more than it shows.
const SHORTEST: Duration = Duration::from_secs(1);
/// What is looked at less often than once an hour is not watched.
const LONGEST: Duration = Duration::from_hours(1);

fn interval(text: &str) -> Result<Duration, String> {
    let interval = studies::duration(text)?;
    if (SHORTEST..=LONGEST).contains(&interval) { Ok(interval) } else { Err("it is between 1s and 60m".into()) }
}

/// A length of time that may also be in hours or days.
fn span(text: &str) -> Result<Duration, String> {
    let longer = [("h", 3_600), ("d", 86_400), ("w", 604_800)];
    let found =
        longer.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?.parse::<u64>().ok()?, seconds)));
    match found {
        Some((count, seconds)) if (1..=10_000).contains(&count) => Ok(Duration::from_secs(count * seconds)),
        _ => studies::duration(text).map_err(|_| format!("`{text}` is no length of time: 30m, 1h, 24h, 7d")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_may_be_in_hours_and_days() {
        assert_eq!(span("7d"), Ok(Duration::from_hours(168)));
        assert_eq!(span("90s"), Ok(Duration::from_secs(90)));
        assert!(span("d").is_err() && span("0h").is_err() && span("99999999d").is_err());
        assert!(interval("10ms").is_err() && interval("10s").is_ok());
    }
}
