//! What can be typed. What it means is decided elsewhere: `plan.rs` for `run`, each command's own file for the others.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Watches an unmodified networked program, accounts for its time and names the cause of its slowness.
#[derive(Debug, Parser)]
#[command(name = "whyslow", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 nothing found, 1 findings, 2 error, 3 inconclusive.")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record a program while it runs, and say why it is slow
    Run(Box<RunArguments>),
    /// Say again what a case means
    Report(ReportArguments),
    /// Run one trial from a file: the program once, with what the file attaches to it, measured
    Trial(TrialArguments),
    /// Print the page of a pathology; without a name, list them
    Explain(ExplainArguments),
    /// End and remove what runs that were killed have left behind
    Undo(UndoArguments),
    /// Try what this machine allows, and print what would enable the rest
    Doctor(DoctorArguments),
    /// Print the documentation of a case's tables (CASE-FORMAT.md)
    #[command(hide = true)]
    Tables,
}

/// What `run` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(
    args_override_self = true,
    after_help = "{server} and {client} in either command stand for the two addresses: 127.0.0.1 without --link.\n\
    Example: whyslow run --server 'nginx -p /srv -c nginx.conf' -- python3 client.py {server}"
)]
pub struct RunArguments {
    /// Start this server first, record it too, and stop it in the end; words are split as a shell splits them
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,

    /// Where they run.
    #[command(flatten)]
    pub world: WorldArguments,

    /// Record for this long at most: 10s, 500ms, 2m
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,

    /// Record this many requests at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,

    /// Keep the case in this new folder; without it, in a new one under ~/.local/state/whyslow
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Run the programs as this user; under sudo, they run as the user who called sudo
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,

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

    /// Try this besides, on the dearest finding: a name of `whyslow explain`, with =DOSE where it has one; can be given again
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
}

/// What can be said of the world that programs run in; `lab::World::change` knows what each means.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "World")]
pub struct WorldArguments {
    /// Put client and server into networks of their own, joined by a link: mtu=1500,rate=10mbit (and burst=, queue=)
    #[arg(long, value_name = "LINK", requires = "server")]
    pub link: Option<String>,

    /// Set a variable of both programs' environment, or remove it; can be given again
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<String>,

    /// Run both programs in this folder
    #[arg(long = "directory", value_name = "FOLDER")]
    pub directory: Option<String>,

    /// Run both programs on these processors only: 0,2-3
    #[arg(long, value_name = "LIST")]
    pub processors: Option<String>,

    /// Allow both programs together this much processor time, in processors: 0.5
    #[arg(long, value_name = "PROCESSORS")]
    pub quota: Option<String>,

    /// Allow both programs together this much memory: 512m
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,

    /// Set a kernel setting inside the networks of a link: net.ipv4.tcp_sack=0; can be given again
    #[arg(long, value_name = "NAME=VALUE", requires = "link")]
    pub setting: Vec<String>,

    /// Change a route inside the networks of a link: 'client: quickack 1'; can be given again
    #[arg(long, value_name = "ROUTE", requires = "link")]
    pub route: Vec<String>,
}

impl WorldArguments {
    /// Each option that was given: its name, the world's word for it, and its value.
    pub fn given(&self) -> Vec<(&'static str, &'static str, &str)> {
        let single = [
            ("--link", "link", &self.link),
            ("--directory", "folder", &self.directory),
            ("--processors", "processors", &self.processors),
            ("--quota", "quota", &self.quota),
            ("--memory", "memory", &self.memory),
        ];
        let many =
            [("--env", "env", &self.env), ("--setting", "setting", &self.setting), ("--route", "route", &self.route)];
        let single = single
            .into_iter()
            .flat_map(|(option, key, value)| value.iter().map(move |value| (option, key, value.as_str())));
        let many = many
            .into_iter()
            .flat_map(|(option, key, values)| values.iter().map(move |value| (option, key, value.as_str())));
        single.chain(many).collect()
    }
}

/// When what a program writes is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckOutput {
    /// Where it is the same from run to run
    #[default]
    Auto,
    /// Never
    Never,
}

/// What `trial` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example of a file:\n  command = ['python3', 'client.py', '{server}']\n  \
    server = ['nginx', '-p', '/srv', '-c', 'nginx.conf']\n  interventions = ['tcp-nodelay']\n  \
    warm_up = 5\n  seconds = 1.0\n  world = { link = 'mtu=1500' }")]
pub struct TrialArguments {
    /// The trial's file
    #[arg(value_name = "SPEC.toml")]
    pub spec: PathBuf,

    /// Keep the case in this new folder; without it, in a new one under ~/.local/state/whyslow
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Run the programs as this user; under sudo, they run as the user who called sudo
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,

    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `report` takes.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The case's folder
    #[arg(value_name = "CASE")]
    pub case: PathBuf,

    /// How to answer.
    #[command(flatten)]
    pub answer: AnswerArguments,
}

/// How an answer is shown.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct AnswerArguments {
    /// Show findings that cost less than 5 % too
    #[arg(long)]
    pub all: bool,

    /// Print the answer as JSON; the program's own output goes to standard error
    #[arg(long)]
    pub json: bool,
}

/// What `explain` takes.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// A pathology's name or identifier
    pub name: Option<String>,
}

/// What `undo` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Runs that are still going on are not touched. The next run does the same by itself, but leaves \
    alone a program that a killed run was watching."
)]
pub struct UndoArguments {
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `doctor` takes.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Print the checks as JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declarations_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn everything_behind_the_dashes_is_the_programs() {
        let typed = Arguments::try_parse_from(["whyslow", "run", "--hz", "0", "--", "curl", "--json", "{}"]);
        let Ok(Arguments { command: Command::Run(run) }) = typed else { panic!("{typed:?}") };
        assert_eq!(run.command, ["curl", "--json", "{}"]);
        assert!(!run.answer.json && run.sampling_hertz == 0);
    }
}
