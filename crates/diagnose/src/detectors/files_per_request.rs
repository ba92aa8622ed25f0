//! P55: the same files, opened or looked up again for each request.

mod between;
mod listing;
mod parsing;

use super::{Found, common_caller, common_place, costly_call, detector, path_name, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::syscall;
use crate::threads::call_end;
use between::{Span, between};
use case::tables::{Call, Sample};
use case::{Bytes, Nanos};
use std::collections::BTreeMap;

detector! {
    /// # files-per-request
    ///
    /// ## What it is
    /// Each request goes to the file system for what did not change since the last one: it reads configuration,
    /// templates or translations again, compiles its sources again (PHP without its cache of compiled code, a server in
    /// development mode), or looks through a list of folders for each of many names. Or it reads a directory of thousands of
    /// entries from end to end, to find one of them, the newest, or how many there are.
    ///
    /// ## Evidence
    /// 64 kB or more of a directory's entries (some two thousand of them) that nearly every request reads again. Or twenty calls or more
    /// per request that open, look up, read or close files which nearly every request opens or looks
    /// up again (however many calls read one of them to its end count as one); or fifty times as many bytes read from such
    /// files as requests and answers are long, ten times where they are parsed. The time of these calls, and of so many bytes what the
    /// thread computes between one piece of a file and the next: a tenth of the requests' time or more. What it computes between any two
    /// of the calls is as a rule what it does with their contents. Of so many bytes as nobody
    /// asked for it is also known who takes them apart: CPU samples in parsers of the common formats (JSON, YAML, XML, CSV,
    /// TOML, INI, pickle, Marshal) and of sources (PHP, Perl, Ruby, Python), all through the run.
    ///
    /// ## What proves it
    /// PHP with its cache of compiled code (`cached-sources`). Elsewhere nothing from outside: whoever answered from memory would have
    /// to know that no file has changed. It remains a suspicion with what it costs at most.
    ///
    /// ## Remedy
    /// Read them once, when the program starts, and again only when they change. Switch the cache of the framework on
    /// (PHP: opcache, with validate_timestamps off; templates: no automatic reload; Node.js: NODE_ENV=production). Ask for a file
    /// by its name instead of looking for it, and spread many over several directories.
    ///
    /// ## Not to be confused with
    /// ca-path-layout and ca-bundle-per-context (certificates); process-per-request (a program that starts each time and
    /// loads its libraries); a server of files, which opens the one that it is asked for; a database, whose files stay
    /// open.
    "P55" "files-per-request",
    follows_from: &["P09", "P10", "P11", "P16", "P17", "P31", "P39", "P46", "P47", "P52", "P62", "P65"],
    needs: &[Server, Calls]
}

/// A server of files opens one, and looks at a handful of names around it.
const MANY: u64 = 20;

/// An open brings a look at the file's size, a read and a close. More reads than that are the file's length: a server of files
/// reads the one it is asked for in many pieces.
const FOR_ONE_NAME: u64 = 4;

/// From so many times the bytes of requests and answers what is read is not what is answered: compression makes text ten
/// times smaller.
const TIMES: u64 = 50;

/// And from so many times as many bytes on a parser is at work on the files: even if it took all of each request and answer apart as
/// well, nine tenths of its work are not for those.
const TIMES_PARSED: u64 = 10;

/// From this share of the requests' time the calls count.
const LEAST: f64 = 0.1;

/// A file of each request is opened or looked up in so many of them; some requests are others.
const NEARLY_ALL: f64 = 0.8;

/// Fewer requests show no habit.
const HABIT: u64 = 5;

/// What was done with one file while requests were in hand.
#[derive(Default)]
struct File {
    /// How often it was opened or looked up by name.
    named: u64,
    /// Bytes that were read of it,
    read: u64,
    /// or of its entries, where it is a directory.
    listed: u64,
    calls: Vec<(usize, u64)>,
    cpu: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let count = analysis.exchanges.len() as u64;
    if count < HABIT {
        return None;
    }
    let mut files = files(analysis);
    files.retain(|_, file| file.named as f64 >= NEARLY_ALL * count as f64);
    of_files(analysis, &files).or_else(|| listing::of_directories(analysis, &files))
}

/// Files that each request opens, reads or parses again.
fn of_files(analysis: &Analysis, files: &BTreeMap<u32, File>) -> Option<Found> {
    let count = analysis.exchanges.len() as u64;
    let calls: Vec<(usize, u64)> = files.values().flat_map(|file| file.calls.iter().copied()).collect();
    let wall: u64 = calls.iter().map(|(_, inside)| inside).sum();
    let counted: u64 = files.values().map(|file| (file.calls.len() as u64).min(FOR_ONE_NAME * file.named)).sum();
    let read: u64 = files.values().map(|file| file.read).sum();
    let moved: u64 = analysis.exchanges.iter().map(|exchange| exchange.bytes).sum();
    let parsed = if read >= TIMES_PARSED * moved { parsing::samples(analysis) } else { Vec::new() };
    let is_much = read >= TIMES * moved || !parsed.is_empty();
    let on_parsing = parsed.len() as u64 * analysis.sample_period();
    let between = between(analysis, &calls);
    let sum = |spans: &[Span]| spans.iter().map(|span| span.ns).sum::<u64>();
    // Whoever computes between one piece of a file and the next takes the pieces apart.
    let pieces: Vec<Span> = between.iter().filter(|span| is_much && span.goes_on).copied().collect();
    if (counted < MANY * count && !is_much) || !is_felt(analysis, wall + on_parsing.max(sum(&pieces))) {
        return None;
    }
    let between = sum(&between);
    // What lies between two calls is parsing, too, where a parser takes one piece at a time.
    let contents = between.max(on_parsing);
    let cpu = files.values().map(|file| file.cpu).sum::<u64>() + contents;
    let samples: Vec<&Sample> = parsed.iter().map(|&row| &analysis.recording.samples[row]).collect();
    let place = match samples.first() {
        Some(sample) if on_parsing > wall && sample.script_stack != 0 => common_place(analysis, &samples),
        Some(_) if on_parsing > wall => common_caller(analysis, &samples, parsing::is_parser),
        _ => costly_call(analysis, calls.iter().copied()),
    };
    let what = match files.len() {
        _ if counted < MANY * count && on_parsing > 0 => {
            format!("Each request reads {} of {} and parses it", Bytes(read / count), read_most(analysis, files))
        }
        _ if counted < MANY * count => {
            format!("Each request reads {} of {}", Bytes(read / count), read_most(analysis, files))
        }
        1 => "Each request opens or looks up the same file again and again".to_string(),
        files => format!("Each request opens or looks up the same {files} files again"),
    };
    Some(Found {
        title: format!(
            "{what}: up to {} of every {} request{}",
            Nanos((wall + contents) / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words()
        ),
        what,
        mechanism: vec![
            format!(
                "{} calls per request go to files that nearly every request goes to, {} together; in between, {} are spent on the \
                 CPU.",
                calls.len() as u64 / count,
                Nanos(wall / count),
                Nanos(between / count)
            ),
            format!("The one that takes most is {}.", costliest(analysis, files)),
        ]
        .into_iter()
        .chain(parsing_said(parsed.len(), Nanos(on_parsing / count)))
        .collect(),
        saving: PotentialSaving { wall: wall + contents, outside: 0, cpu, affected: count },
        place,
        remedy: "Read these files once, and again only when they change.".to_string(),
        rows: rows("calls", calls.iter().map(|(row, _)| *row)),
        explains: analysis.stretches(&samples).into_iter().chain(pieces.iter().map(|span| span.stretch)).collect(),
        ..Found::default()
    })
}

/// Whether so much is a good part of the requests' time. What they wait for a CPU is a crowded machine's, and these calls are as much
/// of the rest as on a calm one.
fn is_felt(analysis: &Analysis, wall: u64) -> bool {
    wall as f64 >= LEAST * analysis.wall_given_cpus() as f64
}

/// The path of the file whose calls take most.
fn costliest<'a>(analysis: &'a Analysis, files: &BTreeMap<u32, File>) -> &'a str {
    let took = |file: &File| file.calls.iter().map(|(_, inside)| inside).sum::<u64>();
    let most = files.iter().max_by_key(|(path, file)| (took(file), std::cmp::Reverse(**path)));
    most.map_or("", |(path, _)| path_name(analysis, *path))
}

