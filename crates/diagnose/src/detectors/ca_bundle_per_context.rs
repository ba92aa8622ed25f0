//! P10: the same certificates are read and parsed again and again.

use super::{Found, ca_path_layout, context_per_request, costly_call, detector, path_name, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::place::Located;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::facts::Observation;
use case::tables::{Call, content};
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # ca-bundle-per-context
    ///
    /// ## What it is
    /// Every new TLS context loads the trusted certificates again: a bundle of some 140 certificates is read, decoded
    /// and parsed (10 to 30 ms of CPU time with OpenSSL 3), or a directory of them is searched, only to be thrown away
    /// with the context.
    ///
    /// ## Evidence
    /// One process opens the same file of certificates three times or more, at least once for every two of its TLS
    /// handshakes, and reads 32 kB or more of certificates each time; how often files were opened, how many different
    /// ones, and how many handshakes there were; the time in that thread from opening each file to closing it. Or a server
    /// that makes no handshake at all does so for at least every second request, and CPU samples show it filling contexts.
    ///
    /// ## What proves it
    /// A bundle with nothing but the root that is needed (SSL_CERT_FILE): the time falls with the number of
    /// certificates.
    ///
    /// ## Remedy
    /// Create one TLS context at start-up and share it among all connections.
    ///
    /// ## Not to be confused with
    /// context-per-request (creating the context is itself expensive, with or without files); no-resumption; a program
    /// that is started anew for each request (each process then loads the bundle once); a certificate, a key or a chain
    /// of the program's own, which is no bundle; certificates read by a program that makes no TLS context.
    "P10" "ca-bundle-per-context",
    // Files of one name that are gone through in a handshake are searched, not loaded with the context.
    follows_from: &[ca_path_layout::DETECTOR.page.id]
}

/// Loading once is needed, twice can be two purposes; three times is a habit.
const HABIT: u64 = 3;

/// A bundle has some twenty certificates of 1.5 kB (the mean of Debian's 142) or more. A chain with its key and its issuer
/// has five of 2 kB and 3 kB of key, and takes a hundredth of a bundle's time.
const BUNDLE: u64 = 32_768;

/// One reading of one file.
struct Load {
    path: u32,
    pid: u32,
    tid: u32,
    open: usize,
    start: u64,
    end: u64,
    certificates: bool,
    bytes: u64,
}

/// What the processes of one side load again and again.
struct Habit<'l> {
    loads: Vec<&'l Load>,
    /// For how many contexts: as often as each process loads the file that it loads most often.
    contexts: u64,
    uses: Uses,
}

/// What contexts are made for.
#[derive(Clone, Copy, Default)]
struct Uses {
    handshakes: u64,
    /// Requests served, where their server makes no handshake.
    requests: u64,
}

/// With `#` it is said what handshakes they are.
impl std::fmt::Display for Uses {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tls = if out.alternate() { "TLS " } else { "" };
        match self.handshakes {
            0 => write!(out, "{} requests without a {tls}handshake", self.requests),
            handshakes => write!(out, "{handshakes} {tls}handshakes"),
        }
    }
}

