//! P11: many files with one name's hash in a folder of certificates.

use super::{Found, costly_call, detector, path_name, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::threads::call_end;
use case::Nanos;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # ca-path-layout
    ///
    /// ## What it is
    /// A folder of trusted certificates is searched by the hash of an issuer's name: HASH.0, HASH.1 and so on. Where it
    /// holds the same certificate, or a renewed one of the same name, again and again (copies, links, an update that
    /// never removes), each handshake of a new context opens and parses all of them, and compares each with those
    /// before.
    ///
    /// ## Evidence
    /// Ten files or more whose names differ in the number behind the hash alone, tried by one process, for half of its
    /// TLS handshakes or more; how many there are for each handshake; the time from the first to the last.
    ///
    /// ## What proves it
    /// An empty file in the place of each HASH.1, at which the search ends: the time goes. If the program needs one of
    /// those behind it, it fails, and nothing is proved.
    ///
    /// ## Remedy
    /// Clear the folder and rehash it (openssl rehash, update-ca-certificates --fresh); keep one certificate a name;
    /// create one context and share it.
    ///
    /// ## Not to be confused with
    /// ca-bundle-per-context (one file with many certificates, or a whole folder that is read); context-per-request.
    "P11" "ca-path-layout"
}

/// An authority that renewed its certificate has two or three files under one hash; per handshake.
const MANY: usize = 10;

/// One handshake can be somebody else's; three are a habit.
const HABIT: u64 = 3;

/// Trying the files of one hash, one after another, in one thread.
struct Search {
    tid: u32,
    start: u64,
    end: u64,
    calls: Vec<usize>,
    numbers: BTreeSet<u32>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let searches: Vec<Search> = searches(analysis).into_iter().filter(|search| search.numbers.len() >= MANY).collect();
    let first = searches.first()?;
    let handshakes = handshakes(analysis, &searches);
    if (searches.len() as u64) < HABIT || (searches.len() as u64) * 2 < handshakes || handshakes == 0 {
        return None;
    }
    let mut saving = PotentialSaving { affected: searches.len() as u64, ..PotentialSaving::default() };
    for search in &searches {
        let (inside, outside) = analysis.split(search.tid, search.start, search.end);
        let (user, kernel) = analysis.threads.on_processor(search.tid, search.start, search.end);
        saving.wall += inside;
        saving.outside += outside;
        saving.cpu += user + kernel;
    }
    let files = searches.iter().map(|search| search.numbers.len()).max().unwrap_or_default();
    let count = analysis.exchanges.len().max(1) as u64;
    let weights = searches.iter().flat_map(|search| {
        let each = search.end.saturating_sub(search.start) / search.calls.len().max(1) as u64;
        search.calls.iter().map(move |&row| (row, each))
    });
    let place = costly_call(analysis, weights);
    let what = format!("Each TLS handshake goes through up to {files} certificate files of one name");
    let path = path_name(analysis, analysis.call(first.calls[0]).path);
    Some(Found {
        title: format!("{what}: {} per request{}", Nanos((saving.wall + saving.outside) / count), place.in_words()),
        what,
        mechanism: vec![format!(
            "{} searches for {handshakes} handshakes, beginning at {path}, {} each.",
            searches.len(),
            Nanos((saving.wall + saving.outside) / searches.len() as u64)
        )],
        saving,
        place,
        remedy: "Clear the folder of certificates and rehash it, so that each name has one file.".to_string(),
        rows: rows("calls", searches.iter().map(|search| search.calls[0])),
        explains: searches.iter().map(|search| (search.tid, search.start, search.end)).collect(),
        ..Found::default()
    })
}

/// TLS handshakes of the processes that search.
fn handshakes(analysis: &Analysis, searches: &[Search]) -> u64 {
    let pids: BTreeSet<u32> =
        searches.iter().filter_map(|search| Some(analysis.threads.get(search.tid)?.pid)).collect();
    let of_them = |connection: u32| {
        let slot = analysis.connections.slot(connection);
        slot.is_some_and(|slot| pids.contains(&analysis.connections.row(slot).pid))
    };
    analysis.recording.handshakes.iter().filter(|row| of_them(row.connection)).count() as u64
}

