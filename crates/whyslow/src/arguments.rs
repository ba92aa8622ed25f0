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
    /// The same on a program that is running, without restarting it
    Attach(AttachArguments),
    /// Which of two commands or worlds is faster, by how much, and why
    Compare(Box<CompareArguments>),
    /// Vary one thing: where the cliff is, and whether the time grows out of hand
    Sweep(Box<SweepArguments>),
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

/// Where a case goes, and as whom programs run.
#[derive(Clone, Debug, Default, Args)]
pub struct KeepingArguments {
    /// Keep the case in this new folder; without it, in a new one under ~/.local/state/whyslow
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Run the programs as this user; under sudo, they run as the user who called sudo
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
}

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

/// What `sweep` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(
    args_override_self = true,
    after_help = "SPEC is a list (1,100,4K), a range (10..100), with a step (10..100:5), or of powers (1..16K:log).\n\
    NAME stands in either command as {NAME}. Without it there, mtu and rate change the link, quota, memory and\n\
    processors the world, and concurrency runs so many clients side by side.\n\n\
    Exit codes: 0 nothing found, 1 a cliff, growth out of hand or a finding, 2 error, 3 inconclusive.\n\
    Example: whyslow sweep --vary size=1..16K:log --server 'python3 server.py' -- python3 client.py --size {size}"
)]
pub struct SweepArguments {
    /// What to vary, and through which values
    #[arg(long, value_name = "NAME=SPEC")]
    pub vary: String,

    /// Start this server first, for each trial, and stop it in the end; words are split as a shell splits them
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,

    /// Where they run.
    #[command(flatten)]
    pub world: WorldArguments,

    /// Spend at most this long on trials: 30s, 5m; without it, 90s
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,

    /// Measure this: wall_ns, cpu_ns, wall_ns_per_exchange, ..., stdout:REGEX or stdout-more:REGEX
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Print the sweep as JSON
    #[arg(long)]
    pub json: bool,

    /// The program to run, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What `attach` takes.
#[derive(Clone, Debug, Default, Args)]
#[command(
    args_override_self = true,
    after_help = "The program is neither stopped nor restarted, and runs on when whyslow leaves. What is switched in it to\n\
    prove a cause is set back. Example: whyslow attach --port 8443 --duration 10s"
)]
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

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

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
