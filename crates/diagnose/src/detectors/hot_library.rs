//! P51: one library burns the exchanges' CPU time.

mod packages;

use super::{Found, common_place, detector, rows};
use crate::analysis::ledger::{Account, is_within};
use crate::analysis::{Analysis, PotentialSaving};
use crate::spans;
use case::tables::Sample;
use case::{Kind, Nanos, Share};
use std::collections::BTreeMap;

detector! {
    /// # hot-library
    ///
    /// ## What it is
    /// Most of the requests' time is spent in the code of one library, far more than moving their bytes could need.
    ///
    /// ## Evidence
    /// CPU samples, with time in libc and the kernel charged to the first caller outside them: one shared library takes
    /// half of the requests' time or more (what they wait for a CPU left out), at least a millisecond per request, and at least
    /// 200 ns per byte moved. Or a package that came with the language or was installed for the program (Python, Node.js, Ruby, PHP,
    /// Perl, Go, Java), as far as the program's own code called it, and was itself called by a framework or as a thread: at least
    /// five milliseconds per request.
    ///
    /// ## What proves it
    /// Another build or version of the library, or doing without what it does. If neither can be tried, it remains a
    /// suspicion with an upper bound: the library's share.
    ///
    /// ## Remedy
    /// Look at the function and its caller: ask the library for less (lighter compression, a smaller document, a cached
    /// result), or replace it.
    ///
    /// ## Not to be confused with
    /// The program's own code or its interpreter (that is its work, not a library's); causes with a name of their own:
    /// if one of them explains half of the same samples, only that one is reported.
    "P51" "hot-library",
    kind: Kind::Observation, is_general: true,
    needs: &[Server, Samples]
}

/// Half of the exchanges' time: below that, something else is the matter.
const MOST: f64 = 0.5;

/// What requests wait for a CPU is not counted there; of all their time it is still so much.
const LEAST: f64 = 0.3;

/// A library that takes less than this an exchange is not worth replacing.
const PER_EXCHANGE: u64 = 1_000_000;

/// Encryption and compression take 1 to 50 ns a byte; far more is no longer moving data.
const PER_BYTE: u64 = 200;

/// Where so many requests are under way at a time on average, and they spend so many times as long on it as it takes of CPU time,
/// they wait for that of others.
const IN_LINE: f64 = 1.5;

/// Fewer samples than this say little about a share.
const SAMPLES: usize = 100;

/// Libraries that are a language's interpreter or runtime: their time is the program's own.
const RUNTIMES: [&str; 12] = [
    "libpython",
    "libnode",
    "libjvm",
    "libgo.",
    "libruby",
    "libperl",
    "liblua",
    "libmono",
    "libcoreclr",
    "libphp",
    "libv8",
    "libguile",
];

fn detect(analysis: &Analysis) -> Option<Found> {
    of_a_shared_library(analysis).or_else(|| packages::detect(analysis))
}

fn of_a_shared_library(analysis: &Analysis) -> Option<Found> {
    let count = analysis.exchanges.len() as u64;
    let mut modules: BTreeMap<u32, f64> = BTreeMap::new();
    for (account, length) in &analysis.accounts.exchanges {
        if let Account::Module(_, module) = account {
            *modules.entry(*module).or_default() += length;
        }
    }
    let (&module, &length) = modules.iter().max_by(|one, other| one.1.total_cmp(other.1))?;
    let name = analysis.code.module_name(module);
    let length = length as u64;
    let bytes: u64 = analysis.exchanges.iter().map(|exchange| exchange.bytes).sum();
    let share = Nanos(length).share_of(Nanos(analysis.exchange_wall()));
    let dear = length >= PER_EXCHANGE * count.max(1) && length >= PER_BYTE.saturating_mul(bytes);
    if !is_library(name) || !is_most(analysis, length) || !dear {
        return None;
    }
    let of_library = |sample: &Sample| analysis.code.module_of(sample) == module && is_within(analysis, sample);
    let numbered = analysis.recording.samples.iter().enumerate().filter(|(_, sample)| of_library(sample));
    let (found_rows, samples): (Vec<usize>, Vec<&Sample>) = numbered.unzip();
    (samples.len() >= SAMPLES).then(|| found(analysis, name, share, length, &found_rows, &samples))
}

/// Whether so much is most of what the requests take, and a fair part of all of their time on a crowded machine, too.
fn is_most(analysis: &Analysis, length: u64) -> bool {
    let least = MOST * analysis.wall_given_cpus() as f64;
    length as f64 >= least.max(LEAST * analysis.exchange_wall() as f64)
}

fn is_library(name: &str) -> bool {
    name.contains(".so") && !RUNTIMES.iter().any(|runtime| name.starts_with(runtime))
}