/// The searches of all threads: a smaller number than before, or another hash, begins a new one.
fn searches(analysis: &Analysis) -> Vec<Search> {
    let names: BTreeMap<u32, (&str, u32)> =
        analysis.recording.paths.iter().filter_map(|path| Some((path.id, hashed(&path.path)?))).collect();
    let mut found: Vec<Search> = Vec::new();
    for thread in analysis.threads.all().iter().filter(|_| !names.is_empty()) {
        let mut current: Option<(Search, &str, u32)> = None;
        for row in thread.calls.clone() {
            let call = analysis.call(row);
            let Some(&(hash, number)) = names.get(&call.path) else { continue };
            let goes_on = current.as_ref().is_some_and(|(_, known, last)| *known == hash && *last <= number);
            if !goes_on {
                found.extend(current.take().map(|(search, ..)| search));
            }
            let (search, _, last) = current.get_or_insert_with(|| {
                let (calls, numbers) = (Vec::new(), BTreeSet::new());
                (Search { tid: thread.tid, start: call.start.0, end: 0, calls, numbers }, hash, number)
            });
            *last = number;
            search.end = call_end(call);
            search.calls.push(row);
            search.numbers.insert(number);
        }
        found.extend(current.map(|(search, ..)| search));
    }
    found
}

/// The folder with the hash, and the number behind it, of a name as OpenSSL looks for: eight hexadecimal digits, a dot,
/// a number, which for lists of revoked certificates follows an r.
pub fn hashed(path: &str) -> Option<(&str, u32)> {
    let (hash, number) = base_name(path).split_once('.')?;
    let is_hash = hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = number.strip_prefix('r').unwrap_or(number).parse().ok().filter(|_| is_hash)?;
    Some((path.rsplit_once('.')?.0, number))
}

#[cfg(test)]
mod tests {
    use super::hashed;
    use crate::fixture::{CLIENT, Fixture, MS, READ, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;

    /// Five connections of four requests; the client tries so many files of one hash in the handshake of each.
    fn searching(files: u32, hash: impl Fn(u32) -> String) -> Recording {
        let mut fixture = Fixture::new();
        (0..files).for_each(|number| fixture.path(number + 1, &format!("/etc/trust/{}", hash(number))));
        let mut idle = fixture.now;
        for id in 1..=5 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 300);
            for number in 0..files {
                fixture.does(CLIENT, 5 * US, 257, |call| (call.path, call.result) = (number + 1, 7));
                fixture.does(CLIENT, 5 * US, READ, |call| (call.path, call.fd, call.result) = (number + 1, 7, 1_500));
                fixture.now += 200 * US;
            }
            fixture.moves(CLIENT, id, READ, 3000);
            fixture.handshake(id, CLIENT, start, |row| row.resumed = id > 1);
            for _ in 0..4 {
                request(&mut fixture, CLIENT, id, 200 * US, &mut idle);
            }
        }
        fixture.end()
    }

    #[test]
    fn many_files_of_one_hash_for_each_handshake_are_found_with_their_number() {
        let answer = answer(&searching(40, |number| format!("5ad8a5d6.{number}")));
        let finding = answer.findings.iter().find(|finding| finding.name == "ca-path-layout").expect("found");
        assert!(finding.title.contains("up to 40 certificate files of one name"), "{}", finding.title);
        assert_eq!(finding.cost.affected, 5);
        assert!(finding.cost.ns_per_exchange > MS, "{:?}", finding.cost);
    }

    #[test]
    fn a_renewed_certificate_and_a_folder_of_many_names_are_left_alone() {
        let is_found = |recording: &Recording| names(recording).contains(&"ca-path-layout".to_string());
        assert!(!is_found(&searching(3, |number| format!("5ad8a5d6.{number}"))));
        assert!(!is_found(&searching(40, |number| format!("{:08x}.0", 0x1000_0000 + number))));
        assert!(!is_found(&searching(40, |number| format!("page{number}.html"))));
    }

    #[test]
    fn names_of_hashed_files_are_told_apart() {
        assert_eq!(hashed("/etc/ssl/certs/5ad8a5d6.12"), Some(("/etc/ssl/certs/5ad8a5d6", 12)));
        assert_eq!(hashed("certs/5ad8a5d6.r0"), Some(("certs/5ad8a5d6", 0)));
        assert_eq!(hashed("/etc/ssl/certs/5ad8a5d6"), None);
        assert_eq!(hashed("/etc/ssl/certs/ca-certificates.1"), None);
    }
}