/// The file of which nearly all was read that is read again, where there is one such.
fn read_most(analysis: &Analysis, files: &BTreeMap<u32, File>) -> String {
    let read: u64 = files.values().map(|file| file.read).sum();
    let one = files.iter().find(|(_, file)| file.read as f64 >= NEARLY_ALL * read as f64);
    one.map_or_else(|| "the same files again".to_string(), |(path, _)| format!("{} again", path_name(analysis, *path)))
}

fn parsing_said(samples: usize, each: Nanos) -> Option<String> {
    (samples > 0).then(|| format!("Parsing takes {each} of CPU per request: {samples} samples."))
}

/// The files that threads went to while they had a request in hand, by the id of their path; what was written is left out, with its
/// file: that has changed.
fn files(analysis: &Analysis) -> BTreeMap<u32, File> {
    let mut files: BTreeMap<u32, File> = BTreeMap::new();
    // What is asked of a descriptor by an empty name is no file of its own.
    let nameless = analysis.recording.paths.iter().find(|path| path.path.is_empty()).map_or(0, |path| path.id);
    let mut written: Vec<u32> = Vec::new();
    for (row, call) in analysis.recording.calls.iter().enumerate() {
        if [0, nameless].contains(&call.path) || call.connection != 0 {
            continue;
        }
        let (inside, _) = analysis.split(call.tid, call.start.0, call_end(call));
        if inside == 0 {
            continue;
        }
        if syscall::is_write(call.number) || syscall::is_sync(call.number) {
            written.push(call.path);
            continue;
        }
        let file = files.entry(call.path).or_default();
        file.named += u64::from(is_named(call));
        let moved = call.result.max(0) as u64;
        file.read += if syscall::is_read(call.number) { moved } else { 0 };
        file.listed += if syscall::is_listing(call.number) { moved } else { 0 };
        file.calls.push((row, inside));
        file.cpu += call.duration.0.saturating_sub(call.blocked.0);
    }
    for path in written {
        files.remove(&path);
    }
    files
}

