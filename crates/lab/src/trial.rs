//! One trial: the subject started anew in its world, with what an arm attaches to it, measured over a window, ended.

#[cfg(test)]
mod tests;

use crate::error::LabError;
use crate::extent::Extent;
use crate::journal::{Entry, Journal};
use crate::launch::{Kind, Launch, Outputs, Subject};
use crate::mapped::Mapped;
use crate::metric::Metric;
use crate::outcome::Outcome;
use crate::proxy::Proxies;
use crate::server::Server;
use crate::staged;
use crate::treatment::{End, Treatment};
use crate::world::World;
use case::tables::Trial;
use record::{Ended, Input, Lengths, Meter, Output, Reading, Role};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a trial is looked at. A window ends with the look after its last exchange: short against a window, and
/// a look costs some microseconds.
const TICK: Duration = Duration::from_millis(1);

/// Output of a client that is kept for comparison and for the user's metric.
pub(crate) const MOST_OUTPUT: u64 = 4 << 20;

/// What trials have in common.
pub struct Laboratory<'a> {
    /// Where undo is written.
    pub journal: &'a Journal,
    /// The figure to look for in the client's output.
    pub metric: Option<&'a Metric>,
    /// Waits for at most so long; true where the user wants an end.
    pub wait: &'a mut dyn FnMut(Duration) -> bool,
    /// The end whose mapped files are kept ([`Outcome::mapped`]); none for neither.
    pub keeps_mapped: Option<End>,
    meter: Meter,
    folder: PathBuf,
    entry: Entry,
}

/// A client as far as its trial has got.
struct Measured {
    first: Reading,
    last: Reading,
    /// When nothing more was looked at: where the window ends with the exchange that was seen last, its answer may have gone on.
    end: Reading,
    /// How long the exchanges of the window were; none where it never began.
    lengths: Option<Lengths>,
    ended: Option<Ended>,
}

