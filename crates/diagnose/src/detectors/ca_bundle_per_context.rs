//! P10: the same certificates are read and parsed again and again.

use super::{Found, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::place;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
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
    /// One process opens the same PEM file three times or more; how often files were opened, how many different ones,
    /// and how many TLS handshakes there were; the time in that thread from opening each file to closing it.
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
    /// that is started anew for each request (each process then loads the bundle once).
    "P10" "ca-bundle-per-context"
}

/// Loading once is needed, twice can be two purposes; three times is a habit.
const HABIT: u64 = 3;

/// A bundle, and not a server's own chain: some eight certificates of 2 kB and more.
const BUNDLE: u64 = 16_384;

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

fn detect(analysis: &Analysis) -> Option<Found> {
    let loads = loads(analysis);
    // Counted for all processes of one side together: a process for each request loads its certificates once, and each
    // does. Such a process can be given a smaller bundle; a file that is small already is no cause.
    let roles: BTreeMap<u32, &str> =
        analysis.recording.processes.iter().map(|row| (row.pid, row.role.as_str())).collect();
    let key = |load: &Load| (roles.get(&load.pid).copied().unwrap_or_default(), load.path);
    let mut counts: BTreeMap<(&str, u32), (u64, BTreeSet<u32>)> = BTreeMap::new();
    for load in &loads {
        let (count, pids) = counts.entry(key(load)).or_default();
        *count += 1;
        pids.insert(load.pid);
    }
    let is_repeated = |load: &&Load| {
        let (count, pids) = &counts[&key(load)];
        *count >= HABIT && (*count >= 2 * pids.len() as u64 || load.bytes >= BUNDLE)
    };
    let repeated: Vec<&Load> = loads.iter().filter(is_repeated).collect();
    repeated.first()?;
    // Loaded now and then, by the workers of a server for example, is not loaded for each connection.
    if repeated.len() * 2 < handshakes_of(analysis, &repeated) {
        return None;
    }
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
    let place = place::of_any(analysis, repeated.iter().map(|load| load.open));
    Some(found(analysis, &repeated, saving, place, explains))
}

fn found(
    analysis: &Analysis,
    repeated: &[&Load],
    saving: PotentialSaving,
    place: Vec<case::Place>,
    explains: Vec<(u32, u64, u64)>,
) -> Found {
    let files: BTreeSet<u32> = repeated.iter().map(|load| load.path).collect();
    let pids: BTreeSet<u32> = repeated.iter().map(|load| load.pid).collect();
    let handshakes = handshakes_of(analysis, repeated);
    let once_each = pids.len() as u64 >= HABIT && repeated.len() < 2 * pids.len() * files.len();
    let count = analysis.exchanges.len().max(1) as u64;
    let opened = repeated.len();
    let total = saving.wall + saving.outside;
    let title = format!(
        "CA certificates are reloaded for each TLS context: {} per request, {opened} files opened for {handshakes} handshakes{}",
        Nanos(total / count),
        place::in_words(&place),
    );
    let name = path_name(analysis, repeated[0].path);
    let different = match files.len() {
        1 => format!("{name} is opened {opened} times"),
        several => format!("{several} certificate files, including {name}, are opened {opened} times in all"),
    };
    let mechanism = vec![
        if once_each {
            format!("{different} by {} processes, for {handshakes} TLS handshakes.", pids.len())
        } else {
            format!("{different} for {handshakes} TLS handshakes.")
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
    Found { title, mechanism, saving, place, remedy, rows, explains }
}

/// TLS handshakes of the processes that load.
fn handshakes_of(analysis: &Analysis, loads: &[&Load]) -> usize {
    let pids: BTreeSet<u32> = loads.iter().map(|load| load.pid).collect();
    let of_them = |connection: u32| {
        let slot = analysis.connections.slot(connection);
        slot.is_some_and(|slot| pids.contains(&analysis.connections.row(slot).pid))
    };
    analysis.recording.handshakes.iter().filter(|row| of_them(row.connection)).count()
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
    load.bytes += if reads { call.result.max(0) as u64 } else { 0 };
}

fn path_name<'r>(analysis: &Analysis<'r>, id: u32) -> &'r str {
    let paths = &analysis.recording.paths;
    paths.binary_search_by_key(&id, |row| row.id).map_or("a file", |index| paths[index].path.as_str())
}

/// Whether a name is a certificate's in a directory that OpenSSL searches: eight hexadecimal digits, a dot, a number.
fn is_hashed_name(path: &str) -> bool {
    let name = crate::code::base_name(path);
    let Some((hash, number)) = name.split_once('.') else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && digits(number.trim_start_matches('r'))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, US, request};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::content;

    /// Ten requests; a bundle is loaded, in 10 ms of work, before the first so many of them.
    fn loading(loads: u32) -> Recording {
        let mut fixture = Fixture::new();
        fixture.path(1, "/etc/ssl/certs/ca-certificates.crt");
        fixture.script(7, &["/usr/lib/python3.11/ssl.py:738:create_default_context", "/srv/client.py:9:fetch"]);
        let mut idle = fixture.now;
        fixture.connect(1, CLIENT);
        for number in 0..10 {
            if number < loads {
                fixture.does(CLIENT, 5 * US, 257, |call| (call.path, call.result, call.script_stack) = (1, 5, 7));
                for _ in 0..5 {
                    fixture.does(CLIENT, 5 * US, READ, |call| {
                        (call.fd, call.path, call.result, call.content) = (5, 1, 4096, content::PEM);
                    });
                    fixture.now += 2 * MS;
                }
                fixture.does(CLIENT, 2 * US, 3, |call| (call.fd, call.path) = (5, 1));
            }
            request(&mut fixture, CLIENT, 1, 100 * US, &mut idle);
        }
        fixture.end()
    }

    #[test]
    fn a_bundle_loaded_for_every_request_is_found() {
        let answer = answer(&loading(10));
        let finding = &answer.findings[0];
        assert_eq!((finding.name.as_str(), finding.cost.affected), ("ca-bundle-per-context", 10));
        assert!(finding.cost.ns_per_exchange > 9 * MS, "{:?}", finding.cost);
        assert!(finding.title.contains("client.py:9 in fetch"), "{}", finding.title);
    }

    #[test]
    fn a_bundle_loaded_once_is_left_alone() {
        assert_eq!(names(&loading(1)), Vec::<String>::new());
    }

    /// Before each of ten requests a new process loads certificates, five reads of so many bytes.
    fn process_for_each(bytes: i64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.path(1, "/srv/trusted.pem");
        let mut idle = fixture.now;
        fixture.connect(1, CLIENT);
        for pid in 500..510 {
            fixture.process(pid, "client");
            fixture.does(pid, 5 * US, 257, |call| (call.path, call.result) = (1, 5));
            for _ in 0..5 {
                fixture.does(pid, 5 * US, READ, |call| {
                    (call.fd, call.path, call.result, call.content) = (5, 1, bytes, content::PEM);
                });
                fixture.now += 2 * MS;
            }
            fixture.does(pid, 2 * US, 3, |call| (call.fd, call.path) = (5, 1));
            request(&mut fixture, CLIENT, 1, 100 * US, &mut idle);
        }
        fixture.end()
    }

    #[test]
    fn a_bundle_loaded_once_by_each_of_many_processes_is_found_and_a_single_certificate_is_not() {
        assert_eq!(names(&process_for_each(4096)), ["ca-bundle-per-context"]);
        assert_eq!(names(&process_for_each(380)), Vec::<String>::new());
    }
}
