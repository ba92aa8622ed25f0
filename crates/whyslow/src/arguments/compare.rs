//! The options of `whyslow compare`.

use super::{CheckOutput, Driver, KeepNames, KeepingArguments, WorldArguments, examples};
use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory};
use lab::Metric;
use lab::compare::Condition;
use std::path::PathBuf;
use std::time::Duration;
use studies::Words;
use studies::compare::Change;

/// What `compare` takes.
#[derive(Args)]
#[command(
    args_override_self = true,
    override_usage = "whyslow compare [OPTIONS] 'A COMMAND' -- B COMMAND\n       \
    whyslow compare [OPTIONS] --a KEY=VALUE --b KEY=VALUE -- COMMAND\n       \
    whyslow compare [OPTIONS] --a KEY=VALUE --b KEY=VALUE --load URL",
    after_help = examples::of("compare")
)]
pub struct CompareArguments {
    /// Start this server for both sides and stop it afterwards; split like a shell command
    #[arg(long, value_name = "COMMAND", action = ArgAction::Append)]
    pub server: Option<Words>,

    /// Drive a load instead of a program, 1000 requests unless you say otherwise: http://{server}:8080/,rate=500,connections=64 (options of whyslow load, without dashes)
    #[arg(long, value_name = "URL[,OPTION...]", conflicts_with = "first")]
    pub load: Option<Driver>,

    /// Apply to A only: KEY=VALUE; repeatable
    #[arg(long = "a", value_name = "KEY=VALUE")]
    pub only_a: Vec<Change>,

    /// Apply to B only: KEY=VALUE; repeatable
    #[arg(long = "b", value_name = "KEY=VALUE")]
    pub only_b: Vec<Change>,

    /// Fail if B / A exceeds a limit: 'wall > 1.05x'; the interval decides; repeatable
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,

    /// Compare with side B of an earlier comparison instead of running A
    #[arg(long, value_name = "CASE", conflicts_with_all = ["only_a", "first"])]
    pub baseline: Option<PathBuf>,

    /// Time allowed for trials: 30s, 5m [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub budget: Option<Duration>,

    /// Decide by this metric: wall_ns, cpu_ns, exchange_p95_ns, ..., stdout:REGEX or stdout-more:REGEX
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<Metric>,

    /// Compare the output of both sides; sides whose output differs are not compared
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = CheckOutput::Auto)]
    pub check_output: CheckOutput,

    /// Keep names of hosts, paths, files and programs in the case; `no` writes pseudonyms instead
    #[arg(long, value_name = "YES|NO", value_enum, default_value_t)]
    pub keep_names: KeepNames,

    /// Where the case goes, and who runs the programs.
    #[command(flatten)]
    pub keeping: KeepingArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// A's command: one argument (split like a shell command) or words [default: B's]
    #[arg(value_name = "A COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub first: Vec<String>,

    /// B's command
    #[arg(skip)]
    pub second: Vec<String>,

    /// Where both run. Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub world: WorldArguments,
}

impl CompareArguments {
    /// What follows the first `--` is B's. It is taken off before the rest is parsed: A's words may begin with a dash
    /// too, and then `--` would be one of them.
    pub fn divide(typed: &[String]) -> (&[String], &[String]) {
        let is_ours = typed.get(1).is_some_and(|word| word == "compare");
        match typed.iter().position(|word| word == "--").filter(|_| is_ours) {
            Some(place) => (&typed[..place], &typed[place + 1..]),
            None => (typed, &[]),
        }
    }

    /// The words with options in front, if some follow a command that is one argument: what follows a whole
    /// command can only be ours.
    pub fn options_first(&self, typed: &[String]) -> Option<Vec<String>> {
        let [whole, rest @ ..] = self.first.as_slice() else { return None };
        let is_whole = whole.contains(char::is_whitespace) && !rest.is_empty();
        let before = typed.len().checked_sub(self.first.len()).filter(|_| is_whole)?;
        Some([&typed[..before], rest, std::slice::from_ref(whole)].concat())
    }

    /// Whether there is a command for each side. A command that begins with a dash is a mistyped option.
    ///
    /// # Errors
    /// As clap words them.
    pub fn check(&self) -> Result<(), clap::Error> {
        let mut compare = super::Arguments::command();
        if let Some(option) = self.first.first().filter(|word| word.starts_with('-')) {
            let message = format!("unexpected argument '{option}' found");
            return Err(compare.error(ErrorKind::UnknownArgument, message));
        }
        if self.load.is_some() && !self.second.is_empty() {
            let message = "the argument '--load <URL[,OPTION...]>' cannot be used with a command";
            return Err(compare.error(ErrorKind::ArgumentConflict, message));
        }
        if self.second.is_empty() && self.load.is_none() {
            let message = "the following required arguments were not provided:\n  -- <B COMMAND>";
            return Err(compare.error(ErrorKind::MissingRequiredArgument, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    fn typed(words: &[&str]) -> Result<Box<CompareArguments>, clap::Error> {
        let words = ["whyslow", "compare"].iter().chain(words).map(ToString::to_string).collect::<Vec<_>>();
        match Arguments::parse_words(&words)?.command {
            Command::Compare(typed) => Ok(typed),
            _ => panic!("another command"),
        }
    }

    #[test]
    fn both_commands_may_have_dashes_of_their_own() {
        let both = typed(&["--budget", "5s", "sh", "-c", "exit 1", "--", "env", "--", "sh", "-c", "x"]).expect("typed");
        assert_eq!((both.first.join(" "), both.second.join(" ")), ("sh -c exit 1".into(), "env -- sh -c x".into()));
        assert_eq!(both.budget, Some(Duration::from_secs(5)));
        let one = typed(&["--b", "env=X=1", "--", "true"]).expect("typed");
        assert!(one.first.is_empty() && one.second == ["true"] && one.only_b.len() == 1);
    }

    #[test]
    fn options_may_stand_behind_a_command_that_is_one_argument() {
        let late = typed(&["sh -c 'exit 1'", "--budget", "5s", "--json", "--", "true"]).expect("typed");
        assert!(late.first == ["sh -c 'exit 1'"] && late.json && late.budget == Some(Duration::from_secs(5)));
    }

    #[test]
    fn a_mistyped_option_is_no_command_and_b_must_be_there() {
        assert!(typed(&["--buget", "5s", "--", "true"]).is_err_and(|error| error.to_string().contains("--buget")));
        assert!(typed(&["true"]).is_err_and(|error| error.to_string().contains("B COMMAND")));
        assert!(Arguments::try_parse_from(["whyslow", "compare", "--help"]).is_err());
    }
}
