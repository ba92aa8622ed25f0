//! Counts as the rows of a cube, and back. The cubes of two parts of a log make the cube of the whole.
//!
//! What a cube says may be a stranger's: names are bounded, times are such that can be reckoned with, and counts go through the same
//! bounds as those of a log.

use crate::address::{self, Network, network_text};
use crate::agent::AgentKind;
use crate::counts::{Counts, FileCounts};
use crate::distinct::Distinct;
use crate::error::ImportError;
use crate::families::{Claim, Family};
use crate::files::LogFile;
use crate::heavy::Counted;
use crate::series::LENGTHS;
use crate::tally::Tally;
use crate::time::LARGEST_SECONDS;
use crate::workers::{Done, Outcome, seed};
use case::{CaseError, Nanos, TrafficRow, read_cube, write_cube};
use std::collections::HashMap;
use std::path::Path;

const ALL: &str = "all";
const FILE: &str = "file";
const MALFORMED: &str = "malformed";
const AGENT: &str = "agent";
const STATUS: &str = "status";
const TIME: &str = "time";
const NETWORK: &str = "network";
const ROUTE: &str = "route";
const OTHER_NETWORKS: &str = "other-networks";
const OTHER_ROUTES: &str = "other-routes";

/// How kinds and claims are written.
const KINDS: [(AgentKind, &str); 4] = [
    (AgentKind::Crawler, "crawler"),
    (AgentKind::Browser, "browser"),
    (AgentKind::Tool, "tool"),
    (AgentKind::Silent, "silent"),
];
const CLAIMS: [(Claim, &str); 3] =
    [(Claim::Unchecked, "unchecked"), (Claim::Verified, "verified"), (Claim::Forged, "forged")];

/// Longer names of agents, networks and routes are none of ours.
const LONGEST_NAME: usize = 512;
/// Higher counts are nobody's, and sums of them could not be held.
const MOST_COUNTED: u64 = 1 << 40;

/// Writes what reading has come to as a cube.
///
/// # Errors
/// Where the disk refuses.
pub fn write(done: &Done, path: &Path) -> Result<(), ImportError> {
    Ok(write_cube(path, &rows(done))?)
}

/// Reads a cube. Its files bear the name of their host where the cube lies below a folder `host=NAME`.
///
/// # Errors
/// Where it cannot be read, or is no cube.
pub fn read(path: &Path) -> Result<Done, ImportError> {
    let mut reader = Reader::new(path);
    let mut refused = None;
    read_cube(path, &mut |rows| {
        for row in &rows {
            refused = refused.take().or_else(|| reader.take(row).err());
        }
    })?;
    let whole = if reader.is_whole { Ok(reader.done) } else { Err("it has no row of all requests") };
    match refused {
        Some(why) => Err(CaseError::damaged(path, &why).into()),
        None => Ok(whole.map_err(|why| CaseError::damaged(path, &why))?),
    }
}

/// All rows, in an order that does not depend on who counted what.
pub(crate) fn rows(done: &Done) -> Vec<TrafficRow> {
    let counts = &done.counts;
    let all = TrafficRow {
        timed: counts.timed,
        addresses: counts.addresses(),
        sketch: counts.sketch().text(),
        ..tallied(ALL, &counts.tally)
    };
    let other = |part: &str, missed: u64| TrafficRow { missed, ..tallied(part, &Tally::default()) };
    let others = [other(OTHER_NETWORKS, counts.networks.dropped()), other(OTHER_ROUTES, counts.routes_dropped())];
    let mut rows = vec![all];
    rows.extend(others.into_iter().filter(|row| row.missed > 0));
    rows.extend(done.files.iter().zip(&done.outcomes).zip(&counts.files).map(of_file));
    let example = |(file, line): &(usize, String)| TrafficRow {
        name: name_of(&done.files[*file]),
        text: line.clone(),
        ..tallied(MALFORMED, &Tally::default())
    };
    rows.extend(counts.examples.iter().map(example));
    for family in counts.families().iter().filter(|family| family.tally.requests > 0) {
        of_family(family, LENGTHS[counts.length()], &mut rows);
    }
    let family = |number: u16| &counts.families()[usize::from(number)];
    let listed = |part: &str, number: u16, name: String, counted: &Counted| TrafficRow {
        name,
        missed: counted.missed,
        ..of(part, family(number), &counted.tally)
    };
    rows.extend(
        counts.networks.iter().map(|((of, network), counted)| listed(NETWORK, *of, network_text(*network), counted)),
    );
    rows.extend(
        counts
            .routes()
            .map(|(of, route, counted)| listed(ROUTE, of, String::from_utf8_lossy(route).into_owned(), counted)),
    );
    rows.sort_by(|one, other| order(one).cmp(&order(other)));
    rows
}

