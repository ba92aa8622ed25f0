//! `logs`: who asked for what and when, and what it would save to turn a part of it away. Nothing is run and nothing kept.

mod cost;
mod follow;
mod onset;
mod rules;
mod suspects;
mod timeline;

pub use follow::follow;

use crate::StudyError;
use case::{AgentFamily, AgentKind, Claim, Demand, MalformedLine, Ranked, SCHEMA, Selected, Traffic, TrafficFile};
use cost::Costs;
use import::{Counted, Counts, Done, Family, Format, ImportError, LogFile, Network, Options, Ranges, network_text};
use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use timeline::Timeline;

/// So many agents, networks and routes are named.
const MOST_NAMED: usize = 50;

/// What is asked.
#[derive(Debug, Default)]
pub struct Request {
    /// Files and folders; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// The format; none to detect it.
    pub format: Option<Format>,
    /// Files of addresses that crawlers publish as theirs, each with the crawler's name where the file does not say it.
    pub ranges: Vec<(Option<String>, PathBuf)>,
    /// A case of the server, for what requests cost it.
    pub case: Option<PathBuf>,
    /// Where to write the cube; none for nowhere.
    pub cube: Option<PathBuf>,
}

/// Reads the logs, and says what they come down to.
///
/// # Errors
/// Where there are none, a file of ranges cannot be read, or the cube cannot be written.
pub fn logs(request: &Request) -> Result<Traffic, StudyError> {
    let options = options(request)?;
    let costs = costs(request.case.as_deref())?;
    let files = import::find(&request.paths)?;
    let done = import::read(&files, &options);
    keep(&done, request.cube.as_deref())?;
    Ok(traffic(&done, costs.as_ref()))
}

/// Answers a question in SQL over the logs' counts.
///
/// # Errors
/// As [`logs`], and where the question cannot be answered.
pub fn select(request: &Request, query: &str) -> Result<Selected, StudyError> {
    let options = options(request)?;
    let done = import::read(&import::find(&request.paths)?, &options);
    keep(&done, request.cube.as_deref())?;
    Ok(import::select_of(&done, query)?)
}

/// Answers a question in SQL over cubes as they lie: with a host and a day for each.
///
/// # Errors
/// Where there are none, one cannot be read, or the question cannot be answered.
pub fn select_of_cubes(cubes: &[PathBuf], query: &str) -> Result<Selected, StudyError> {
    Ok(import::select_of_cubes(&import::find_cubes(cubes)?, query)?)
}

/// Writes the cube where one is wanted.
fn keep(done: &Done, cube: Option<&Path>) -> Result<(), StudyError> {
    cube.map_or(Ok(()), |cube| Ok(import::write_cube(done, cube)?))
}

fn costs(case: Option<&Path>) -> Result<Option<Costs>, StudyError> {
    case.map(Costs::read).transpose()
}

fn options(request: &Request) -> Result<Options, StudyError> {
    let mut ranges = Ranges::default();
    for (name, file) in &request.ranges {
        ranges.read(name.as_deref(), file)?;
    }
    Ok(Options { format: request.format.clone(), ranges, threads: 0 })
}

/// What cubes come down to together, which is what reading all of their logs would.
///
/// # Errors
/// Where there are none, one cannot be read, or the cube of all cannot be written.
pub fn merge(cubes: &[PathBuf], case: Option<&Path>, cube: Option<&Path>) -> Result<Traffic, StudyError> {
    let costs = costs(case)?;
    let mut all: Option<Done> = None;
    for cube in import::find_cubes(cubes)? {
        let one = import::read_cube(&cube)?;
        all = Some(match all {
            Some(all) => all.join(one),
            None => one,
        });
    }
    let done = all.ok_or_else(|| ImportError::NoFiles(cubes.to_vec()))?;
    keep(&done, cube)?;
    Ok(traffic(&done, costs.as_ref()))
}

fn traffic(done: &Done, costs: Option<&Costs>) -> Traffic {
    let counts = &done.counts;
    let spans = || counts.files.iter().filter_map(|file| file.span);
    let timeline = Timeline::of(counts);
    let in_order = described(done);
    let suspects = suspects::find(counts, &timeline, &in_order, costs);
    let series = timeline.series(&suspects, counts);
    let example =
        |(file, text): &(usize, String)| MalformedLine { path: path_of(&done.files[*file]), text: text.clone() };
    Traffic {
        schema: SCHEMA,
        files: in_order,
        lines: counts.files.iter().map(|file| file.lines).sum(),
        malformed: counts.files.iter().map(|file| file.malformed).sum(),
        malformed_examples: counts.examples.iter().map(example).collect(),
        first_s: spans().map(|(first, _)| first).min(),
        last_s: spans().map(|(_, last)| last).max(),
        total: demand(&counts.tally),
        timed: counts.timed,
        addresses: counts.addresses(),
        addresses_error: Family::ADDRESSES_ERROR,
        agents: agents(counts),
        networks: networks(counts, |_| true),
        routes: routes(counts, |_| true),
        series,
        days: timeline::days(counts),
        cost: costs.map(|costs| costs.of_all(counts)),
        suspects,
    }
}

