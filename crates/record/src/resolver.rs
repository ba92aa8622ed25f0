//! The resolver: all that reads what a hostile program can have written (ELF, DWARF, unwind tables, maps of generated code,
//! interpreters' tables) is below here, and is done by a process of its own that may do nothing else.
//!
//! It has no user, no network, no files but those that are handed to it, and limits of memory and time ([`cage`]). What it
//! answers is plain values. Its end costs what it was asked about: the image is given up, the process started again, a few times.
//!
//! Without such a process, as in a library's tests, a question is answered by whoever asks it.

mod cage;
pub(crate) mod call_site;
mod constants;
mod debug_info;
mod elf;
mod frame_table;
pub(crate) mod fuzz;
mod go_table;
mod ifunc;
mod image;
mod interpreters;
pub(crate) mod lines;
mod mapping;
mod naming;
mod perf_map;
mod question;
pub(crate) mod row;
mod start;
mod symbols;
mod unoptimized;
mod v8;
mod worker;

pub use cage::{Limits, serve};
pub(crate) use question::{Embedded, Facts, Form, Link, Named, Numbers, Place, ScriptImage, ScriptImageOf};
pub(crate) use start::pids;
pub use start::{ARGUMENT, StartResolver, start_apart};
pub(crate) use v8::V8;

use broker::message;
use lines::Lines;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use question::Question;
use row::Row;
use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use worker::Worker;

/// How often one is started for a recording: a bug ends it once for each image that has it, and who is hostile ends it each time.
const MOST_STARTS: u32 = 4;

/// An answer is waited for no longer. A resolver has less processor time for each; this is for one that is stopped.
const PATIENCE: Duration = Duration::from_mins(1);

/// So many images are loaded without waiting for the first: their answers fit into the socket.
const MOST_ON_THE_WAY: usize = 16;

/// So many places are named at once: one that ends the resolver does not take long, and its image is given up.
const MOST_PLACES: usize = 256;

/// The resolver of one recording, as others reach it.
#[derive(Clone)]
pub struct Resolver(Arc<Mutex<Client>>);

struct Client {
    means: Means,
    /// How many were started.
    starts: u32,
    images: FxHashMap<u32, Known>,
    unanswered: u64,
}

enum Means {
    /// Whoever asks.
    Here(Box<Worker>),
    /// A process, at the other end.
    Apart(OwnedFd),
    /// Nobody any more.
    Gone,
}

/// An image that was loaded.
struct Known {
    file: Arc<File>,
    /// Which of those that were started has it; none where it ended one.
    loaded_by: Option<u32>,
    debug: Option<Arc<File>>,
    shared: Option<Arc<File>>,
}

/// The resolver ended, or had.
#[derive(Debug)]
pub(crate) struct Ended;

impl Default for Resolver {
    fn default() -> Self {
        Resolver::new()
    }
}

impl Resolver {
    /// A process of its own where that was settled when this program began, else whoever asks.
    pub fn new() -> Resolver {
        let mut client = Client { means: Means::Gone, starts: 0, images: FxHashMap::default(), unanswered: 0 };
        if start::is_apart() {
            client.start();
            // Programs that live for milliseconds do not wait until it is there: recording begins then.
            let _ = client.ask::<Vec<Option<Row>>>(&Question::Rows { places: Vec::new() }, None);
        } else {
            client.means = Means::Here(Box::default());
        }
        Resolver(Arc::new(Mutex::new(client)))
    }

    /// Loads images by numbers of their own; None for a file that is none.
    pub(crate) fn load(&self, images: &[(u32, Arc<File>)]) -> Vec<Option<Facts>> {
        let mut client = self.client();
        let mut facts = Vec::with_capacity(images.len());
        while facts.len() < images.len() {
            let next = images[facts.len()..].iter().take(MOST_ON_THE_WAY);
            let question =
                |(image, file): &(u32, Arc<File>)| (Question::Load { image: *image }, Some(Arc::clone(file)));
            let answers = client.ask_all::<Option<Facts>>(&next.clone().map(question).collect::<Vec<_>>());
            let ended = answers.len() < next.len();
            for ((image, file), answer) in next.zip(answers) {
                if answer.is_some() {
                    let (file, loaded_by) = (Arc::clone(file), Some(client.starts - u32::from(ended)));
                    client.images.insert(*image, Known { file, loaded_by, debug: None, shared: None });
                }
                facts.push(answer);
            }
            // The one over which it ended.
            facts.extend(ended.then_some(None));
        }
        facts
    }

