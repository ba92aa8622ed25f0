//! P37: a garbage collector is at work all the time.

mod asked;

use super::{Found, common_caller, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::place::Located;
use crate::spans::merge;
use case::tables::Sample;
use case::{Kind, Nanos, Share};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

detector! {
    /// # allocator-pressure
    ///
    /// ## What it is
    /// A garbage collector runs again and again: the heap is hardly larger than what is kept in it, garbage is made quickly, or
    /// the program forces a collection each time. Every collection goes through what is kept.
    ///
    /// ## Evidence
    /// CPU samples of a collector, by its threads' names (Java, .NET) or by its functions (Go, CPython, V8, Ruby, OCaml, PHP): a
    /// quarter of the CPU time or more, spread over the run. Charged to requests is the time in which the collector's threads
    /// stop the others, and what threads with a request in hand collect themselves. That the program forces collections itself
    /// (System.gc in Java, runtime.GC in Go, gc.collect in CPython where its functions have names) shows in stacks that wait for one or
    /// are in the middle of it, with the line that does so.
    ///
    /// ## What proves it
    /// A larger heap (`large-heap`): the collector's time falls. Where a Java program forces
    /// collections, ignoring that (`no-explicit-gc`). Where no variable of the runtime sets it (CPython; Go and Node.js
    /// where their code or command line does) it remains an observation.
    ///
    /// ## Remedy
    /// Give the heap room (Java: -Xmx, Go: GOGC and GOMEMLIMIT, Node.js: --max-semi-space-size and --max-old-space-size), make less
    /// garbage per request (reuse buffers, do not copy), keep less, and do not ask for collections in the program.
    ///
    /// ## Not to be confused with
    /// One long collection, at the start as a rule; memory-churn (what is freed goes back to the kernel, and is taken from it
    /// again).
    "P37" "allocator-pressure",
    kind: Kind::Observation,
    needs: &[Server, Samples]
}

/// A collector that takes less is what automatic memory costs.
const MOST: f64 = 0.25;
/// Fewer samples than this say little about a share: 50 ms at the usual rate.
const SAMPLES: usize = 50;
/// The recording in so many parts: the collector is at work in more than half of them.
const PARTS: u64 = 8;

/// What the names of threads begin with that collect while the program's own are stopped.
const STOPPING: [&str; 5] = ["GC Thread#", "ParGC Thread", "VM Thread", "Gang worker", ".NET Server GC"];
/// Of those that collect beside it.
const BESIDE: [&str; 6] = ["G1 Conc#", "G1 Main Marker", "ZWorker", "ZDriver", "Shenandoah GC", ".NET BGC"];

/// Functions of collectors.
const COLLECTORS: [&str; 15] = [
    "runtime.gcBgMarkWorker",
    "runtime.gcAssistAlloc",
    "runtime.gcDrain",
    "runtime.bgsweep",
    "runtime.sweepone",
    "gc_collect_main",
    "gc_collect_with_callback",
    "PyGC_Collect",
    "v8::internal::Heap::CollectGarbage",
    "v8::internal::Heap::PerformGarbageCollection",
    "garbage_collect",
    "gc_marks",
    "gc_sweep",
    "caml_major_collection_slice",
    "zend_gc_collect_cycles",
];

/// Where a collector's thread waits for another of its own, which may not even have a CPU: it collects nothing meanwhile.
const WAITING: [&str; 2] = ["runtime.osyield", "runtime.procyield"];

/// Threads of collectors: those that stop the others, and those that work beside them.
struct Collectors {
    stopping: FxHashSet<u32>,
    beside: FxHashSet<u32>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let named = |beginnings: &[&str]| {
        let threads = analysis.recording.threads.iter();
        let of_collector = threads.filter(|row| beginnings.iter().any(|beginning| row.name.starts_with(beginning)));
        of_collector.map(|row| row.tid).collect()
    };
    let threads = Collectors { stopping: named(&STOPPING), beside: named(&BESIDE) };
    let mut kinds: BTreeMap<u32, bool> = BTreeMap::new();
    let mut collects = |sample: &Sample| {
        threads.stopping.contains(&sample.tid)
            || threads.beside.contains(&sample.tid)
            || *kinds.entry(sample.stack).or_insert_with(|| {
                analysis.code.passes_through(sample.stack, is_collector)
                    && !analysis.code.passes_through(sample.stack, |function| WAITING.contains(&function))
            })
    };
    let numbered = analysis.recording.samples.iter().enumerate().filter(|(_, sample)| collects(sample));
    // One process's: what another's collector does for a moment is neither this one's cost nor its evidence.
    let mut by_process: BTreeMap<u32, (Vec<usize>, Vec<&Sample>)> = BTreeMap::new();
    for (row, sample) in numbered {
        let (rows, samples) = by_process.entry(sample.pid).or_default();
        rows.push(row);
        samples.push(sample);
    }
    let (found_rows, samples) = by_process.into_values().max_by_key(|(rows, _)| rows.len())?;
    let all = analysis.recording.samples.len().max(1);
    let share = Share(samples.len() as f64 / all as f64);
    if samples.len() < SAMPLES || share.0 < MOST || !is_spread(analysis, &samples) {
        return None;
    }
    Some(found(analysis, &threads, share, &found_rows, &samples))
}

fn is_collector(function: &str) -> bool {
    is_function(function, &COLLECTORS)
}

/// Whether a function is one of those with these names.
fn is_function(function: &str, names: &[&str]) -> bool {
    // Behind the name a compiler's suffix, a closure or the arguments: `gc_marks.isra.0`, `Heap::CollectGarbage(...)`.
    let is_it = |rest: &str| rest.is_empty() || rest.starts_with(['.', '(']);
    names.iter().any(|name| function.strip_prefix(name).is_some_and(is_it))
}

/// Whether more than half of the run's parts have samples: at least half of what an even spread would give each.
fn is_spread(analysis: &Analysis, samples: &[&Sample]) -> bool {
    let (start, wall) = (analysis.recording.manifest.start.0, analysis.wall().max(1));
    let mut parts = [0u64; PARTS as usize];
    for sample in samples {
        let at = sample.time.0.saturating_sub(start).min(wall - 1);
        parts[(u128::from(at) * u128::from(PARTS) / u128::from(wall)) as usize] += 1;
    }
    let even = samples.len() as u64 / PARTS;
    parts.iter().filter(|&&count| count * 2 >= even).count() as u64 * 2 > PARTS
}

fn found(analysis: &Analysis, threads: &Collectors, share: Share, found_rows: &[usize], samples: &[&Sample]) -> Found {
    let (period, count) = (analysis.sample_period(), analysis.exchanges.len().max(1) as u64);
    let span = |sample: &Sample| {
        let (before, after) = (period / 2, period - period / 2);
        (sample.time.0.saturating_sub(before), sample.time.0.saturating_add(after))
    };
    let stops = samples.iter().filter(|sample| threads.stopping.contains(&sample.tid));
    let stopped = merge(stops.map(|sample| span(sample)).collect());
    let held_up = |start: u64, end: u64| {
        let first = stopped.partition_point(|&(_, to)| to <= start);
        let within = stopped[first..].iter().take_while(|&&(from, _)| from < end);
        within.map(|&(from, to)| to.min(end) - from.max(start)).sum::<u64>()
    };
    let by_others: u64 = analysis.exchanges.iter().map(|exchange| held_up(exchange.start, exchange.end)).sum();
    // What threads of the program's own collect is asked for somewhere; a collector's own threads have no such place.
    let is_own = |sample: &&&Sample| !threads.stopping.contains(&sample.tid) && !threads.beside.contains(&sample.tid);
    let own: Vec<&Sample> = samples.iter().filter(is_own).copied().collect();
    let by_own = own.iter().filter(|sample| analysis.is_for_requests(sample)).count() as u64 * period;
    let (wall, cpu) = ((by_others + by_own).min(analysis.exchange_wall()), samples.len() as u64 * period);
    let asked = samples.first().and_then(|sample| asked::find(analysis, sample.pid));
    let asked = asked.filter(|asked| asked.to - asked.from >= analysis.wall() / 2);
    let seen = asked.as_ref().map(|asked| asked.seen);
    let is_in_own = own.len() * 2 > samples.len();
    let place = match asked {
        Some(asked) => asked.place,
        None if is_in_own => common_caller(analysis, &own, is_collector),
        None => Located::default(),
    };
    let (each, place_in_words) = (Nanos(cpu / count), place.in_words());
    let collects = format!(
        "{} of {} CPU samples are a collector's, from the beginning of the run to its end.",
        samples.len(),
        analysis.recording.samples.len(),
    );
    let asks = |seen| {
        format!("The program forces them itself: a thread was caught in that call, or waiting for it, {seen} times.")
    };
    Found {
        title: match seen {
            Some(_) => format!(
                "The program forces garbage collections, which take {share} of the CPU time: {each} per request{place_in_words}"
            ),
            None => format!("A garbage collector takes {share} of the CPU time: {each} per request{place_in_words}"),
        },
        what: match seen {
            Some(_) => "The program forces garbage collections again and again".to_string(),
            None => "A garbage collector is at work all the time".to_string(),
        },
        mechanism: std::iter::once(collects).chain(seen.map(asks)).collect(),
        saving: PotentialSaving { wall, outside: 0, cpu, affected: count },
        place,
        remedy: match seen {
            Some(_) => {
                "Drop the calls that force collections: a collector runs by itself when there is something to gain."
            }
            None => "Give the heap more room, make less garbage per request, and do not ask for collections.",
        }
        .to_string(),
        rows: rows("samples", found_rows.iter().copied()),
        explains: samples
            .iter()
            .map(|sample| {
                let (from, to) = span(sample);
                (sample.tid, from, to)
            })
            .collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, SERVER, US, WRITE, keep_alive};
    use crate::syscall::FUTEX;
    use crate::tests::{answer, names};
    use case::tables::{Sample, Thread};
    use case::{Kind, Nanos, Recording};

    const COLLECTOR: u32 = SERVER + 1;

    /// Twenty requests of 10 ms, half of which a thread of this name collects, in the first of them or in each.
    fn collected_by(name: &str, each: bool) -> Recording {
        collected_in(name, each, &["server!main"])
    }

    /// The same in some functions.
    fn collected_in(name: &str, each: bool, functions: &[&str]) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(7, functions);
        fixture.recording.threads.push(Thread {
            tid: COLLECTOR,
            pid: SERVER,
            name: name.into(),
            start: Nanos(fixture.now),
            ..Thread::default()
        });
        for number in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            let begun = fixture.now;
            fixture.waits_for(CLIENT, 1, 10 * MS, 100);
            let parts = if each {
                5
            } else if number < 2 {
                50
            } else {
                0
            };
            for tick in 0..parts {
                let time = Nanos(begun + tick * MS * 5 / parts + MS / 2);
                fixture.recording.samples.push(Sample {
                    time,
                    tid: COLLECTOR,
                    pid: SERVER,
                    stack: 7,
                    ..Sample::default()
                });
            }
        }
        fixture.end()
    }

    #[test]
    fn a_collector_that_stops_each_request_is_found() {
        let answer = answer(&collected_by("GC Thread#0", true));
        let finding = answer.findings.iter().find(|finding| finding.name == "allocator-pressure").expect("found");
        assert_eq!(finding.kind, Kind::Observation);
        assert!((4 * MS..6 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.title.contains("100 % of the CPU time"), "{}", finding.title);
    }

    #[test]
    fn a_collector_that_waits_for_another_thread_of_its_own_collects_nothing() {
        let is_found = |functions: &[&str]| {
            names(&collected_in("etcd", true, functions)).contains(&"allocator-pressure".to_string())
        };
        assert!(is_found(&["etcd!runtime.scanobject", "etcd!runtime.gcDrain"]));
        assert!(!is_found(&["etcd!runtime.osyield", "etcd!runtime.gcDrain"]));
    }

    #[test]
    fn it_rests_on_the_process_that_collects_all_the_time() {
        let mut recording = collected_by("GC Thread#0", true);
        let first = recording.samples[0].time;
        recording.threads.push(Thread { tid: CLIENT, pid: CLIENT, name: "VM Thread".into(), ..Thread::default() });
        let of_client = Sample { time: first, tid: CLIENT, pid: CLIENT, ..Sample::default() };
        recording.samples.splice(0..0, std::iter::repeat_n(of_client, 3));
        let answer = answer(&recording);
        let finding = answer.findings.iter().find(|finding| finding.name == "allocator-pressure").expect("found");
        let pids = finding.evidence.rows.iter().map(|&row| recording.samples[row as usize].pid);
        assert_eq!(pids.collect::<Vec<_>>(), [SERVER; 5]);
    }

    #[test]
    fn one_collection_and_other_threads_are_left_alone() {
        let is_found = |recording: &Recording| names(recording).contains(&"allocator-pressure".to_string());
        assert!(!is_found(&collected_by("GC Thread#0", false)));
        assert!(!is_found(&collected_by("worker", true)));
    }

    #[test]
    fn collections_that_the_program_asks_for_are_found_where_it_waits_for_them() {
        // Requests of 10 ms, half of which other threads collect, while a thread of the server's waits in some functions.
        let waiting_in = |functions: &[&str]| {
            let mut fixture = keep_alive(1, 50 * US);
            fixture.stack(7, &["libjvm.so!mark"]);
            fixture.stack(8, functions);
            let collector = Thread { tid: COLLECTOR, pid: SERVER, name: "GC Thread#0".into(), ..Thread::default() };
            fixture.recording.threads.push(Thread { start: Nanos(fixture.now), ..collector });
            for _ in 0..20 {
                let begun = fixture.now;
                let sample = Sample { tid: COLLECTOR, pid: SERVER, stack: 7, ..Sample::default() };
                let samples = (0..5).map(|tick| Sample { time: Nanos(begun + tick * MS), ..sample.clone() });
                fixture.recording.samples.extend(samples);
                fixture.served(|fixture| {
                    fixture.waits(SERVER, 5 * MS, FUTEX, |call| call.stack = 8);
                });
            }
            let answer = answer(&fixture.end());
            let finding = answer.findings.into_iter().find(|finding| finding.name == "allocator-pressure");
            finding.expect("found").title
        };
        let asking = ["libjvm.so!JVM_GC", "shop!java.lang.System.gc", "shop!Shop.tidy", "shop!Shop.handle"];
        let title = waiting_in(&asking);
        assert!(title.starts_with("The program forces garbage collections, which take 100 % "), "{title}");
        assert!(title.contains("Shop.tidy"), "{title}");
        let title = waiting_in(&["shop!Shop.tidy", "shop!Shop.handle"]);
        assert!(title.starts_with("A garbage collector takes 100 % "), "{title}");
    }

    #[test]
    fn a_collection_that_the_program_asks_for_is_found_where_it_asks() {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(
            7,
            &["libpython3.so!visit_decref", "libpython3.so!gc_collect_main", "server!clean_up", "server!main"],
        );
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 100 * US, 100);
            fixture.computes(CLIENT, 10 * MS, 7);
            fixture.waits_for(CLIENT, 1, 10 * US, 100);
        }
        let answer = answer(&fixture.end());
        let finding = answer.findings.iter().find(|finding| finding.name == "allocator-pressure").expect("found");
        assert!(finding.title.contains("clean_up"), "{}", finding.title);
    }
}
