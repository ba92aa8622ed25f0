//! `whyslow run -- COMMAND`: starts, records, diagnoses, answers.

use super::answer;
use crate::arguments::RunArguments;
use crate::fail::{self, Failure};
use crate::interrupts::Interrupts;
use crate::invoker::Invoker;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::server::Server;
use crate::subjects::Subjects;
use crate::watch::{how, watch};
use crate::{folder, output, proof};
use case::{Case, Manifest, Recording};
use record::{Ended, Held, Output, Recorder, Role, Running};
use std::time::{Duration, Instant};

/// What a client that is asked to end gets for it before we leave it to itself.
const LONGEST_END: Duration = Duration::from_secs(2);

/// Runs the programs, and prints what the recording means.
pub fn run(typed: &RunArguments) -> Result<u8, Failure> {
    let invoker = Invoker::find();
    let plan = Plan::make(typed, &invoker)?;
    folder::make_parents(&plan.folder, &invoker)?;
    let interrupts = Interrupts::take()?;
    let recorded = record_case(typed, &plan, &interrupts);
    // Also after an error: what there is of the case belongs to the user.
    invoker.own(&plan.folder);
    let (case, ended) = recorded?;
    let recording = Recording::load(&case)?;
    let mut answer = answer::draw(&recording, &case, typed.answer);
    let proved = proof::prove(&mut answer, &case, recording, &plan, &interrupts);
    drop(interrupts);
    // What was recorded is told, also where the programs cannot be started again.
    case.keep("answer.json", &answer)?;
    proved?;
    invoker.own(&plan.folder);
    let code = answer::show(&answer, typed.answer)?;
    Ok(ended.filter(|_| typed.exit_as_subject).map_or(code, exit_of_subject))
}

/// From nothing to a closed case, and how the client ended (none where it still runs).
fn record_case(typed: &RunArguments, plan: &Plan, interrupts: &Interrupts) -> Result<(Case, Option<Ended>), Failure> {
    let output = if typed.answer.json { Output::ToStandardError } else { Output::Inherited };
    let subjects = Subjects::hold(plan, output)?;
    let recorder = Recorder::start(&plan.folder, plan.manifest(), &plan.options)?;
    let (mut client, mut server) = begin(subjects, plan, &recorder, interrupts).inspect_err(|_| {
        // The client has not run: the case that was just made holds nothing, and would only be in the way.
        let _ = std::fs::remove_dir_all(&plan.folder);
    })?;
    let mut progress = Progress::begin();
    let ended = watch(&mut client, &mut server, &recorder, plan.limits, interrupts, &mut progress)?;
    progress.say("naming places in the code and writing the case");
    // Recording ends first, so that nothing of what ends the programs is in the case.
    let server_pid = server.as_ref().map_or(0, Server::pid);
    let case = recorder.finish(|manifest| complete(manifest, client.pid(), ended, server_pid));
    drop(progress);
    let ended = match ended {
        Some(ended) => Some(ended),
        None => end_client(&mut client)?,
    };
    drop(server);
    if let Some(signalled) = ended.filter(|ended| ended.signal.is_some()) {
        output::say(&format!("`{}` {}", as_typed(&plan.client), how(signalled)));
    }
    Ok((case?, ended))
}

/// Lets the server run until it listens, then the client, each followed from its first instruction.
fn begin(
    subjects: Subjects,
    plan: &Plan,
    recorder: &Recorder,
    interrupts: &Interrupts,
) -> Result<(Running, Option<Server>), Failure> {
    let client = subjects.client;
    let start = |held: Held| {
        recorder.follow(held.pid(), Role::Server)?;
        Server::start(held, &as_typed(plan.server.as_deref().unwrap_or_default()), client.pid(), interrupts)
    };
    let server = subjects.server.map(start).transpose()?;
    recorder.follow(client.pid(), Role::Client)?;
    Ok((client.release()?, server))
}

/// A command as it can be typed.
fn as_typed(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

fn complete(manifest: &mut Manifest, client: u32, ended: Option<Ended>, server: u32) {
    let ended = ended.unwrap_or_default();
    manifest.subject = case::Subject { pid: client, exit: ended.exit, signal: ended.signal };
    manifest.server_pid = server;
}

/// Recording ended before the client did. We started it, so it is asked to end; it is not made to.
fn end_client(client: &mut Running) -> Result<Option<Ended>, Failure> {
    if let Some(ended) = client.poll()? {
        return Ok(Some(ended));
    }
    output::say("recording has ended and the program runs on: it is sent SIGTERM");
    client.signal(nix::libc::SIGTERM);
    let deadline = Instant::now() + LONGEST_END;
    while Instant::now() < deadline {
        if let Some(ended) = client.poll()? {
            return Ok(Some(ended));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    output::say(&format!("it still runs, as process {}; whyslow leaves it alone", client.pid()));
    Ok(None)
}

/// The status a shell would show.
fn exit_of_subject(ended: Ended) -> u8 {
    let status = ended.exit.or(ended.signal.map(|signal| 128 + signal));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(fail::ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subjects_status_is_as_a_shell_shows_it() {
        assert_eq!(exit_of_subject(Ended { exit: Some(7), signal: None }), 7);
        assert_eq!(exit_of_subject(Ended { exit: None, signal: Some(9) }), 137);
    }
}
