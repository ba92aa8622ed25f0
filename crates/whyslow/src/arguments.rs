//! What can be typed. Each option is read by its own type; `requests` makes of them what a study is asked.

mod attach;
mod bisect;
mod compare;
mod driver;
pub mod examples;
mod feeds;
mod load;
mod logs;
mod matrix;
mod pcap;
mod run;
mod steps;
mod story;
mod sweep;
mod watch;
mod world;

pub use attach::AttachArguments;
pub use bisect::BisectArguments;
pub use compare::CompareArguments;
pub use driver::{Driver, Says};
pub use feeds::{FeedsAction, FeedsArguments, FeedsHistoryArguments, FeedsRefreshArguments, FeedsShownArguments};
pub use load::{LoadArguments, TlsArguments};
pub use logs::{LogsAction, LogsArguments, LogsMergeArguments};
pub use matrix::MatrixArguments;
pub use pcap::PcapArguments;
pub use run::RunArguments;
pub use steps::StepsArguments;
pub use story::{StoryAction, StoryArguments, StoryRunArguments};
pub use sweep::SweepArguments;
pub use watch::{WatchAction, WatchArguments, WatchShowArguments};
pub use world::{WorldAction, WorldCommandArguments, WorldMakeArguments, WorldRemoveArguments, WorldRunArguments};

use case::Names;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lab::{Change, End, World};
use record::User;
use std::path::PathBuf;
use studies::Words;

/// Finds out why a networked program is slow, and proves it.
#[derive(Parser)]
#[command(name = "whyslow", version, arg_required_else_help = true, max_term_width = 80)]
#[command(after_help = examples::of(""))]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// Reads this process's command line.
    ///
    /// # Errors
    /// Where it cannot be understood, or holds a word that is not UTF-8; or it asks for help, or for the version.
    pub fn typed() -> Result<Arguments, clap::Error> {
        let words = std::env::args_os().map(std::ffi::OsString::into_string).collect::<Result<Vec<_>, _>>();
        let unreadable = |word: std::ffi::OsString| {
            clap::Error::raw(ErrorKind::InvalidUtf8, format!("a word is not UTF-8: {}\n", word.to_string_lossy()))
        };
        Arguments::parse_words(&words.map_err(unreadable)?)
    }

    /// Reads the words of a command line, the program's own name first.
    ///
    /// # Errors
    /// Where they cannot be understood; or they ask for help, or for the version.
    pub fn parse_words(words: &[String]) -> Result<Arguments, clap::Error> {
        let (own, behind) = CompareArguments::divide(words);
        only_one_server(own)?;
        let mut typed = Arguments::try_parse_from(own)?;
        if let Command::Compare(compare) = &typed.command
            && let Some(in_order) = compare.options_first(own)
        {
            typed = Arguments::try_parse_from(in_order)?;
        }
        if let Command::Compare(compare) = &mut typed.command {
            compare.second = behind.to_vec();
            compare.check()?;
        }
        Ok(typed)
    }
}

/// Of other options the last one counts, so that scripts can put theirs behind those of others; of two servers one would be left out
/// without a word. What stands in the program's own words is the program's.
fn only_one_server(words: &[String]) -> Result<(), clap::Error> {
    let matches = Arguments::command().try_get_matches_from(words)?;
    let servers = matches.subcommand().and_then(|(_, typed)| typed.try_get_many::<Words>("server").ok().flatten());
    if servers.is_some_and(|servers| servers.len() > 1) {
        let mut error = clap::Error::new(ErrorKind::ArgumentConflict);
        for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
            error.insert(kind, ContextValue::String("--server".to_string()));
        }
        return Err(error);
    }
    Ok(())
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Record a program, name what makes it slow, and prove it
    Run(Box<RunArguments>),
    /// Diagnose a running program, and prove it, without restarting it
    Attach(AttachArguments),
    /// Find which of two commands or worlds is faster, by how much, and why
    Compare(Box<CompareArguments>),
    /// Find which difference between a good and a bad world causes the slowdown
    Bisect(Box<BisectArguments>),
    /// Vary one parameter; find cliffs and superlinear growth
    Sweep(Box<SweepArguments>),
    /// Build several versions of a library and compare a program on each
    Matrix(Box<MatrixArguments>),
    /// Measure a server under load: rates, latencies, errors by name
    Load(Box<LoadArguments>),
    /// Refresh thousands of feeds, and see how long rounds took over days
    Feeds(Box<FeedsArguments>),
    /// Read access logs: who asked for what, since when, and what blocking them would save
    Logs(LogsArguments),
    /// Diagnose a capture of packets that was made elsewhere
    Pcap(PcapArguments),
    /// Watch services over time; name the one that gets out of line, and since when
    Watch(WatchArguments),
    /// Find the levels of a rate over time and the steps between them
    Steps(StepsArguments),
    /// Re-render a case
    Report(ReportArguments),
    /// Run and measure one trial described by a file
    Trial(TrialArguments),
    /// Explain a cause of slowness or an intervention; without a name, list them
    Explain(ExplainArguments),
    /// Run the stories of the casebook and check the results
    Story(StoryArguments),
    /// Make, list, enter and remove worlds: Debian releases and other file trees
    World(WorldCommandArguments),
    /// Clean up after runs that were killed
    #[command(after_help = examples::of("undo"))]
    Undo(JsonArguments),
    /// Check what works on this machine and how to enable the rest
    #[command(after_help = examples::of("doctor"))]
    Doctor(JsonArguments),
    /// Print the manual page, or write all of them to a folder
    Man(ManArguments),
    /// Print shell completions
    Completions(CompletionsArguments),
    /// Print the JSON schema of a command's --json, or of all; without a name, list them
    Schema(SchemaArguments),
    /// Print the documentation of a case's tables (CASE-FORMAT.md)
    #[command(hide = true)]
    Tables,
    /// Print the reference of commands (docs/commands.md)
    #[command(hide = true)]
    Reference,
}

