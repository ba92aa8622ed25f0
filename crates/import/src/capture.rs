//! Captures that others have made, as cases: pcap and pcapng, plain, gzip or zstd, read once and in bounded memory.
//!
//! What cannot be read is counted by its reason and never an error; where the file itself breaks off, what came before
//! counts.

mod ahead;
mod connection;
mod flow;
mod heads;
mod packets;
mod rows;
mod side;
mod stream;

use crate::error::ImportError;
use crate::files::{self, LogFile, Opened};
use ahead::Ahead;
use case::{Nanos, Recording};
use connection::{Known, Live, Taken};
use flow::Flow;
use heads::{Address, Head, Skipped};
use packets::{Broken, Packets, Step};
use rows::Rows;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

/// Rows of one case, as many as a recording has at most: a diagnosis holds them in memory.
const MOST_ROWS: u64 = 8_000_000;

/// Connections that are followed at the same time: each takes up to some thousand bytes. Beyond, those that were silent for
/// longest are given up.
const MOST_LIVE: usize = 100_000;

/// Nobody captures for longer than a year; a later time is that of a broken clock, or meant to overflow.
const LONGEST: u64 = 366 * 86_400 * 1_000_000_000;

/// The first packet has this time, so that nothing has time 0, which stands for never.
const FIRST: u64 = 1_000;

/// What a capture came down to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Packets in the file.
    pub packets: u64,
    /// Those that are rows.
    pub segments: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// TCP connections.
    pub connections: u64,
    /// When the first packet was captured, in seconds since 1970.
    pub started_unix_seconds: u64,
    /// When the last row was, in the case's time.
    pub end: Nanos,
    /// What could not be taken, by its reason, and how often.
    pub problems: Vec<(Problem, u64)>,
}

/// Why packets are no rows, or the file was not read to its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// Their link is of a type that is not read; its number.
    Link(u32),
    /// Something else than TCP over IP.
    NotTcp,
    /// Captured without their heads: the capture's snapshot length was too small.
    CutShort,
    /// Fragments of IP packets.
    Fragment,
    /// Heads that contradict themselves.
    Malformed,
    /// Captured twice.
    Twice,
    /// Later in the file than one with a later time.
    OutOfOrder,
    /// More than a year after the first one.
    FarOff,
    /// Behind the rows that one case holds.
    NoRoom,
    /// The file ends in the middle of a packet.
    Truncated,
    /// The file is no capture from some place on; what is wrong there.
    Broken(String),
}

/// Reads a capture: what it came down to, and its rows, with the times in their manifest.
///
/// # Errors
/// Where the file cannot be read, or is no capture.
pub fn read_capture(path: &Path) -> Result<(Captured, Recording), ImportError> {
    let file = LogFile { path: path.to_path_buf(), is_named: true };
    let opened = files::open(&file).map_err(ImportError::io(path))?;
    let from: Box<dyn Read + Send> = match opened {
        Opened::Plain(file, _) => Box::new(file),
        Opened::Stream(stream) => stream,
    };
    let (begin, from) = begun(from).map_err(ImportError::io(path))?;
    if !packets::is_capture(&begin) {
        return Err(ImportError::NotACapture(path.to_path_buf()));
    }
    let (captured, mut recording) = read(&begin, Ahead::of(from), MOST_ROWS).map_err(|broken| match broken {
        Broken::Io(error) => ImportError::io(path)(error),
        _ => ImportError::NotACapture(path.to_path_buf()),
    })?;
    recording.sort();
    let manifest = &mut recording.manifest;
    (manifest.start, manifest.end) = (Nanos(FIRST - 1), captured.end);
    manifest.started_unix_seconds = captured.started_unix_seconds;
    Ok((captured, recording))
}

/// The first bytes of a stream, and all of it.
fn begun(mut from: Box<dyn Read + Send>) -> std::io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut begin = Vec::new();
    from.by_ref().take(4).read_to_end(&mut begin)?;
    let again = std::io::Cursor::new(begin.clone()).chain(from);
    Ok((begin, Box::new(again)))
}

/// Reads all packets into at most so many rows. An error only where not even the file's head can be read.
fn read(begin: &[u8], from: Ahead, most: u64) -> Result<(Captured, Recording), Broken> {
    let mut packets = Packets::new(begin, from)?;
    let mut rows = Rows::new(most);
    let mut reading = Reading::default();
    loop {
        match packets.next() {
            Ok(Step::End) => break,
            Ok(Step::Other) => {}
            Ok(Step::Packet(packet)) => {
                let first = *reading.first.get_or_insert(packet.time);
                reading.captured.packets += 1;
                match heads::read(&packet) {
                    Err(skipped) => reading.problem(skipped.into()),
                    Ok(head) => {
                        reading.captured.bytes += u64::from(packet.length);
                        let time = packet.time.saturating_sub(first).saturating_add(FIRST);
                        reading.take(time, packet.time < first, &head, &mut rows);
                    }
                }
            }
            Err(Broken::Truncated) => {
                reading.problem(Problem::Truncated);
                break;
            }
            Err(Broken::Malformed(what)) => {
                reading.problem(Problem::Broken(what));
                break;
            }
            Err(Broken::Io(error)) => {
                reading.problem(Problem::Broken(error.to_string()));
                break;
            }
        }
    }
    Ok(reading.finish(rows))
}

