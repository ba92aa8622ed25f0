//! What can be asked of the broker: each request is a type that says what it checks and carries itself out.

use crate::role;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// One kind of request.
pub trait Request: Serialize + DeserializeOwned {
    /// Its name in the list.
    const NAME: &'static str;
    /// What the broker checks before it carries it out, in words for the list.
    const CHECKS: &'static str;
    /// What it is answered with.
    type Answer: Serialize + DeserializeOwned;

    /// Carries it out, as root where there is a broker; `files` came along with it.
    ///
    /// # Errors
    /// Where a check or the kernel refuses.
    fn carry_out(self, files: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>>;
}

/// An answer, and the files that go along.
pub struct Reply<T> {
    /// The answer.
    pub answer: T,
    /// The files.
    pub files: Vec<OwnedFd>,
}

/// An answer without files.
#[allow(clippy::unnecessary_wraps)] // It is how requests end.
pub fn reply<T>(answer: T) -> io::Result<Reply<T>> {
    Ok(Reply { answer, files: Vec::new() })
}

/// An answer with files.
#[allow(clippy::unnecessary_wraps)] // It is how requests end.
pub fn with_files<T>(answer: T, files: Vec<OwnedFd>) -> io::Result<Reply<T>> {
    Ok(Reply { answer, files })
}

/// A line of the broker's list.
pub struct Entry {
    /// The request's name.
    pub name: &'static str,
    /// What is checked.
    pub checks: &'static str,
    act: fn(serde_json::Value, Vec<OwnedFd>) -> io::Result<Reply<serde_json::Value>>,
}

impl Entry {
    /// That of a request.
    pub const fn of<R: Request>() -> Entry {
        Entry { name: R::NAME, checks: R::CHECKS, act: act::<R> }
    }
}

fn act<R: Request>(body: serde_json::Value, files: Vec<OwnedFd>) -> io::Result<Reply<serde_json::Value>> {
    let request = serde_json::from_value::<R>(body)?;
    let Reply { answer, files } = request.carry_out(files)?;
    Ok(Reply { answer: serde_json::to_value(answer)?, files })
}

/// What goes to the broker.
#[derive(Serialize, Deserialize)]
struct Asked {
    name: String,
    body: serde_json::Value,
}

/// What comes back.
#[derive(Serialize, Deserialize)]
enum Said {
    Done(serde_json::Value),
    Refused { number: Option<i32>, text: String },
}

/// Has a request carried out: by the broker, or here where there is none.
///
/// # Errors
/// Where it is refused, or the broker is gone.
pub fn ask<R: Request>(request: R, files: &[BorrowedFd<'_>]) -> io::Result<Reply<R::Answer>> {
    let Some(broker) = role::broker() else {
        let own = files.iter().map(BorrowedFd::try_clone_to_owned).collect::<io::Result<_>>()?;
        return request.carry_out(own);
    };
    let asked = Asked { name: R::NAME.to_string(), body: serde_json::to_value(request)? };
    let (said, files) = broker.exchange(&serde_json::to_vec(&asked)?, files)?;
    match serde_json::from_slice(&said)? {
        Said::Done(answer) => Ok(Reply { answer: serde_json::from_value(answer)?, files }),
        Said::Refused { number: Some(number), .. } => Err(io::Error::from_raw_os_error(number)),
        Said::Refused { text, .. } => Err(io::Error::other(text)),
    }
}

/// The broker's side: what a message asks is looked up in the list and carried out. What is sent back.
pub(crate) fn answer(requests: &[&[Entry]], message: &[u8], files: Vec<OwnedFd>) -> (Vec<u8>, Vec<OwnedFd>) {
    let carried_out = || {
        let asked = serde_json::from_slice::<Asked>(message)?;
        let entry = requests.iter().copied().flatten().find(|entry| entry.name == asked.name);
        let entry = entry.ok_or_else(|| io::Error::other(format!("no such request: {}", asked.name)))?;
        (entry.act)(asked.body, files)
    };
    // One that panics is refused: whoever asks learns of it, and what was attached stays attached.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(carried_out));
    let done = done.unwrap_or_else(|_| Err(io::Error::other("the broker could not carry this out")));
    let (said, files) = match done {
        Ok(Reply { answer, files }) => (Said::Done(answer), files),
        Err(error) => (Said::Refused { number: error.raw_os_error(), text: error.to_string() }, Vec::new()),
    };
    (serde_json::to_vec(&said).unwrap_or_default(), files)
}

/// Files as they are passed.
pub(crate) fn borrowed(files: &[OwnedFd]) -> Vec<BorrowedFd<'_>> {
    files.iter().map(AsFd::as_fd).collect()
}