/// Whether a call goes to a file by its name, not by a descriptor.
fn is_named(call: &Call) -> bool {
    syscall::is_open(call.number) || call.fd < 0
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::Call;

    /// `openat`.
    const OPEN: u16 = 257;

    /// Twenty requests during which the server opens so many files, each as `edit` says.
    fn opening(files: u32, edit: impl Fn(u32, u32, &mut Call)) -> Fixture {
        let mut fixture = Fixture::new();
        for id in 1..=1000 {
            fixture.path(id, &format!("/srv/app/part{id}.php"));
        }
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for request in 0..20 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            let waiting = fixture.now;
            fixture.now = idle;
            fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
            fixture.moves(SERVER, 1001, READ, 200);
            for file in 1..=files {
                fixture.does(SERVER, 20 * US, OPEN, |call| {
                    (call.fd, call.path, call.result) = (-1, file, 9);
                    edit(request, file, call);
                });
            }
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 1000);
            fixture.travels(answered + 3 * US, 1001, 1, 1000);
            idle = fixture.now;
            fixture.now = waiting;
            fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
            fixture.now += 20 * US;
        }
        fixture
    }

    fn is_found(fixture: Fixture) -> bool {
        names(&fixture.end()).contains(&"files-per-request".to_string())
    }

    #[test]
    fn files_that_each_request_opens_are_found_with_their_number() {
        let answer = answer(&opening(50, |_, _, _| {}).end());
        let finding = answer.findings.iter().find(|finding| finding.name == "files-per-request").expect("found");
        let expected = "Each request opens or looks up the same 50 files again: up to 1.01 ms of every ";
        assert!(finding.title.starts_with(expected), "{}", finding.title);
        assert!(finding.mechanism[1].contains("/srv/app/part1.php"), "{:?}", finding.mechanism);
        assert!(finding.cost.ns_per_exchange.abs_diff(MS) < MS / 10, "{:?}", finding.cost);
    }

    #[test]
    fn a_few_files_or_others_each_time_or_open_ones_are_left_alone() {
        assert!(!is_found(opening(6, |_, _, _| {})));
        assert!(!is_found(opening(50, |request, file, call| call.path = 50 * request + file)));
        assert!(!is_found(opening(50, |_, _, call| (call.fd, call.number) = (7, READ))));
        assert!(!is_found(read_to_the_end(30_000)));
        let mut nameless = opening(50, |_, _, call| call.path = 1);
        nameless.recording.paths[0].path.clear();
        assert!(!is_found(nameless));
    }

    /// Each request opens one file and reads it to its end, in fifty pieces of so many bytes.
    fn read_to_the_end(bytes: i64) -> Fixture {
        opening(51, |_, piece, call| {
            call.path = 1;
            if piece > 1 {
                (call.fd, call.number, call.result) = (9, READ, bytes / 50);
            }
        })
    }

    #[test]
    fn a_file_of_which_much_more_is_read_than_answered_is_found() {
        assert!(is_found(read_to_the_end(100_000)));
    }

    /// Twenty requests, for each of which a server reads one file in fifty pieces of so many bytes, computes for 100 us after each
    /// and for 20 ms once it has all.
    fn piece_by_piece(bytes: i64) -> Fixture {
        let mut fixture = Fixture::new();
        fixture.path(1, "/etc/hosts");
        fixture.connect(1, CLIENT);
        for _ in 0..20 {
            fixture.served(|fixture| {
                fixture.does(SERVER, 5 * US, OPEN, |call| (call.fd, call.path, call.result) = (-1, 1, 9));
                for _ in 0..50 {
                    fixture.does(SERVER, 5 * US, READ, |call| (call.fd, call.path, call.result) = (9, 1, bytes));
                    fixture.now += 100 * US;
                }
                fixture.now += 20 * MS;
            });
        }
        fixture
    }

    #[test]
    fn what_is_computed_between_the_pieces_of_a_file_counts() {
        let answer = answer(&piece_by_piece(4096).end());
        let finding = answer.findings.iter().find(|finding| finding.name == "files-per-request").expect("found");
        assert!(finding.title.starts_with("Each request reads 205 kB of /etc/hosts again: "), "{}", finding.title);
        assert!(finding.cost.ns_per_exchange.abs_diff(5 * MS) < MS, "{:?}", finding.cost);
        assert!(!is_found(piece_by_piece(40)), "as little as an answer");
    }

    /// Twenty requests, for each of which a server reads so many bytes of one file, and spends 5 of 8 ms in a function.
    fn parsing(bytes: i64, function: &str) -> Fixture {
        let mut fixture = Fixture::new();
        fixture.path(1, "/srv/app/settings.json");
        fixture.stack(7, &[function, "server!handle", "server!main"]);
        fixture.connect(1, CLIENT);
        for _ in 0..20 {
            fixture.served(|fixture| {
                let named = |call: &mut Call| (call.fd, call.path, call.result) = (-1, 1, 9);
                fixture.does(SERVER, 20 * US, OPEN, named);
                fixture.does(SERVER, 20 * US, READ, |call| (call.fd, call.path, call.result) = (9, 1, bytes));
                fixture.computes(SERVER, 5 * MS, 7);
                fixture.now += 3 * MS;
            });
        }
        fixture
    }

    #[test]
    fn what_each_request_parses_of_one_file_is_found_with_its_time() {
        let answer = answer(&parsing(10_000, "server!encoding/json.Unmarshal").end());
        let finding = answer.findings.iter().find(|finding| finding.name == "files-per-request").expect("found");
        let expected = "Each request reads 10 kB of /srv/app/settings.json again and parses it: up to 5.0";
        assert!(finding.title.starts_with(expected) && finding.title.contains("handle"), "{}", finding.title);
        assert!(finding.cost.ns_per_exchange.abs_diff(5 * MS) < MS / 10, "{:?}", finding.cost);
    }

    #[test]
    fn what_is_parsed_of_a_request_or_computed_besides_is_left_alone() {
        assert!(!is_found(parsing(2_000, "server!encoding/json.Unmarshal")), "as long as an answer");
        assert!(!is_found(parsing(10_000, "server!math.Exp")), "no parser");
    }

    #[test]
    fn a_file_that_is_written_is_no_constant() {
        assert!(!is_found(opening(50, |request, file, call| {
            if request == 3 {
                (call.fd, call.number, call.path) = (7, WRITE, file);
            }
        })));
    }
}