/// What is known while packets are read.
#[derive(Default)]
struct Reading {
    first: Option<u64>,
    captured: Captured,
    problems: BTreeMap<Problem, u64>,
    live: HashMap<Flow, Live>,
    known: Known,
    /// The time of the last packet, and until when there was room for rows.
    now: u64,
    end: u64,
}

impl Reading {
    fn problem(&mut self, problem: Problem) {
        *self.problems.entry(problem).or_default() += 1;
    }

    fn take(&mut self, time: u64, is_before: bool, head: &Head, rows: &mut Rows) {
        if !rows.has_room() {
            return self.problem(Problem::NoRoom);
        }
        if is_before || time < self.now {
            self.problem(Problem::OutOfOrder);
        }
        if time > LONGEST {
            self.problem(Problem::FarOff);
        }
        // Rows are sorted when they are read; here, time stands still meanwhile.
        let time = time.min(LONGEST).max(self.now);
        (self.now, self.end) = (time, time);
        let ends = if head.from <= head.to { [head.from, head.to] } else { [head.to, head.from] };
        let flow = Flow::of(ends);
        let taken = match self.live.get_mut(&flow) {
            Some(live) if !live.is_over_before(head) => live.take(time, head, &mut self.known, rows),
            _ => {
                let mut live = self.begin(flow, ends, time, rows);
                let taken = live.take(time, head, &mut self.known, rows);
                self.live.insert(flow, live);
                taken
            }
        };
        match taken {
            Taken::Row => self.captured.segments += 1,
            Taken::Twice => self.problem(Problem::Twice),
        }
    }

    /// A connection that begins, in the place of one that is over.
    fn begin(&mut self, flow: Flow, ends: [Address; 2], time: u64, rows: &mut Rows) -> Live {
        if let Some(live) = self.live.remove(&flow) {
            live.end(FIRST - 1, time, &mut self.known, rows);
        }
        if self.live.len() >= MOST_LIVE {
            self.make_room(rows);
        }
        self.captured.connections += 1;
        Live::new(self.captured.connections as u32, ends, time)
    }

    /// Gives up connections that are closed, and of the others the half that was silent for longest.
    fn make_room(&mut self, rows: &mut Rows) {
        let mut silent: Vec<u64> = self.live.values().filter(|one| !one.is_closed()).map(|one| one.last_seen).collect();
        silent.sort_unstable();
        let since = silent.get(silent.len() / 2).copied().unwrap_or_default();
        let is_given_up = |live: &Live| live.is_closed() || live.last_seen <= since;
        let mut given_up: Vec<Live> = self.live.extract_if(|_, live| is_given_up(live)).map(|(_, live)| live).collect();
        given_up.sort_unstable_by_key(Live::id);
        for live in given_up {
            live.end(FIRST - 1, self.now, &mut self.known, rows);
        }
    }

    fn finish(mut self, mut rows: Rows) -> (Captured, Recording) {
        let mut left: Vec<Live> = self.live.drain().map(|(_, live)| live).collect();
        left.sort_unstable_by_key(Live::id);
        rows.make_room();
        for live in left {
            live.end(FIRST - 1, self.end, &mut self.known, &mut rows);
        }
        let recording = rows.finish(Nanos(self.end), Nanos(self.now));
        self.captured.end = Nanos(self.end + 1);
        self.captured.started_unix_seconds = self.first.unwrap_or_default() / 1_000_000_000;
        self.captured.problems = self.problems.into_iter().collect();
        (self.captured, recording)
    }
}

impl From<Skipped> for Problem {
    fn from(skipped: Skipped) -> Problem {
        match skipped {
            Skipped::Link(number) => Problem::Link(number),
            Skipped::NotTcp => Problem::NotTcp,
            Skipped::CutShort => Problem::CutShort,
            Skipped::Fragment => Problem::Fragment,
            Skipped::Malformed => Problem::Malformed,
        }
    }
}

/// Any bytes as a capture: for fuzzers.
pub(crate) fn fuzz(bytes: &[u8]) {
    let begin = &bytes[..bytes.len().min(4)];
    if packets::is_capture(begin) {
        let _ = read(begin, Ahead::of(std::io::Cursor::new(bytes.to_vec())), 10_000);
    }
}

#[cfg(test)]
mod tests;