fn found(
    analysis: &Analysis,
    name: &str,
    share: Share,
    length: u64,
    found_rows: &[usize],
    samples: &[&Sample],
) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let place = common_place(analysis, samples);
    let cpu = (samples.len() as u64 * analysis.sample_period()).min(length);
    let (part, whole) = (Nanos(length / count), Nanos(analysis.exchange_wall() / count));
    let of_every = format!("{part} of every {whole} request");
    let each = Nanos(cpu / count);
    let place_in_words = place.in_words();
    Found {
        title: if cpu as f64 * IN_LINE < length as f64 && at_a_time(analysis) >= IN_LINE {
            format!(
                "Each request takes {each} of CPU time in {name}, and waits for those before it: {of_every}{place_in_words}"
            )
        } else {
            format!("{of_every} is CPU time in {name}{place_in_words}")
        },
        what: format!("CPU time is spent in {name}"),
        mechanism: vec![
            format!("{share} of the requests' time is spent in {name}: {} samples.", samples.len()),
            "That is where the time goes, not why: only trying shows what replacing or bypassing it would save."
                .to_string(),
        ],
        saving: PotentialSaving { wall: length, outside: 0, cpu, affected: count },
        place,
        remedy: format!("See what the caller asks of {name}: ask for less, cache the result, or use another version."),
        rows: rows("samples", found_rows.iter().copied()),
        explains: analysis.stretches(samples),
        ..Found::default()
    }
}

/// How many requests are under way on average, while any is.
fn at_a_time(analysis: &Analysis) -> f64 {
    let requests = spans::merge(analysis.exchanges.iter().map(|exchange| (exchange.start, exchange.end)).collect());
    analysis.exchange_wall() as f64 / spans::length(requests.into_iter()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, asked_at_once, keep_alive};
    use crate::tests::names;

    /// Twenty requests whose answers the client works 20 ms on, in one module, before it reads the rest.
    fn one_after_another(module: &str, bytes: i64) -> Fixture {
        waiting_for_a_cpu(module, bytes, 0)
    }

    /// The same, and that each waits so long for a CPU besides.
    fn waiting_for_a_cpu(module: &str, bytes: i64, length: u64) -> Fixture {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(7, &["libc.so.6!memchr", &format!("{module}!work"), "client!main"]);
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 100 * US, 100);
            fixture.computes(CLIENT, 20 * MS, 7);
            if length > 0 {
                fixture.preempted(CLIENT, length);
            }
            fixture.waits_for(CLIENT, 1, 10 * US, bytes);
        }
        fixture
    }

    fn working_in(module: &str, bytes: i64) -> Vec<String> {
        names(&one_after_another(module, bytes).end())
    }

    #[test]
    fn a_library_that_takes_most_of_each_exchange_is_found() {
        assert_eq!(working_in("libjson.so.4", 1000), ["hot-library"]);
    }

    #[test]
    fn a_crowded_machine_hides_no_library_and_makes_none_of_a_little() {
        let is_found = |length| {
            let found = names(&waiting_for_a_cpu("libjson.so.4", 1000, length).end());
            found.contains(&"hot-library".to_string())
        };
        assert!(is_found(35 * MS));
        assert!(!is_found(90 * MS));
    }

    #[test]
    fn what_others_wait_for_is_told_from_what_a_request_takes_itself() {
        let title = |recording: &case::Recording| {
            let findings = crate::tests::answer(recording).findings;
            findings.into_iter().find(|one| one.name == "hot-library").expect("it is found").title
        };
        let in_line = title(&asked_at_once(&["libjson.so.4!work", "server!main"], 20 * MS, 0, 4));
        // Of four at a time each waits for those before it: 50 ms on average, of which 20 are its own.
        let begins = "Each request takes 20.0 ms of CPU time in libjson.so.4, and waits for those before it: ";
        assert!(in_line.starts_with(begins), "{in_line}");
        let mut alone = one_after_another("libjson.so.4", 1000).end();
        assert!(title(&alone).contains(" request is CPU time in libjson.so.4"), "{}", title(&alone));
        // Samples that are lost put nobody in line.
        let mut number = 0;
        alone.samples.retain(|_| {
            number += 1;
            number % 2 == 0
        });
        assert!(title(&alone).contains(" request is CPU time in libjson.so.4"), "{}", title(&alone));
    }

    #[test]
    fn the_programs_own_work_is_left_alone() {
        assert_eq!(working_in("client", 1000), Vec::<String>::new());
        assert_eq!(working_in("libpython3.11.so.1.0", 1000), Vec::<String>::new());
    }

    #[test]
    fn a_library_that_moves_many_bytes_is_left_alone() {
        assert_eq!(working_in("libcrypto.so.3", 10_000_000), Vec::<String>::new());
    }
}