impl Habit<'_> {
    fn bytes_per_context(&self) -> u64 {
        self.loads.iter().fold(0u64, |sum, load| sum.saturating_add(load.bytes)) / self.contexts.max(1)
    }

    /// Loaded now and then, by the workers of a server for example, is not loaded for each context.
    fn is_per_context(&self) -> bool {
        let uses = self.uses.handshakes + self.uses.requests;
        self.contexts >= HABIT && uses > 0 && self.contexts * 2 >= uses
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let loads = loads(analysis);
    let habits = habits(analysis, &loads);
    let habits: Vec<Habit> =
        habits.into_iter().filter(|habit| habit.is_per_context() && habit.bytes_per_context() >= BUNDLE).collect();
    let mut repeated: Vec<&Load> = habits.iter().flat_map(|habit| habit.loads.iter().copied()).collect();
    repeated.sort_by_key(|load| (load.tid, load.start));
    repeated.first()?;
    let sum = |of: fn(&Habit) -> u64| habits.iter().map(of).sum::<u64>();
    let contexts = sum(|habit| habit.contexts);
    let observed = Observation::CertificatesPerContext {
        contexts,
        handshakes: sum(|habit| habit.uses.handshakes),
        files: repeated.len() as f64 / contexts as f64,
        bytes: repeated.iter().fold(0u64, |sum, load| sum.saturating_add(load.bytes)) / contexts,
    };
    let mut explains: Vec<(u32, u64, u64)> = Vec::new();
    for load in &repeated {
        match explains.last_mut() {
            Some((tid, _, end)) if *tid == load.tid && load.start <= *end => *end = load.end.max(*end),
            _ => explains.push((load.tid, load.start, load.end)),
        }
    }
    let mut saving = PotentialSaving { affected: repeated.len() as u64, ..PotentialSaving::default() };
    for &(tid, start, end) in &explains {
        let (wall, outside) = analysis.split(tid, start, end);
        let (user, kernel) = analysis.threads.on_processor(tid, start, end);
        saving.wall += wall;
        saving.outside += outside;
        saving.cpu += user + kernel;
    }
    let place = costly_call(analysis, repeated.iter().map(|load| (load.open, load.end.saturating_sub(load.start))));
    let uses = Uses { handshakes: sum(|habit| habit.uses.handshakes), requests: sum(|habit| habit.uses.requests) };
    let found = found(analysis, &repeated, uses, saving, place, explains);
    Some(Found { observed: vec![observed], ..found })
}

/// For each side what it loads three times or more. Counted for all processes of one side together: a process for each
/// request loads its certificates once, and each does.
fn habits<'l>(analysis: &Analysis, loads: &'l [Load]) -> Vec<Habit<'l>> {
    let roles: BTreeMap<u32, &str> =
        analysis.recording.processes.iter().map(|row| (row.pid, row.role.as_str())).collect();
    let mut files: BTreeMap<(&str, u32), Vec<&Load>> = BTreeMap::new();
    // A tool that looks into a certificate makes no context; what serves no handshake of its own process is not counted.
    let of_thread = |tid: u32| analysis.threads.get(tid).map(|thread| thread.pid);
    let of_connection = |id: u32| analysis.connections.slot(id).map(|slot| analysis.connections.row(slot).pid);
    let handshakes = analysis.recording.handshakes.iter();
    let shaking: BTreeSet<u32> =
        handshakes.flat_map(|row| [of_thread(row.tid), of_connection(row.connection)]).flatten().collect();
    let mut served = if loads.is_empty() { BTreeMap::new() } else { context_per_request::served(analysis) };
    // A service that looks into certificates is asked to, and makes no context of them.
    let makers = if served.is_empty() { BTreeSet::new() } else { context_per_request::makers(analysis) };
    served.retain(|pid, _| !shaking.contains(pid) && makers.contains(pid));
    for load in loads.iter().filter(|load| shaking.contains(&load.pid) || served.contains_key(&load.pid)) {
        files.entry((roles.get(&load.pid).copied().unwrap_or_default(), load.path)).or_default().push(load);
    }
    let mut sides: BTreeMap<&str, Vec<&Load>> = BTreeMap::new();
    for ((role, _), loads) in files.into_iter().filter(|(_, loads)| loads.len() as u64 >= HABIT) {
        sides.entry(role).or_default().extend(loads);
    }
    let habit = |loads: Vec<&'l Load>| {
        let pids: BTreeSet<u32> = loads.iter().map(|load| load.pid).collect();
        let requests = pids.iter().filter_map(|pid| served.get(pid)).map(|times| times.len() as u64).sum();
        let uses = Uses { handshakes: handshakes_of(analysis, &pids), requests };
        Habit { contexts: contexts(&loads), uses, loads }
    };
    sides.into_values().map(habit).collect()
}

fn contexts(loads: &[&Load]) -> u64 {
    let mut times: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for load in loads {
        *times.entry((load.pid, load.path)).or_default() += 1;
    }
    let mut most: BTreeMap<u32, u64> = BTreeMap::new();
    for ((pid, _), times) in times {
        let known = most.entry(pid).or_default();
        *known = times.max(*known);
    }
    most.values().sum()
}