    /// How to get from addresses of images to their callers. Where the resolver ends over them, only the first is asked about
    /// from then on.
    pub(crate) fn rows(&self, places: &[(u32, u64)]) -> Vec<Option<Row>> {
        let mut client = self.client();
        let Some(first) = places.first() else { return Vec::new() };
        if client.starts <= 1 && places.len() > 1 {
            for (image, _) in places {
                // Those that were given up have no rows.
                let _ = client.prepare(*image);
            }
            if let Ok(rows) = client.ask(&Question::Rows { places: places.to_vec() }, None) {
                return sound(rows);
            }
        }
        sound(client.ask_about(first.0, &Question::Rows { places: vec![*first] }, None).unwrap_or_default())
    }

    /// Gives it an image's debug information: the link to what that shares with others.
    pub(crate) fn give_debug(&self, image: u32, file: File) -> Option<Link> {
        let (mut client, file) = (self.client(), Arc::new(file));
        let link = client.ask_about(image, &Question::Debug { image }, Some(&file));
        client.images.get_mut(&image)?.debug = Some(file);
        link.flatten()
    }

    /// Gives it what that shares with others.
    pub(crate) fn give_shared(&self, image: u32, file: File) {
        let (mut client, file) = (self.client(), Arc::new(file));
        client.ask_about::<Option<()>>(image, &Question::Shared { image }, Some(&file));
        if let Some(known) = client.images.get_mut(&image) {
            known.shared = Some(file);
        }
    }

    /// What places of an image are, as far as it can say.
    pub(crate) fn names(&self, image: u32, places: &[Place]) -> Vec<Named> {
        let mut named = Vec::with_capacity(places.len());
        for some in places.chunks(MOST_PLACES) {
            let mut client = self.client();
            for (caller, _) in some.iter().filter_map(|place| place.caller) {
                // Where it was given up, the calls that it made name nothing.
                let _ = client.prepare(caller);
            }
            let question = Question::Names { image, places: some.to_vec() };
            let answer = client.ask_about::<Vec<Named>>(image, &question, None);
            let answer = answer.filter(|answer| answer.len() == some.len());
            client.unanswered += if answer.is_none() { some.len() as u64 } else { 0 };
            named.extend(answer.unwrap_or_else(|| vec![Named::default(); some.len()]));
        }
        named
    }

    /// Start and name of the generated function at each address, by a file that maps them.
    pub(crate) fn generated(&self, file: &Arc<File>, addresses: &[u64]) -> Vec<Option<(u64, String)>> {
        let question = Question::Generated { addresses: addresses.to_vec() };
        self.counted(&question, Some(file), addresses.len()).unwrap_or_default()
    }

    /// Which runtime is in a file; None where that could not be told.
    pub(crate) fn embedded(&self, file: &Arc<File>) -> Option<Embedded> {
        self.counted::<Option<Embedded>>(&Question::Embedded, Some(file), 1).ok().map(Option::unwrap_or_default)
    }

    /// Which interpreter of scripts is in a file, if any.
    ///
    /// # Errors
    /// Where that could not be told.
    pub(crate) fn interpreter(&self, file: &Arc<File>) -> Result<Option<ScriptImage>, Ended> {
        self.counted(&Question::Interpreter, Some(file), 1)
    }

    /// What lines the instructions of a script's function are on.
    pub(crate) fn lines(&self, form: Form, table: &[u8], first_line: u32) -> Option<Lines> {
        self.counted(&Question::Lines { form, first_line, table: table.to_vec() }, None, 1).ok()
    }

    /// How often it ended before its time, and how many names were not had for that.
    pub fn lost(&self) -> (u32, u64) {
        let client = self.client();
        let ended = client.starts.saturating_sub(u32::from(matches!(client.means, Means::Apart(_))));
        (ended, client.unanswered)
    }