fn order(row: &TrafficRow) -> (&str, &str, &str, &str, &str, &str, u8, i64) {
    (&row.part, &row.agent, &row.kind, &row.claim, &row.name, &row.text, row.status, row.first_s)
}

fn tallied(part: &str, tally: &Tally) -> TrafficRow {
    TrafficRow {
        part: part.into(),
        requests: tally.requests,
        bytes: tally.bytes,
        took: Nanos(tally.took_ns),
        ..TrafficRow::default()
    }
}

fn of(part: &str, family: &Family, tally: &Tally) -> TrafficRow {
    TrafficRow {
        agent: family.name.clone(),
        kind: written(&KINDS, &family.kind).into(),
        claim: written(&CLAIMS, &family.claim).into(),
        ..tallied(part, tally)
    }
}

fn of_family(family: &Family, length_s: i64, rows: &mut Vec<TrafficRow>) {
    rows.push(TrafficRow {
        addresses: family.addresses(),
        sketch: family.sketch().text(),
        ..of(AGENT, family, &family.tally)
    });
    for (status, requests) in family.statuses.iter().enumerate().filter(|(_, requests)| **requests > 0) {
        let tally = Tally { requests: *requests, ..Tally::default() };
        rows.push(TrafficRow { status: status as u8, ..of(STATUS, family, &tally) });
    }
    rows.extend(family.series.sorted().into_iter().map(|(bucket, tally)| {
        let first_s = bucket * length_s;
        TrafficRow { first_s, last_s: first_s + length_s - 1, ..of(TIME, family, &tally) }
    }));
}

fn of_file(((file, outcome), counts): ((&LogFile, &Outcome), &FileCounts)) -> TrafficRow {
    let (first_s, last_s) = counts.span.unwrap_or((0, -1));
    TrafficRow {
        name: name_of(file),
        text: outcome.format.clone(),
        problem: outcome.problem.clone(),
        skipped: outcome.is_skipped,
        first_s,
        last_s,
        malformed: counts.malformed,
        ..tallied(FILE, &Tally { requests: counts.lines - counts.malformed, ..Tally::default() })
    }
}

fn name_of(file: &LogFile) -> String {
    file.path.to_string_lossy().into_owned()
}

