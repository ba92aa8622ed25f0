//! What `run` is asked.

use super::{case_folder_without_names, client, subject, world};
use crate::arguments::{CheckOutput, RunArguments, Says};
use fail::Failure;
use lab::engine::Kind;
use lab::{Outputs, Subject};
use record::{Input, Output};
use studies::Limits;
use studies::experiment::Wish;
use studies::run::Request;

/// Works out what was meant.
pub fn request(typed: RunArguments) -> Result<Request, Failure> {
    let world = world(&typed.world)?;
    let names = typed.keep_names.into();
    // What a load writes are measurements: they differ from run to run.
    let compares_output = typed.check_output == CheckOutput::Auto && typed.load.is_none();
    let command = client(typed.command, typed.load.as_ref(), Says::for_metric(typed.metric.as_ref()))?;
    let subject = subject(&world, &command, typed.server.as_ref(), &typed.keeping)?;
    Ok(Request {
        subject: Subject { input: Input::Inherited, names, ..subject },
        world,
        outputs: Outputs {
            client: if typed.answer.json { Output::ToStandardError } else { Output::Inherited },
            // A server's standard output is a log: it goes with ours, so that the client's stays what it is.
            server: Output::ToStandardError,
            ..Outputs::default()
        },
        proof: Wish {
            asked: typed.asked,
            is_wanted: !typed.no_prove,
            budget: typed.budget.unwrap_or(Kind::Run.budget()),
            compares_output,
            metric: typed.metric,
        },
        limits: Limits { duration: typed.duration, requests: typed.requests },
        folder: case_folder_without_names(typed.keeping.folder.as_deref(), &command, names)?,
        options: record::Options {
            sampling_hertz: typed.sampling_hertz,
            event_limit: typed.events,
            overhead: typed.overhead,
            duration: typed.duration,
            counts_requests: typed.requests.is_some(),
        },
        reading: diagnose::Options { all: typed.answer.all },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};

    fn plan(words: &[&str]) -> Result<Request, Failure> {
        let words = [&["whyslow", "run", "-o", "/tmp/new"], words].concat();
        let words = words.iter().map(ToString::to_string).collect::<Vec<_>>();
        match Arguments::parse_words(&words).map_err(|error| crate::usage::failure(&error))?.command {
            Command::Run(typed) => request(*typed),
            _ => panic!("another command"),
        }
    }

    #[test]
    fn a_server_is_split_as_a_shell_splits_and_addresses_are_filled_in() {
        let plan = plan(&["--server", "sh -c 'listen {server}:80'", "--", "curl", "http://{server}/{client}"]);
        let plan = plan.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(plan.subject.server.as_deref().unwrap_or_default(), ["sh", "-c", "listen 127.0.0.1:80"]);
        assert_eq!(plan.subject.client, ["curl", "http://127.0.0.1/127.0.0.1"]);
    }

    #[test]
    fn an_open_quote_and_an_empty_server_are_refused() {
        assert!(plan(&["--server", "sh -c 'x", "--", "true"]).is_err());
        assert!(plan(&["--server", "  ", "--", "true"]).is_err());
    }

    #[test]
    fn a_bad_duration_names_the_option() {
        let failure = plan(&["--duration", "soon", "--", "true"]).map(|_| ()).expect_err("refused").to_string();
        assert!(failure.contains("--duration") && failure.contains("ms, s, m and h"), "{failure}");
    }
}