/// The files in the order of the times in them, which is that of a rotated set; those without times last.
fn described(done: &Done) -> Vec<TrafficFile> {
    let parts = done.files.iter().zip(&done.outcomes).zip(&done.counts.files);
    let one = |((file, outcome), counts): ((&LogFile, &import::Outcome), &import::FileCounts)| TrafficFile {
        path: path_of(file),
        format: outcome.format.clone(),
        lines: counts.lines,
        malformed: counts.malformed,
        first_s: counts.span.map(|(first, _)| first),
        last_s: counts.span.map(|(_, last)| last),
        skipped: outcome.is_skipped,
        problem: outcome.problem.clone(),
    };
    let mut files: Vec<TrafficFile> = parts.map(one).collect();
    files.sort_by_key(|file| (file.first_s.is_none(), file.first_s));
    files
}

fn path_of(file: &LogFile) -> String {
    file.path.display().to_string()
}

fn agents(counts: &Counts) -> Vec<AgentFamily> {
    let one = |family: &Family| AgentFamily {
        name: family.name.clone(),
        kind: kind(family),
        claim: claim(family),
        demand: demand(&family.tally),
        addresses: family.addresses(),
        statuses: family.statuses,
    };
    let mut agents: Vec<AgentFamily> = counts.families().iter().filter(|one| one.tally.requests > 0).map(one).collect();
    agents
        .sort_by(|one, other| other.demand.requests.cmp(&one.demand.requests).then_with(|| one.name.cmp(&other.name)));
    agents.truncate(MOST_NAMED);
    agents
}

/// The networks that families came from, most requests first.
fn networks(counts: &Counts, of: impl Fn(u16) -> bool) -> Vec<Ranked> {
    let all = counts.networks.iter().filter(|((family, _), _)| of(*family));
    let all = all.map(|((_, network), counted)| (*network, *counted));
    ranked(all, |network: Network| network_text(network))
}

/// The routes that families asked for, most requests first.
fn routes(counts: &Counts, of: impl Fn(u16) -> bool) -> Vec<Ranked> {
    let all = counts.routes().filter(|(family, ..)| of(*family)).map(|(_, route, counted)| (route, *counted));
    ranked(all, |route: &[u8]| String::from_utf8_lossy(route).into_owned())
}

/// Counts added up by key. What may be missing from a part may be missing from the whole.
fn ranked<K: Eq + Hash>(all: impl Iterator<Item = (K, Counted)>, name: impl Fn(K) -> String) -> Vec<Ranked> {
    let mut sums: HashMap<K, Counted> = HashMap::new();
    for (key, counted) in all {
        let sum = sums.entry(key).or_default();
        sum.tally.add(&counted.tally);
        sum.missed += counted.missed;
    }
    let one = |(key, counted): (K, Counted)| Ranked {
        name: name(key),
        demand: demand(&counted.tally),
        missed: counted.missed,
    };
    let mut ranked: Vec<Ranked> = sums.into_iter().map(one).collect();
    ranked
        .sort_by(|one, other| other.demand.requests.cmp(&one.demand.requests).then_with(|| one.name.cmp(&other.name)));
    ranked.truncate(MOST_NAMED);
    ranked
}

fn demand(tally: &import::Tally) -> Demand {
    Demand { requests: tally.requests, bytes: tally.bytes, took_ns: tally.took_ns }
}

fn kind(family: &Family) -> AgentKind {
    match family.kind {
        import::AgentKind::Crawler => AgentKind::Crawler,
        import::AgentKind::Browser => AgentKind::Browser,
        import::AgentKind::Tool => AgentKind::Tool,
        import::AgentKind::Silent => AgentKind::Silent,
    }
}

fn claim(family: &Family) -> Claim {
    match family.claim {
        import::Claim::Unchecked => Claim::Unchecked,
        import::Claim::Verified => Claim::Verified,
        import::Claim::Forged => Claim::Forged,
    }
}

#[cfg(test)]
mod tests;
