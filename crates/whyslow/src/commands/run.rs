//! `whyslow run -- COMMAND`: starts, records, diagnoses, answers.

use super::answer;
use crate::arguments::RunArguments;
use crate::fail::{self, Failure};
use crate::interrupts::Interrupts;
use crate::invoker::Invoker;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::watch::{how, watch};
use crate::{folder, output, proof};
use case::{Case, Manifest, Recording};
use lab::{Arrangement, Attached, Journal, Kind, Outputs, Repair, Server, Stage, Stopped, Subject};
use record::{Ended, Held, Input, Output, Recorder, Role, Running};
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
    let kept = case.keep("answer.json", &answer);
    invoker.own(&plan.folder);
    // What was found is told, also where the programs could not be started again, or the disk has filled up meanwhile.
    let code = answer::show(&answer, typed.answer)?;
    proved?;
    kept?;
    Ok(ended.filter(|_| typed.exit_as_subject).map_or(code, exit_of_subject))
}

/// From nothing to a closed case, and how the client ended (none where it still runs).
fn record_case(typed: &RunArguments, plan: &Plan, interrupts: &Interrupts) -> Result<(Case, Option<Ended>), Failure> {
    // What a run that was killed has left behind is in nobody's way; that it cannot be removed is no reason not to run.
    let repaired = lab::repair(Repair::Left).unwrap_or_default();
    let stage = set_stage(typed, plan)?;
    let recorder = Recorder::start(&plan.folder, plan.manifest(), &plan.options)?;
    let (mut client, mut server, attached) = begin(stage, plan, &recorder, interrupts).inspect_err(|_| {
        // The client has not run: the case that was just made holds nothing, and would only be in the way.
        let _ = std::fs::remove_dir_all(&plan.folder);
    })?;
    let left = repaired.left.iter().map(|line| format!("{line}; `whyslow undo` ends what a killed run has left"));
    repaired.done.iter().cloned().chain(left).for_each(|line| output::say(&line));
    attached.notes().iter().for_each(|note| output::say(note));
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
    if let Some(Stopped::Killed(after)) = server.map(Server::stop) {
        let command = as_typed(plan.server.as_deref().unwrap_or_default());
        output::say(&format!(
            "the server `{command}` did not end within {} s of SIGTERM and was killed",
            after.as_secs()
        ));
    }
    drop(attached);
    if let Some(signalled) = ended.filter(|ended| ended.signal.is_some()) {
        output::say(&format!("`{}` {}", as_typed(&plan.client), how(signalled)));
    }
    Ok((case?, ended))
}

/// Makes the programs, and holds them in their world.
fn set_stage(typed: &RunArguments, plan: &Plan) -> Result<Stage, Failure> {
    let subject =
        Subject { client: plan.client.clone(), server: plan.server.clone(), user: plan.user, input: Input::Inherited };
    let outputs = Outputs {
        client: if typed.answer.json { Output::ToStandardError } else { Output::Inherited },
        // A server's standard output is a log: it goes with ours, so that the client's stays what it is.
        server: Output::ToStandardError,
        ..Outputs::default()
    };
    // Without a journal nothing is made that would need one.
    let journal = Journal::open().unwrap_or_else(Journal::closed);
    Ok(Stage::set(&subject, &plan.world, &Arrangement::default(), &journal, &outputs, Kind::Watched)?)
}

/// Lets the server run until it listens, then the client, each followed from its first instruction.
fn begin(
    stage: Stage,
    plan: &Plan,
    recorder: &Recorder,
    interrupts: &Interrupts,
) -> Result<(Running, Option<Server>, Attached), Failure> {
    let Stage { client, server, attached } = stage;
    let mut wait = |longest| interrupts.next(longest).is_some();
    let start = |held: Held| {
        recorder.follow(held.pid(), Role::Server)?;
        let name = as_typed(plan.server.as_deref().unwrap_or_default());
        Ok::<_, Failure>(Server::start(held, &name, client.pid(), &mut wait)?)
    };
    let server = server.map(start).transpose()?;
    recorder.follow(client.pid(), Role::Client)?;
    Ok((client.release()?, server, attached))
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
