//! What a typed `run` means.

use crate::arguments::{CheckOutput, RunArguments};
use crate::fail::Failure;
use crate::invoker::{Invoker, subject_user};
use crate::typed;
use lab::engine::Kind;
use lab::{Outputs, Subject};
use record::{Input, Output};
use studies::Limits;
use studies::experiment::Wish;
use studies::run::Request;

/// Works out what was meant.
pub fn request(typed: &RunArguments, invoker: &Invoker) -> Result<Request, Failure> {
    let world = typed::world(&typed.world)?;
    let addresses = typed::addresses(world.link);
    let named = |text: &String| lab::named_intervention(text);
    let asked = typed.asked.iter().map(named).collect::<Result<Vec<_>, _>>();
    let proof = Wish {
        asked: asked.map_err(|error| Failure::value("--try", &error.to_string(), "--try tcp-nodelay"))?,
        is_wanted: !typed.no_prove,
        budget: typed::budget(typed.budget.as_deref(), Kind::Run)?,
        compares_output: typed.check_output == CheckOutput::Auto,
        metric: typed::metric(typed.metric.as_deref())?,
    };
    let outputs = Outputs {
        client: if typed.answer.json { Output::ToStandardError } else { Output::Inherited },
        // A server's standard output is a log: it goes with ours, so that the client's stays what it is.
        server: Output::ToStandardError,
        ..Outputs::default()
    };
    Ok(Request {
        subject: Subject {
            client: typed::with_addresses(&typed.command, addresses),
            server: typed::server(typed.server.as_deref(), &world)?,
            user: subject_user(typed.keeping.user.as_deref(), invoker)?,
            input: Input::Inherited,
        },
        world,
        outputs,
        proof,
        limits: Limits { duration: typed::duration(typed.duration.as_deref())?, requests: typed.requests },
        folder: typed::case_folder(typed.keeping.folder.as_deref(), &typed.command, invoker)?,
        options: record::Options { sampling_hertz: typed.sampling_hertz, event_limit: typed.events },
        reading: diagnose::Options { all: typed.answer.all },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::KeepingArguments;

    fn typed(server: &str, command: &[&str]) -> RunArguments {
        let command = command.iter().map(ToString::to_string).collect();
        RunArguments {
            server: Some(server.into()),
            command,
            keeping: KeepingArguments { folder: Some("/tmp/new".into()), user: None },
            ..RunArguments::default()
        }
    }

    fn plan(typed: &RunArguments) -> Result<Request, Failure> {
        request(typed, &Invoker::find())
    }

    #[test]
    fn a_server_is_split_as_a_shell_splits_and_addresses_are_filled_in() {
        let plan = plan(&typed("sh -c 'listen {server}:80'", &["curl", "http://{server}/{client}"]));
        let plan = plan.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(plan.subject.server.as_deref().unwrap_or_default(), ["sh", "-c", "listen 127.0.0.1:80"]);
        assert_eq!(plan.subject.client, ["curl", "http://127.0.0.1/127.0.0.1"]);
    }

    #[test]
    fn an_open_quote_and_an_empty_server_are_refused() {
        assert!(plan(&typed("sh -c 'x", &["true"])).is_err());
        assert!(plan(&typed("  ", &["true"])).is_err());
    }

    #[test]
    fn a_bad_duration_names_the_option() {
        let typed = RunArguments { duration: Some("soon".into()), ..typed("true", &["true"]) };
        assert!(plan(&typed).is_err_and(|failure| failure.to_string().contains("--duration")));
    }
}