impl<'a> Laboratory<'a> {
    /// Loads what measures. `wait` is asked to pass the time, and tells when the user wants an end.
    ///
    /// # Errors
    /// Where the kernel does not let us measure.
    pub fn open(
        journal: &'a Journal,
        metric: Option<&'a Metric>,
        wait: &'a mut dyn FnMut(Duration) -> bool,
    ) -> Result<Laboratory<'a>, LabError> {
        let meter = Meter::load()?;
        let (folder, entry) = staged::make(journal)?;
        Ok(Laboratory { journal, metric, wait, keeps_mapped: None, meter, folder, entry })
    }

    /// Runs a subject once in a world.
    ///
    /// # Errors
    /// Where it cannot be started, or the user wants an end.
    pub fn run(
        &mut self,
        subject: &Subject,
        world: &World,
        treatment: &Treatment,
        extent: &Extent,
    ) -> Result<Outcome, LabError> {
        let begun = Instant::now();
        let (output, errors) = (self.folder.join("output"), self.folder.join("errors"));
        let outputs = Outputs {
            client: Output::File(output.clone()),
            client_errors: Output::File(errors.clone()),
            server: Output::File(self.folder.join("server-output")),
            server_errors: Output::File(self.folder.join("server-errors")),
        };
        self.meter.clear();
        let Launch { client, server, attached } =
            Launch::set(subject, world, treatment, self.journal, &outputs, Kind::Trial)?;
        let server = match server {
            Some(held) => {
                self.meter.follow(held.pid(), Role::Server)?;
                match Server::start(held, subject, attached.besides(client.pid()), self.wait) {
                    Ok(server) => Some(server),
                    Err(error) => {
                        // A client that is held does not hear that it should end: let go of it before its group is ended.
                        drop(client);
                        return Err(self.why_gone(error, world));
                    }
                }
            }
            None => None,
        };
        // What a proxy does for a server costs CPU time, too. Its exchanges are none of the client's, which are what counts.
        attached.proxies.iter().flat_map(Proxies::pids).try_for_each(|pid| self.meter.follow(pid, Role::Server))?;
        self.meter.follow(client.pid(), Role::Client)?;
        // Of a program that is over in a millisecond, much has passed when release returns.
        let released = self.meter.read();
        let pid = client.pid();
        let mut client = client.release()?;
        let asked = self.keeps_mapped.unwrap_or(End::Client);
        let mut mapped = self.keeps_mapped.map(|_| Mapped::new());
        let alone = server.as_ref().filter(|_| asked == End::Server).map_or(pid, Server::pid);
        let members = || Some(attached.members_of(asked)).filter(|all| !all.is_empty()).unwrap_or(vec![alone]);
        let mut look = |elapsed| mapped.as_mut().map_or((), |mapped| mapped.look(elapsed, members));
        let measured = self.follow(&mut client, extent, released, &mut look)?;
        if let Some(mapped) = &mut mapped {
            mapped.read(&members());
        }
        let counters = attached.counters();
        drop((client, server, attached));
        let output = beginning(&output);
        let row = Trial { metric: self.figure(&output), ..row(&measured) };
        let mapped = mapped.map(Mapped::take).unwrap_or_default();
        Ok(Outcome { row, counters, output, errors: last_words(&errors), mapped, took: begun.elapsed() })
    }

    /// Watches the client from its release to its end, or to where the trial is cut. `look` gets the time at each tick.
    fn follow(
        &mut self,
        client: &mut record::Running,
        extent: &Extent,
        released: Reading,
        look: &mut dyn FnMut(Duration),
    ) -> Result<Measured, LabError> {
        let begun = Instant::now();
        let mut first = released;
        // The last look at which nothing had been exchanged, and the one at which the last exchange so far was seen.
        let (mut still, mut grown) = (first, first);
        // What is dropped ends with the exchange that completes it: until then the window has not begun.
        let mut is_warm = extent.warm_up == 0;
        let none = self.meter.lengths();
        let mut dropped = is_warm.then(|| none.clone());
        let mut window = Instant::now();
        let mut before = 0;
        loop {
            let ended = client.poll()?;
            let last = self.meter.read();
            // A server has answered before its client has the answer: only from then on is it known that the client's exchanges count.
            if last.origin != grown.origin {
                (first, grown, is_warm, before) = (released, released, extent.warm_up == 0, 0);
                dropped = is_warm.then(|| none.clone());
            }
            still = if last.exchanges == 0 { last } else { still };
            grown = if last.exchanges > grown.exchanges { last } else { grown };
            // All of it was over between two looks: then what should have been dropped is all that there is.
            let is_over = last.exchanges > 0 && last.exchanges == first.exchanges;
            if ended.is_some() && is_over {
                (first, dropped) = (still, Some(none.clone()));
            }
            if ended.is_some() || begun.elapsed() >= extent.longest {
                // Where other trials are cut after an exchange, the program's way to its end is no part of this one.
                let is_trimmed = extent.window.is_some() && grown.exchanges > first.exchanges;
                let lengths = dropped.map(|dropped| self.meter.lengths().since(&dropped));
                let (last, end) = (if is_trimmed { grown } else { last }, last);
                return Ok(Measured { first, last, end, lengths, ended });
            }
            if !is_warm {
                // Where all is over before the next look, the window has begun with the look before.
                is_warm = last.exchanges >= extent.warm_up;
                first = if last.exchanges > 0 { last } else { first };
                dropped = is_warm.then(|| self.meter.lengths());
                window = Instant::now();
            }
            if is_warm {
                let made = last.exchanges.saturating_sub(first.exchanges);
                let has_made = extent.exchanges.is_some_and(|wanted| made >= wanted);
                let is_late = extent.window.is_some_and(|longest| window.elapsed() >= longest);
                // Cut with an exchange, not within one: it would be counted by its time and not by its number.
                let is_new = made > before;
                before = made;
                let is_overdue = extent.window.is_some_and(|longest| window.elapsed() >= 2 * longest);
                if (has_made && window.elapsed() >= extent.least) || (is_late && is_new) || is_overdue {
                    let lengths = dropped.map(|dropped| self.meter.lengths().since(&dropped));
                    return Ok(Measured { first, last, end: last, lengths, ended: None });
                }
            }
            look(begun.elapsed());
            if (self.wait)(TICK) {
                return Err(LabError::Interrupted);
            }
        }
    }

    /// Why a server did not come up, with what it said last: nobody else has seen that.
    fn why_gone(&self, error: LabError, world: &World) -> LabError {
        let said = ["server-errors", "server-output"].map(|file| last_words(&self.folder.join(file)));
        let said = said.into_iter().find(|words| !words.is_empty());
        match error {
            LabError::ServerEnded { command, ended } => {
                let how = match (ended.exit, ended.signal) {
                    (Some(status), _) => format!("it exited with status {status}"),
                    (None, Some(signal)) => format!("it was killed by signal {signal}"),
                    (None, None) => "it ended".to_string(),
                };
                let mut said = said.unwrap_or(how);
                if said.contains("in use") && world.link.is_none() {
                    said += " (with --link mtu=1500 each run has its own network and ports)";
                }
                LabError::ServerGone { command, said }
            }
            LabError::ServerSilent { command, waited } => {
                let how = format!("it did not listen within {} s", waited.as_secs());
                LabError::ServerGone { command, said: said.map_or(how.clone(), |said| format!("{how}: {said}")) }
            }
            other => other,
        }
    }

    fn figure(&self, output: &[u8]) -> f64 {
        self.metric.and_then(|metric| metric.find_in(output)).unwrap_or(f64::NAN)
    }
}

