//! Waiting while the client runs: for its end, for a limit, or for Ctrl-C.

use crate::{Activity, Console, Reach, StudyError};
use lab::Server;
use record::{Ended, Recorder, Running};
use std::time::{Duration, Instant};

/// How often is looked whether something has happened.
const TICK: Duration = Duration::from_millis(20);
/// What the client gets to end after Ctrl-C, before recording ends without it.
const GRACE: Duration = Duration::from_secs(2);
/// How often orphans that have ended are collected: it reads all of /proc, and nobody waits for it.
const REAPING: Duration = Duration::from_secs(1);

/// Waits until recording is to end. How the client ended; none where it still runs.
pub fn watch(
    client: &mut Running,
    server: &mut Option<Server>,
    recorder: &Recorder,
    (doing, limits): (&str, Limits),
    console: &dyn Console,
    activity: &mut Activity<'_>,
) -> Result<Option<Ended>, StudyError> {
    let begun = Instant::now();
    let mut give_up_at = None;
    let mut has_server = server.is_some();
    let mut reaped = Instant::now();
    loop {
        if let Some(ended) = client.poll()? {
            return Ok(Some(ended));
        }
        let is_over = give_up_at.is_some_and(|at| Instant::now() >= at);
        // What cannot be written any more is not worth waiting for; `Recorder::finish` says why.
        if is_over || recorder.has_failed() || limits.are_reached(begun.elapsed(), recorder) {
            return Ok(None);
        }
        if has_server && let Some(ended) = server.as_mut().and_then(Server::ended) {
            has_server = false;
            console.note(&format!("the server {} while the client was running", how(ended)));
        }
        if reaped.elapsed() >= REAPING {
            reaped = Instant::now();
            server.iter().for_each(Server::reap);
        }
        activity.recording(doing, recorder, limits.duration);
        let Some(interrupt) = console.next(TICK) else { continue };
        if interrupt.reach == Reach::Us {
            client.signal(interrupt.signal);
        }
        if give_up_at.replace(Instant::now() + GRACE).is_some() {
            return Ok(None);
        }
    }
}

/// How a program ended, as a predicate.
pub fn how(ended: Ended) -> String {
    match (ended.exit, ended.signal) {
        (_, Some(signal)) => {
            let name = nix::sys::signal::Signal::try_from(signal).map_or("unknown", |signal| signal.as_str());
            format!("was killed by signal {signal} ({name})")
        }
        (Some(status), None) => format!("exited with status {status}"),
        (None, None) => "exited".to_string(),
    }
}

/// When to stop recording although the client still runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// After so long.
    pub duration: Option<Duration>,
    /// After so many requests.
    pub requests: Option<u64>,
}

impl Limits {
    /// Whether recording is to end.
    pub fn are_reached(self, elapsed: Duration, recorder: &Recorder) -> bool {
        self.duration.is_some_and(|longest| elapsed >= longest)
            || self.requests.is_some_and(|most| recorder.progress().requests >= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_reported_with_status_or_signal() {
        assert_eq!(how(Ended { exit: Some(3), signal: None }), "exited with status 3");
        assert_eq!(how(Ended { exit: None, signal: Some(11) }), "was killed by signal 11 (SIGSEGV)");
    }
}
