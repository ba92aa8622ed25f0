//! What a log comes down to: counts of bounded size, whatever its length. Two halves of a log, counted apart and merged, make
//! what the whole makes.

use crate::address::{self, Network};
use crate::agent::AgentKind;
use crate::distinct::Distinct;
use crate::entry::Entry;
use crate::families::{Claim, Families, Family};
use crate::heavy::{Counted, Heavy};
use crate::ranges::Ranges;
use crate::route;
use crate::series::LENGTHS;
use crate::tally::Tally;

/// Lines that could not be read are kept so long, as examples.
const MOST_EXAMPLES: usize = 5;
const LONGEST_EXAMPLE: usize = 160;
/// Buckets of all families together; where there are more, buckets become longer. At about 40 bytes each.
const MOST_BUCKETS: usize = 200_000;

/// Counts of one file.
#[derive(Clone, Debug, Default)]
pub struct FileCounts {
    /// Lines that are not empty.
    pub lines: u64,
    /// Those of them that could not be read.
    pub malformed: u64,
    /// The earliest and the latest time, in seconds since 1970; none without any.
    pub span: Option<(i64, i64)>,
}

/// Counts of all.
pub struct Counts {
    /// By file, in the order in which the files were given.
    pub files: Vec<FileCounts>,
    /// Lines that could not be read: the file's place in that order, and what it begins with.
    pub examples: Vec<(usize, String)>,
    /// Requests, bytes and time in all.
    pub tally: Tally,
    /// Requests whose time is known.
    pub timed: u64,
    /// Networks, by the number of the family that came from them.
    pub networks: Heavy<(u16, Network)>,
    routes: Heavy<Box<[u8]>>,
    families: Families,
    addresses: Distinct,
    /// Which of [`LENGTHS`] buckets have.
    length: usize,
    buckets: usize,
    /// The key of a route, made anew for each request.
    key: Vec<u8>,
    /// The last requests, whose networks and routes are not counted yet.
    waiting: Waiting,
}

/// So many requests wait at most.
const MOST_WAITING: usize = 64;

/// Requests whose networks and routes are counted together. There are many of both, and hardly any is in the processor's cache:
/// looked up one behind the other, several are fetched at the same time.
#[derive(Default)]
struct Waiting {
    requests: Vec<((u16, Network), Tally)>,
    /// The keys of their routes, one behind the other, and where each ends.
    keys: Vec<u8>,
    ends: Vec<usize>,
}

impl Counts {
    /// None yet, of so many files. The seed keeps those who write requests from choosing keys that collide.
    pub fn new(files: usize, seed: usize) -> Counts {
        Counts {
            files: vec![FileCounts::default(); files],
            examples: Vec::new(),
            tally: Tally::default(),
            timed: 0,
            networks: Heavy::new(seed),
            routes: Heavy::new(seed),
            families: Families::default(),
            addresses: Distinct::default(),
            length: 0,
            buckets: 0,
            key: Vec::with_capacity(256),
            waiting: Waiting::default(),
        }
    }

    /// Notes a request of a file. Its network and its route count once [`Counts::settle`] was called.
    pub fn add(&mut self, file: usize, entry: &Entry, ranges: &Ranges) {
        let address = address::of(entry.client);
        let family = self.families.of(entry.agent, address, ranges);
        // A name in place of an address is told from others by itself.
        let known = address.unwrap_or_else(|| named(entry.client));
        let tally = Tally { requests: 1, bytes: entry.bytes, took_ns: entry.took_ns.unwrap_or(0) };
        self.tally.add(&tally);
        self.timed += u64::from(entry.took_ns.is_some());
        self.addresses.note(known);
        let counts = &mut self.files[file];
        counts.lines += 1;
        let bucket = entry.time.map(|time| {
            let (first, last) = counts.span.unwrap_or((time, time));
            counts.span = Some((first.min(time), last.max(time)));
            time.div_euclid(LENGTHS[self.length])
        });
        let network = address.map_or(Network::UNKNOWN, Network::of);
        route::fold(entry.target, &mut self.key);
        self.key.extend_from_slice(&family.to_be_bytes());
        self.waiting.requests.push(((family, network), tally));
        self.waiting.keys.extend_from_slice(&self.key);
        self.waiting.ends.push(self.waiting.keys.len());
        if self.waiting.requests.len() == MOST_WAITING {
            self.settle();
        }
        if self.families.list[usize::from(family)].add(bucket, known, entry.status, &tally) {
            self.buckets += 1;
            if self.buckets > MOST_BUCKETS {
                self.count_buckets();
            }
        }
    }

    /// Counts the networks and the routes of the last requests: whoever adds some calls it before anybody reads.
    pub fn settle(&mut self) {
        for (network, tally) in &self.waiting.requests {
            self.networks.put(*network, tally);
        }
        let mut start = 0;
        for ((_, tally), end) in self.waiting.requests.drain(..).zip(self.waiting.ends.drain(..)) {
            self.routes.add(&self.waiting.keys[start..end], &tally);
            start = end;
        }
        self.waiting.keys.clear();
    }

    /// Notes a line of a file that could not be read.
    pub fn add_malformed(&mut self, file: usize, line: &[u8]) {
        self.files[file].lines += 1;
        self.files[file].malformed += 1;
        self.add_example(file, line);
    }

    /// Notes a line that somebody else could not read and has counted.
    pub(crate) fn add_example(&mut self, file: usize, line: &[u8]) {
        if self.examples.len() < MOST_EXAMPLES {
            let line = &line[..line.len().min(LONGEST_EXAMPLE)];
            self.examples.push((file, String::from_utf8_lossy(line).into_owned()));
        }
    }