fn row(measured: &Measured) -> Trial {
    let (first, last) = (&measured.first, &measured.last);
    let length = |share| measured.lengths.as_ref().and_then(|lengths| lengths.quantile(share)).unwrap_or_default();
    let status = measured.ended.and_then(|ended| ended.exit.or(ended.signal.map(|signal| 128 + signal)));
    Trial {
        start: first.time,
        wall: last.time - first.time,
        exchanges: last.exchanges.saturating_sub(first.exchanges),
        exchange_wall: last.exchange_wall - first.exchange_wall,
        exchange_p50: length(0.5),
        exchange_p95: length(0.95),
        exchange_p99: length(0.99),
        client_user: last.client_user - first.client_user,
        client_system: last.client_system - first.client_system,
        server_user: last.server_user - first.server_user,
        server_system: last.server_system - first.server_system,
        exit: status.unwrap_or(-1),
        metric: f64::NAN,
        // From the start on, to the end: where the window begins is chance, and where it ends may be within the last answer.
        ..work_seen(&Reading::default(), &measured.end, Trial::default())
    }
}

/// A row with the work that was seen between two readings.
pub(crate) fn work_seen(first: &Reading, last: &Reading, row: Trial) -> Trial {
    let status = |class: usize| last.statuses[class].saturating_sub(first.statuses[class]);
    Trial {
        made: last.exchanges.saturating_sub(first.exchanges),
        answered_bytes: last.answered_bytes.saturating_sub(first.answered_bytes),
        status_2xx: status(1),
        status_3xx: status(2),
        status_4xx: status(3),
        status_5xx: status(4),
        alerts: last.alerts.saturating_sub(first.alerts),
        resets: last.resets.saturating_sub(first.resets),
        ..row
    }
}

impl Drop for Laboratory<'_> {
    fn drop(&mut self) {
        if std::fs::remove_dir_all(&self.folder).is_ok() {
            self.journal.tick_off(self.entry);
        }
    }
}

/// The beginning of a file, as far as it is compared.
fn beginning(path: &Path) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        // What cannot be read is not compared.
        let _ = file.take(MOST_OUTPUT).read_to_end(&mut bytes);
    }
    bytes
}

/// The last line of a file that says something.
fn last_words(path: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_string()
}

/// An input that can be given again; none where it comes through a pipe, which gives it once.
pub fn input_again() -> Option<Input> {
    let metadata = std::fs::metadata("/proc/self/fd/0").ok()?;
    if metadata.is_file() {
        return std::fs::read_link("/proc/self/fd/0").ok().map(Input::File);
    }
    (!metadata.file_type().is_fifo() && !metadata.file_type().is_socket()).then_some(Input::Nothing)
}