    fn counted<T: DeserializeOwned>(
        &self,
        question: &Question,
        file: Option<&Arc<File>>,
        names: usize,
    ) -> Result<T, Ended> {
        let mut client = self.client();
        let answer = client.ask(question, file);
        client.unanswered += if answer.is_err() { names as u64 } else { 0 };
        answer
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    fn start(&mut self) {
        self.means = Means::Gone;
        if self.starts < MOST_STARTS {
            self.starts += 1;
            self.means = start::start().map_or(Means::Gone, Means::Apart);
        }
    }

    /// Asks about an image, which is given up where the resolver ends over it.
    fn ask_about<T: DeserializeOwned>(
        &mut self,
        image: u32,
        question: &Question,
        file: Option<&Arc<File>>,
    ) -> Option<T> {
        self.prepare(image)?;
        let answer = self.ask(question, file);
        if answer.is_err() {
            self.give_up(image);
        }
        answer.ok()
    }

    /// Has the resolver that there is now load an image that an earlier one had.
    fn prepare(&mut self, image: u32) -> Option<()> {
        let known = self.images.get(&image)?;
        let loaded_by = known.loaded_by?;
        if loaded_by == self.starts || matches!(self.means, Means::Gone) {
            return (loaded_by == self.starts).then_some(());
        }
        let known = self.images.remove(&image)?;
        let loaded = self.ask::<Option<Facts>>(&Question::Load { image }, Some(&known.file)).ok().flatten();
        let debug = known.debug.as_ref().map(|file| self.ask::<Option<Link>>(&Question::Debug { image }, Some(file)));
        let shared = known.shared.as_ref().map(|file| self.ask::<Option<()>>(&Question::Shared { image }, Some(file)));
        let is_whole = loaded.is_some() && !matches!(debug, Some(Err(Ended))) && !matches!(shared, Some(Err(Ended)));
        let loaded_by = is_whole.then_some(self.starts);
        self.images.insert(image, Known { loaded_by, ..known });
        loaded_by.map(drop)
    }

    fn give_up(&mut self, image: u32) {
        if let Some(known) = self.images.get_mut(&image) {
            known.loaded_by = None;
        }
    }

    fn ask<T: DeserializeOwned>(&mut self, question: &Question, file: Option<&Arc<File>>) -> Result<T, Ended> {
        self.ask_all(&[(question.clone(), file.cloned())]).pop().ok_or(Ended)
    }

    /// Asks several things at once: as many answers as there were before the resolver ended, which is then started again.
    fn ask_all<T: DeserializeOwned>(&mut self, questions: &[(Question, Option<Arc<File>>)]) -> Vec<T> {
        let questions =
            questions.iter().filter_map(|(question, file)| Some((serde_json::to_vec(question).ok()?, file.as_deref())));
        let questions = questions.collect::<Vec<_>>();
        let answers = match &mut self.means {
            Means::Here(worker) => {
                let file = |file: Option<&File>| file.and_then(|file| file.try_clone().ok()).map(OwnedFd::from);
                questions.iter().map(|(question, own)| worker.answer(question, file(*own))).collect()
            }
            Means::Apart(socket) => exchange(socket.as_fd(), &questions),
            Means::Gone => return Vec::new(),
        };
        let answers = answers.iter().map_while(|answer| serde_json::from_slice(answer).ok()).collect::<Vec<_>>();
        if answers.len() < questions.len() && matches!(self.means, Means::Apart(_)) {
            self.start();
        }
        answers
    }
}

/// Rows that a resolver may have made up.
fn sound(rows: Vec<Option<Row>>) -> Vec<Option<Row>> {
    rows.into_iter().map(|row| row.filter(Row::is_sound)).collect()
}

/// Sends questions and waits for their answers, as far as they come in time.
fn exchange(socket: BorrowedFd<'_>, questions: &[(Vec<u8>, Option<&File>)]) -> Vec<Vec<u8>> {
    for (question, file) in questions {
        if message::send(socket, question, file.map(AsFd::as_fd).as_slice()).is_err() {
            return Vec::new();
        }
    }
    questions.iter().map_while(|_| answer(socket)).collect()
}

/// The next answer; None where there is none, or not in time.
fn answer(socket: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = PollTimeout::try_from(left).ok().filter(|left| *left != PollTimeout::ZERO)?;
        match poll(&mut [PollFd::new(socket, PollFlags::POLLIN)], left) {
            Ok(0) => return None,
            Ok(_) => return message::receive(socket).ok()?.map(|(bytes, _)| bytes),
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}
