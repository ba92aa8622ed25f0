//! What can be typed. What it means is decided elsewhere: `typed.rs` for options that several commands have, `plan.rs`
//! for `run`, each command's own file for the others.

mod attach;
mod bisect;
mod compare;
pub mod examples;
mod matrix;
mod run;
mod story;
mod sweep;
mod world;

pub use attach::AttachArguments;
pub use bisect::BisectArguments;
pub use compare::CompareArguments;
pub use matrix::MatrixArguments;
pub use run::RunArguments;
pub use story::{StoryAction, StoryArguments, StoryRunArguments};
pub use sweep::SweepArguments;
pub use world::{WorldAction, WorldCommandArguments, WorldMakeArguments, WorldRemoveArguments, WorldRunArguments};

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Finds out why a networked program is slow, and proves it.
#[derive(Debug, Parser)]
#[command(name = "whyslow", version, arg_required_else_help = true, max_term_width = 80)]
#[command(after_help = examples::WHYSLOW.text())]
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

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record a program, name what makes it slow, and prove it
    Run(Box<RunArguments>),
    /// Do the same to a running program, without restarting it
    Attach(AttachArguments),
    /// Find which of two commands or worlds is faster, by how much, and why
    Compare(Box<CompareArguments>),
    /// Find which difference between a good and a bad world causes the slowdown
    Bisect(Box<BisectArguments>),
    /// Vary one parameter; find cliffs and superlinear growth
    Sweep(Box<SweepArguments>),
    /// Build several versions of a library and compare a program on each
    Matrix(Box<MatrixArguments>),
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
    Undo(UndoArguments),
    /// Check what works on this machine and how to enable the rest
    Doctor(DoctorArguments),
    /// Print the manual page, or write all of them to a folder
    Man(ManArguments),
    /// Print shell completions
    Completions(CompletionsArguments),
    /// Print the JSON schema of a command's --json; without a name, list them
    Schema(SchemaArguments),
    /// Print the documentation of a case's tables (CASE-FORMAT.md)
    #[command(hide = true)]
    Tables,
    /// Print the reference of commands (docs/commands.md)
    #[command(hide = true)]
    Reference,
}

/// The world that programs run in; `lab::World::change` knows what each option means.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "World")]
pub struct WorldArguments {
    /// Run client and server in separate network namespaces joined by a link: mtu=1500,rate=10mbit (also burst=, queue=)
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,

    /// Set or remove an environment variable of both programs; repeatable
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<String>,

    /// Working directory of both programs
    #[arg(long = "directory", value_name = "FOLDER")]
    pub directory: Option<String>,

    /// Pin both programs to these CPUs: 0,2-3
    #[arg(long, value_name = "LIST")]
    pub processors: Option<String>,

    /// CPU quota for both programs together, in CPUs: 0.5
    #[arg(long, value_name = "PROCESSORS")]
    pub quota: Option<String>,

    /// Memory limit for both programs together: 512m
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,

    /// Set a sysctl in the namespaces of --link: net.ipv4.tcp_sack=0; repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "link")]
    pub setting: Vec<String>,

    /// Change a route in the namespaces of --link: 'client: quickack 1'; repeatable
    #[arg(long, value_name = "ROUTE", requires = "link")]
    pub route: Vec<String>,
}

impl WorldArguments {
    /// Each option given: its name, the world's word for it, and its value.
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

/// Which of the two programs a question is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AskedEnd {
    /// The command.
    #[default]
    Client,
    /// The server.
    Server,
}

/// Where a case goes, and as whom programs run.
#[derive(Clone, Debug, Default, Args)]
pub struct KeepingArguments {
    /// Write the case to this new folder [default: a new one under ~/.local/state/whyslow]
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Run the programs as this user [default under sudo: the user who called sudo]
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
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
#[derive(Debug, Args)]
#[command(after_help = examples::TRIAL.text())]
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
#[derive(Debug, Args)]
#[command(after_help = examples::REPORT.text())]
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
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct AnswerArguments {
    /// Include findings that cost less than 5 %
    #[arg(long)]
    pub all: bool,

    /// Print JSON; the program's own output goes to standard error
    #[arg(long)]
    pub json: bool,
}

/// What `explain` takes.
#[derive(Debug, Args)]
#[command(after_help = examples::EXPLAIN.text())]
pub struct ExplainArguments {
    /// A cause (name or identifier) or an intervention
    pub name: Option<String>,
}

/// What `man` takes.
#[derive(Debug, Args)]
#[command(after_help = examples::MAN.text())]
pub struct ManArguments {
    /// Write whyslow.1, whyslow-run.1 and so on to this folder
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

/// What `completions` takes.
#[derive(Debug, Args)]
#[command(after_help = examples::COMPLETIONS.text())]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// A shell whose words can be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash, with the bash-completion package
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
}

/// What `schema` takes.
#[derive(Debug, Args)]
#[command(after_help = examples::SCHEMA.text())]
pub struct SchemaArguments {
    /// A command with --json
    pub name: Option<String>,
}

/// What `undo` takes.
#[derive(Debug, Args)]
#[command(after_help = examples::UNDO.text())]
pub struct UndoArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What `doctor` takes.
#[derive(Debug, Args)]
#[command(after_help = examples::DOCTOR.text())]
pub struct DoctorArguments {
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
        let Ok(Arguments { command: Command::Run(run) }) = typed else { panic!("{typed:?}") };
        assert_eq!(run.command, ["curl", "--json", "{}"]);
        assert!(!run.answer.json && run.sampling_hertz == 0);
    }
}