    /// Takes the files as those from `before` on of `all`.
    pub(crate) fn place_files(&mut self, before: usize, all: usize) {
        self.files.splice(..0, std::iter::repeat_n(FileCounts::default(), before));
        self.files.resize(all, FileCounts::default());
        self.examples.iter_mut().for_each(|(file, _)| *file += before);
    }

    /// Takes in what another has counted of the same files.
    pub fn merge(&mut self, mut other: Counts) {
        while self.length < other.length {
            self.lengthen();
        }
        while other.length < self.length {
            other.lengthen();
        }
        let numbers = self.families.merge(other.families);
        let number = |theirs: u16| numbers.get(usize::from(theirs)).copied().unwrap_or(theirs);
        self.networks.merge(other.networks, |(family, network)| (number(family), network));
        self.routes.merge(other.routes, |key| {
            let (family, route) = divide(&key);
            [route, &number(family).to_be_bytes()].concat().into()
        });
        for (mine, theirs) in self.files.iter_mut().zip(other.files) {
            mine.lines = mine.lines.saturating_add(theirs.lines);
            mine.malformed = mine.malformed.saturating_add(theirs.malformed);
            mine.span = match (mine.span, theirs.span) {
                (Some(mine), Some(theirs)) => Some((mine.0.min(theirs.0), mine.1.max(theirs.1))),
                (mine, theirs) => mine.or(theirs),
            };
        }
        self.examples.extend(other.examples);
        self.examples.sort();
        self.examples.truncate(MOST_EXAMPLES);
        self.tally.add(&other.tally);
        self.timed = self.timed.saturating_add(other.timed);
        self.addresses.merge(&other.addresses);
        self.buckets += other.buckets;
        if self.buckets > MOST_BUCKETS {
            self.count_buckets();
        }
    }

    /// The number of a family, which is made where it is new.
    pub(crate) fn number(&mut self, name: &str, kind: AgentKind, claim: Claim) -> u16 {
        self.families.number(name, kind, claim)
    }

    /// A family, by its number.
    pub(crate) fn family(&mut self, number: u16) -> &mut Family {
        &mut self.families.list[usize::from(number)]
    }

    /// What the number of all addresses is drawn from.
    pub(crate) fn sketch(&self) -> &Distinct {
        &self.addresses
    }

    /// Takes in addresses that somebody else has counted.
    pub(crate) fn add_addresses(&mut self, addresses: &Distinct) {
        self.addresses.merge(addresses);
    }

    /// Takes in a bucket of a family's time that somebody else has counted: when it begins, and which of the lengths it has.
    pub(crate) fn add_bucket(&mut self, family: u16, first_s: i64, length: usize, tally: &Tally) {
        while self.length < length {
            self.lengthen();
        }
        let bucket = first_s.div_euclid(LENGTHS[self.length]);
        self.families.list[usize::from(family)].series.add(bucket, tally);
        self.buckets += 1;
        if self.buckets > MOST_BUCKETS {
            self.count_buckets();
        }
    }

    /// Takes in the count of a family's route that somebody else has made.
    pub(crate) fn add_route(&mut self, family: u16, route: &[u8], counted: &Counted) {
        self.routes.hold([route, &family.to_be_bytes()].concat().into(), counted);
    }

    /// Notes that a route which is not held may have had so many more.
    pub(crate) fn drop_routes(&mut self, requests: u64) {
        self.routes.drop_more(requests);
    }

    /// Which of the lengths the buckets of time have.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The families, by their numbers.
    pub fn families(&self) -> &[Family] {
        &self.families.list
    }

    /// How many addresses there were, nearly; see [`Family::ADDRESSES_ERROR`].
    pub fn addresses(&self) -> u64 {
        self.addresses.count()
    }

    /// The routes, each with the number of the family that asked for it.
    pub fn routes(&self) -> impl Iterator<Item = (u16, &[u8], &Counted)> {
        self.routes.iter().map(|(key, counted)| {
            let (family, route) = divide(key);
            (family, route, counted)
        })
    }

    /// Requests that a route may have had that is not among them.
    pub fn routes_dropped(&self) -> u64 {
        self.routes.dropped()
    }

    /// The length of the series' buckets, in seconds.
    pub fn bucket_s(&self) -> i64 {
        LENGTHS[self.length]
    }

    /// Counts buckets, of which one was counted each time that it came again, and makes them longer where they are too many.
    fn count_buckets(&mut self) {
        let count = |families: &Families| families.list.iter().map(|family| family.series.sorted().len()).sum();
        self.buckets = count(&self.families);
        while self.buckets > MOST_BUCKETS / 2 && self.length + 1 < LENGTHS.len() {
            self.lengthen();
            self.buckets = count(&self.families);
        }
    }

    fn lengthen(&mut self) {
        let times = LENGTHS[self.length + 1] / LENGTHS[self.length];
        self.families.list.iter_mut().for_each(|family| family.series.coarsen(times));
        self.length += 1;
    }
}

/// The family and the route of a key. The family stands last, so that the routes of one are not all told apart at the end.
fn divide(key: &[u8]) -> (u16, &[u8]) {
    match key.split_last_chunk::<2>() {
        Some((route, family)) => (u16::from_be_bytes(*family), route),
        None => (0, key),
    }
}

/// A number for a name that is no address.
fn named(name: &[u8]) -> u128 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(name);
    u128::from(hasher.finish()) | 1 << 127
}