/// The world that programs run in.
#[derive(Args)]
#[command(next_help_heading = "World")]
pub struct WorldArguments {
    /// Run client and server in separate network namespaces joined by a link: mtu=1500,rate=10mbit, or mtu=1500,delay=20ms,loss=1% (also burst=, queue=, buffer=, path-mtu=)
    #[arg(long, value_name = "LINK", value_parser = change("link"))]
    pub link: Option<Change>,

    /// Set or remove an environment variable of both programs; repeatable
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = change("env"))]
    pub env: Vec<Change>,

    /// Working directory of both programs
    #[arg(long, value_name = "FOLDER", value_parser = change("folder"))]
    pub directory: Option<Change>,

    /// Pin both programs to these CPUs: 0,2-3
    #[arg(long, value_name = "LIST", value_parser = change("processors"))]
    pub processors: Option<Change>,

    /// CPU quota for both programs together, in CPUs: 0.5
    #[arg(long, value_name = "CPUS", value_parser = change("quota"))]
    pub quota: Option<Change>,

    /// Memory limit for both programs together: 512m
    #[arg(long, value_name = "SIZE", value_parser = change("memory"))]
    pub memory: Option<Change>,

    /// Set a sysctl in the namespaces of --link: net.ipv4.tcp_sack=0; repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "link", value_parser = change("setting"))]
    pub setting: Vec<Change>,

    /// Change a route in the namespaces of --link: 'client: quickack 1'; repeatable
    #[arg(long, value_name = "ROUTE", requires = "link", value_parser = change("route"))]
    pub route: Vec<Change>,
}

impl WorldArguments {
    /// The host with all that changed.
    pub fn world(&self) -> World {
        let single = [&self.link, &self.directory, &self.processors, &self.quota, &self.memory];
        let many = [&self.env, &self.setting, &self.route];
        World::with(single.into_iter().flatten().chain(many.into_iter().flatten()).cloned())
    }
}

/// Reads the value of an option that changes the world.
fn change(key: &'static str) -> impl Fn(&str) -> Result<Change, String> + Clone {
    move |value| Change::read(key, value)
}

/// Reads which of the two programs a question is about.
pub fn end() -> impl TypedValueParser<Value = End> {
    PossibleValuesParser::new(End::BOTH.map(End::word)).try_map(|word| word.parse())
}

/// Where a case goes, and as whom programs run.
#[derive(Args)]
pub struct KeepingArguments {
    /// Write the case to this new folder [default: a new one under ~/.local/state/whyslow]
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Run the programs as this user [default under sudo: the user who called sudo]
    #[arg(long, value_name = "NAME")]
    pub user: Option<User>,
}

/// Whether a case keeps names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum KeepNames {
    /// As they are
    #[default]
    Yes,
    /// Pseudonyms, for a case that goes to somebody else
    No,
}

impl From<KeepNames> for Names {
    fn from(typed: KeepNames) -> Names {
        match typed {
            KeepNames::Yes => Names::Kept,
            KeepNames::No => Names::Pseudonyms,
        }
    }
}

/// When the output of a program is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckOutput {
    /// If it is the same from run to run
    #[default]
    Auto,
    /// Never
    Never,
}

/// What `trial` takes.
#[derive(Args)]
#[command(after_help = examples::of("trial"))]
pub struct TrialArguments {
    /// The trial's file
    #[arg(value_name = "SPEC.toml")]
    pub spec: PathBuf,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What `report` takes.
#[derive(Args)]
#[command(after_help = examples::of("report"))]
pub struct ReportArguments {
    /// The case's folder
    #[arg(value_name = "CASE")]
    pub case: PathBuf,

    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,

    /// Write to this file instead of standard output
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// How to answer.
    #[command(flatten)]
    pub answer: AnswerArguments,
}

/// What a case can be turned into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The text the command printed
    #[default]
    Text,
    /// The interactive page, as one HTML file
    Html,
    /// What --json prints
    Json,
    /// The verdict, for a ticket or a chat
    Markdown,
    /// The recorded segments, for Wireshark and tshark
    Pcapng,
    /// The CPU samples, for profiler.firefox.com
    FirefoxProfile,
    /// The CPU samples, for speedscope.app
    Speedscope,
}

/// How an answer is shown.
#[derive(Clone, Copy, Args)]
pub struct AnswerArguments {
    /// Include findings that cost less than 5 %
    #[arg(long)]
    pub all: bool,

    /// Print JSON, alone on standard output
    #[arg(long)]
    pub json: bool,
}

/// What `explain` takes.
#[derive(Args)]
#[command(after_help = examples::of("explain"))]
pub struct ExplainArguments {
    /// A cause (name or identifier) or an intervention
    pub name: Option<String>,
}

/// What `man` takes.
#[derive(Args)]
#[command(after_help = examples::of("man"))]
pub struct ManArguments {
    /// Write whyslow.1, whyslow-run.1 and so on to this folder
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

/// What `completions` takes.
#[derive(Args)]
#[command(after_help = examples::of("completions"))]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// What `schema` takes.
#[derive(Args)]
#[command(after_help = examples::of("schema"))]
pub struct SchemaArguments {
    /// A command with --json
    pub name: Option<String>,
}

/// What commands take that only print.
#[derive(Args)]
pub struct JsonArguments {
    /// Print JSON
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
        let Ok(Arguments { command: Command::Run(run) }) = typed else { panic!("a run") };
        assert_eq!(run.command, ["curl", "--json", "{}"]);
        assert!(!run.answer.json && run.sampling_hertz == 0);
    }
}