fn found(
    analysis: &Analysis,
    repeated: &[&Load],
    uses: Uses,
    saving: PotentialSaving,
    place: Located,
    explains: Vec<(u32, u64, u64)>,
) -> Found {
    let files: BTreeSet<u32> = repeated.iter().map(|load| load.path).collect();
    let pids: BTreeSet<u32> = repeated.iter().map(|load| load.pid).collect();
    let once_each = pids.len() as u64 >= HABIT && repeated.len() < 2 * pids.len() * files.len();
    let count = analysis.exchanges.len().max(1) as u64;
    let opened = repeated.len();
    let total = saving.wall + saving.outside;
    let title = format!(
        "CA certificates are reloaded for each TLS context: {} per request, {opened} files opened for {uses}{}",
        Nanos(total / count),
        place.in_words(),
    );
    let name = path_name(analysis, repeated[0].path);
    let different = match files.len() {
        1 => format!("{name} is opened {opened} times"),
        several => format!("{several} certificate files, including {name}, are opened {opened} times in total"),
    };
    let mechanism = vec![
        if once_each {
            format!("{different} by {} processes, for {uses:#}.", pids.len())
        } else {
            format!("{different} for {uses:#}.")
        },
        format!(
            "Each load takes {} from opening the file to closing it, {} of it CPU time.",
            Nanos(total / explains.len().max(1) as u64),
            Nanos(saving.cpu / explains.len().max(1) as u64),
        ),
    ];
    let remedy = if once_each {
        "Make many requests from one process with one TLS context, or give it a file with only the certificates it needs \
         (curl: --cacert; OpenSSL: SSL_CERT_FILE)."
    } else {
        "Create one TLS context at start-up and use it for every connection; contexts are meant to be shared."
    };
    let remedy = remedy.to_string();
    let rows = rows("calls", repeated.iter().map(|load| load.open));
    let what = format!("CA certificates are reloaded for each TLS context, {opened} files opened for {uses}");
    Found { title, what, mechanism, saving, place, remedy, rows, explains, ..Found::default() }
}

/// TLS handshakes of some processes.
fn handshakes_of(analysis: &Analysis, pids: &BTreeSet<u32>) -> u64 {
    let of_them = |connection: u32| {
        let slot = analysis.connections.slot(connection);
        slot.is_some_and(|slot| pids.contains(&analysis.connections.row(slot).pid))
    };
    analysis.recording.handshakes.iter().filter(|row| of_them(row.connection)).count() as u64
}

/// Every reading of a certificate file: from opening it to closing it, or to the last read of it.
fn loads(analysis: &Analysis) -> Vec<Load> {
    let mut loads = Vec::new();
    for thread in analysis.threads.all() {
        let mut open: BTreeMap<i32, Load> = BTreeMap::new();
        for row in thread.calls.clone() {
            let call = analysis.call(row);
            if syscall::is_open(call.number) && call.result >= 0 && call.path != 0 {
                let load = Load {
                    path: call.path,
                    pid: call.pid,
                    tid: call.tid,
                    open: row,
                    start: call.start.0,
                    end: call_end(call),
                    certificates: is_hashed_name(path_name(analysis, call.path)),
                    bytes: 0,
                };
                loads.extend(open.insert(call.result as i32, load).filter(|load| load.certificates));
            } else if let Some(load) = open.get_mut(&call.fd) {
                follow(load, call);
                if call.number == syscall::CLOSE {
                    loads.extend(open.remove(&call.fd).filter(|load| load.certificates));
                }
            }
        }
        loads.extend(open.into_values().filter(|load| load.certificates));
    }
    loads.sort_by_key(|load| (load.tid, load.start));
    loads
}

fn follow(load: &mut Load, call: &Call) {
    let reads = syscall::is_read(call.number);
    if reads || call.number == syscall::CLOSE {
        load.end = load.end.max(call_end(call));
    }
    load.certificates |= reads && call.content == content::PEM;
    load.bytes = load.bytes.saturating_add(if reads { call.result.max(0) as u64 } else { 0 });
}

/// Whether a name is a certificate's in a directory that OpenSSL searches: eight hexadecimal digits, a dot, a number.
fn is_hashed_name(path: &str) -> bool {
    let name = crate::code::base_name(path);
    let Some((hash, number)) = name.split_once('.') else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && digits(number.trim_start_matches('r'))
}

#[cfg(test)]
mod tests;
