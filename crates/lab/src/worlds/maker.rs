//! The maker: whyslow executed again by the broker, as root, to make one world or install packages over one. It is told names that
//! were checked, says what it does, and ends when nobody listens any more.

use super::apt::{Installed, install_over};
use super::debian::find_or_make;
use super::making::{Job, Told, has_word};
use super::store::Store;
use crate::{Journal, LabError};
use broker::message;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// How often it looks whether somebody listens, once all is done.
const LOOK: Duration = Duration::from_secs(1);

/// The maker's life: this process does its one job.
pub fn serve() -> ! {
    let input = io::stdin();
    let socket = input.as_fd();
    let job = message::receive(socket).ok().flatten().and_then(|(job, _)| serde_json::from_slice(&job).ok());
    if let Some(job) = job {
        let (told, _kept) = carry_out(job, socket).unwrap_or_else(|error| (Told::Refused(error.into()), None));
        tell(socket, &told);
        // What was laid out is there for as long as somebody listens.
        while !has_word(socket, LOOK) {}
    }
    #[allow(clippy::exit)] // A process of its own has come to its end.
    std::process::exit(0)
}

fn carry_out(job: Job, socket: BorrowedFd) -> Result<(Told, Option<Installed>), LabError> {
    // Nothing else comes from the other end than its end.
    let say = |line: &str| tell(socket, &Told::Doing(line.to_string()));
    let mut wait = |longest: Duration| has_word(socket, longest);
    let store = Store::open()?;
    match job {
        Job::Release { suite, needs } => {
            let made = find_or_make(&suite, &needs, &store, &say, &mut wait)?;
            Ok((Told::Made(made.name), None))
        }
        Job::Install { suite, packages, base } => {
            let journal = Journal::open()?;
            let installed = install_over(&base, &suite, &packages, &store, &journal, &say, &mut wait)?;
            let (command, done) = (installed.command.clone(), installed.done.clone());
            Ok((Told::Installed(installed.layer.clone(), command, done), Some(installed)))
        }
    }
}

fn tell(socket: BorrowedFd, told: &Told) {
    // Nobody listens: the next look shows it.
    let _ = serde_json::to_vec(told).map(|bytes| message::send(socket, &bytes, &[]));
}