fn written<T: PartialEq>(words: &[(T, &'static str)], of: &T) -> &'static str {
    words.iter().find(|(known, _)| known == of).map_or("", |(_, word)| *word)
}

fn meant<T: Copy>(words: &[(T, &'static str)], word: &str) -> Result<T, String> {
    let found = words.iter().find(|(_, known)| *known == word).map(|(meant, _)| *meant);
    found.ok_or_else(|| format!("{word:?} is no kind of agent and no claim"))
}

/// Rows on their way into counts.
struct Reader {
    done: Done,
    /// The name of the host before each file's.
    host: String,
    /// The places of the files, by their names in the cube.
    files: HashMap<String, usize>,
    /// The length of the buckets of time, in the cube.
    length_s: Option<i64>,
    is_whole: bool,
}

impl Reader {
    fn new(path: &Path) -> Reader {
        let parts = path.iter().filter_map(|part| part.to_str());
        let host = parts.filter_map(|part| part.strip_prefix("host=")).next_back();
        Reader {
            done: Done { files: Vec::new(), counts: Counts::new(0, seed()), outcomes: Vec::new() },
            host: host.map(|host| format!("{host}:")).unwrap_or_default(),
            files: HashMap::new(),
            length_s: None,
            is_whole: false,
        }
    }

    fn take(&mut self, row: &TrafficRow) -> Result<(), String> {
        if [&row.agent, &row.kind, &row.claim].into_iter().any(|word| word.len() > LONGEST_NAME) {
            return Err("an agent's name in it is too long".into());
        }
        if [row.requests, row.timed, row.malformed, row.missed].into_iter().any(|count| count > MOST_COUNTED) {
            return Err("a count in it is too high".into());
        }
        let tally = Tally { requests: row.requests, bytes: row.bytes, took_ns: row.took.0 };
        let counts = &mut self.done.counts;
        match row.part.as_str() {
            ALL => {
                (counts.tally, counts.timed) = (tally, row.timed);
                counts.add_addresses(&sketch(row)?);
                self.is_whole = true;
            }
            FILE => self.take_file(row)?,
            MALFORMED => {
                let file = self.file(&row.name);
                self.done.counts.add_example(file, row.text.as_bytes());
            }
            AGENT => {
                let sketch = sketch(row)?;
                let family = self.family(row)?;
                family.tally.add(&tally);
                family.add_addresses(&sketch);
            }
            STATUS => {
                let status = usize::from(row.status).min(5);
                let known = &mut self.family(row)?.statuses[status];
                *known = known.saturating_add(row.requests);
            }
            TIME => self.take_time(row, &tally)?,
            NETWORK => {
                let (number, network) = (self.number(row)?, network(named(row)?)?);
                self.done.counts.networks.hold((number, network), &Counted { tally, missed: row.missed });
            }
            ROUTE => {
                let (number, route) = (self.number(row)?, named(row)?);
                self.done.counts.add_route(number, route.as_bytes(), &Counted { tally, missed: row.missed });
            }
            OTHER_NETWORKS => counts.networks.drop_more(row.missed),
            OTHER_ROUTES => counts.drop_routes(row.missed),
            // A later version counts more.
            _ => {}
        }
        Ok(())
    }

    fn take_file(&mut self, row: &TrafficRow) -> Result<(), String> {
        let file = self.file(&row.name);
        let span = (row.first_s <= row.last_s).then(|| Ok::<_, String>((second(row.first_s)?, second(row.last_s)?)));
        let (lines, malformed) = (row.requests.saturating_add(row.malformed), row.malformed);
        self.done.counts.files[file] = FileCounts { lines, malformed, span: span.transpose()? };
        self.done.outcomes[file] =
            Outcome { format: row.text.clone(), problem: row.problem.clone(), is_skipped: row.skipped };
        Ok(())
    }

    /// The place of a file; one is made where it is new. Rows of a file and of its lines come in either order.
    fn file(&mut self, name: &str) -> usize {
        if let Some(file) = self.files.get(name) {
            return *file;
        }
        let file = self.files.len();
        self.files.insert(name.into(), file);
        self.done.files.push(LogFile { path: format!("{}{name}", self.host).into(), is_named: true });
        self.done.outcomes.push(Outcome::default());
        self.done.counts.files.push(FileCounts::default());
        file
    }

    fn take_time(&mut self, row: &TrafficRow, tally: &Tally) -> Result<(), String> {
        let (first, last) = (second(row.first_s)?, second(row.last_s)?);
        let length_s = last - first + 1;
        let length = LENGTHS.iter().position(|known| *known == length_s);
        let length = length.ok_or("its time buckets have an invalid length")?;
        if *self.length_s.get_or_insert(length_s) != length_s || first.rem_euclid(length_s) != 0 {
            return Err("its time buckets differ in length".into());
        }
        let number = self.number(row)?;
        self.done.counts.add_bucket(number, first, length, tally);
        Ok(())
    }

    fn number(&mut self, row: &TrafficRow) -> Result<u16, String> {
        let (kind, claim) = (meant(&KINDS, &row.kind)?, meant(&CLAIMS, &row.claim)?);
        Ok(self.done.counts.number(&row.agent, kind, claim))
    }

    fn family(&mut self, row: &TrafficRow) -> Result<&mut Family, String> {
        let number = self.number(row)?;
        Ok(self.done.counts.family(number))
    }
}

fn named(row: &TrafficRow) -> Result<&str, String> {
    if row.name.len() <= LONGEST_NAME {
        Ok(&row.name)
    } else {
        Err(format!("the name of a {} in it is too long", row.part))
    }
}

fn network(name: &str) -> Result<Network, String> {
    if name == network_text(Network::UNKNOWN) {
        return Ok(Network::UNKNOWN);
    }
    let address = name.split_once('/').and_then(|(address, _)| address::of(address.as_bytes()));
    address.map(Network::of).ok_or_else(|| "a network in it is invalid".to_string())
}

fn sketch(row: &TrafficRow) -> Result<Distinct, String> {
    Distinct::of_text(&row.sketch).ok_or_else(|| "a sketch of addresses in it is invalid".to_string())
}

/// A time that can be reckoned with.
fn second(time: i64) -> Result<i64, String> {
    let most = LARGEST_SECONDS as i64;
    if (-most..=most).contains(&time) { Ok(time) } else { Err("a time in it is out of range".into()) }
}

#[cfg(test)]
mod tests;
