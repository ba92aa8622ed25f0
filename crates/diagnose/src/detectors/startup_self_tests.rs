//! P16: a program loads and tests a crypto provider, or reads its configuration, before it asks for anything.

use super::{Found, common_caller, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use case::tables::Sample;
use case::{Nanos, Share};
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # startup-self-tests
    ///
    /// ## What it is
    /// Before its first connection a program spends its time in a crypto library that gets ready: a FIPS provider that checks itself
    /// and tries all its algorithms, an engine that looks for its hardware, a configuration file that is long or loads modules which
    /// nobody uses. Each start pays for it, and a process for each request pays each time.
    ///
    /// ## Evidence
    /// CPU samples beneath the functions that load a provider, an engine or a configuration, or in a module of such a
    /// provider, of a process that has not moved a byte over a socket yet: a twentieth of a second or more in all,
    /// and 5 ms or more in each.
    ///
    /// ## What proves it
    /// The same start with an empty configuration (`empty-openssl-conf`): the time of these samples is gone. A program that needs the
    /// provider fails then, and it remains a suspicion.
    ///
    /// ## Remedy
    /// Leave out of openssl.cnf what the program does not need (engines, providers, long lists of names), set OPENSSL_CONF for it alone,
    /// install the FIPS module with the results of its self-tests (openssl fipsinstall -self_test_onload off where allowed), and start
    /// fewer processes: one for many requests.
    ///
    /// ## Not to be confused with
    /// ca-bundle-per-context (certificates are read for each context); context-per-request; openssl3-fetch-locks (later, for each
    /// use); a slow start of the program itself.
    "P16" "startup-self-tests",
    needs: &[Samples]
}

/// Below this nobody notices,
const LEAST: u64 = 50_000_000;

/// and less in each process is what every start of OpenSSL takes: its own configuration and providers need a millisecond or two.
const LEAST_EACH: u64 = 5_000_000;

/// What begins to load or test: a configuration and what it names, a provider, an engine, the self-tests of FIPS modules.
const LOADERS: [&str; 7] = [
    "CONF_modules_load",
    "OSSL_PROVIDER_load",
    "OSSL_PROVIDER_try_load",
    "OSSL_PROVIDER_self_test",
    "ENGINE_by_id",
    "ENGINE_init",
    "FIPS_",
];

/// Where OpenSSL keeps modules of its own: providers since 3.0, engines before.
const FOLDERS: [&str; 3] = ["/ossl-modules/", "/engines-3/", "/engines-1.1/"];

fn detect(analysis: &Analysis) -> Option<Found> {
    let first_bytes = first_bytes(analysis);
    let mut kinds: BTreeMap<u32, bool> = BTreeMap::new();
    let mut loads = |stack: u32| *kinds.entry(stack).or_insert_with(|| is_load(analysis, stack));
    let is_early = |sample: &Sample| first_bytes.get(&sample.pid).is_none_or(|&first| sample.time.0 < first);
    let numbered = analysis.recording.samples.iter().enumerate();
    let numbered = numbered.filter(|(_, sample)| sample.stack != 0 && is_early(sample) && loads(sample.stack));
    let (found_rows, samples): (Vec<usize>, Vec<&Sample>) = numbered.unzip();
    let period = analysis.sample_period();
    let cpu = samples.len() as u64 * period;
    let processes: BTreeSet<u32> = samples.iter().map(|sample| sample.pid).collect();
    let count = processes.len() as u64;
    if cpu < LEAST.max(count * LEAST_EACH) {
        return None;
    }
    let (mut wall, mut outside) = (0, 0);
    for sample in &samples {
        let (within, between) = analysis.split(sample.tid, sample.time.0, sample.time.0.saturating_add(period));
        wall += within;
        outside += between;
    }
    let place = common_caller(analysis, &samples, is_loader);
    let what = "A crypto library tests itself or reads its configuration before the first byte";
    Some(Found {
        title: format!("{what}: {} at each start{}", Nanos(cpu / count.max(1)), place.in_words()),
        what: what.to_string(),
        mechanism: vec![
            format!(
                "{} of CPU time, {} of all, goes by in loading providers, engines or a configuration, in {}.",
                Nanos(cpu),
                Share(cpu as f64 / analysis.total_cpu().max(1) as f64),
                if count == 1 { "one process".to_string() } else { format!("{} processes", number::count(count)) },
            ),
            "None of them had moved a byte over a socket by then.".to_string(),
        ],
        saving: PotentialSaving { wall, outside, cpu, affected: count },
        place,
        remedy: "Leave out of openssl.cnf what the program does not need, or give it a configuration of its own (OPENSSL_CONF); start \
                 one process for many requests."
            .to_string(),
        rows: rows("samples", found_rows),
        explains: analysis.stretches(&samples),
        ..Found::default()
    })
}

/// When each process first moved a byte over a socket.
fn first_bytes(analysis: &Analysis) -> BTreeMap<u32, u64> {
    let mut first: BTreeMap<u32, u64> = BTreeMap::new();
    for &row in analysis.connections.transfers() {
        let call = analysis.call(row as usize);
        let time = first.entry(call.pid).or_insert(call.start.0);
        *time = (*time).min(call.start.0);
    }
    first
}

fn is_loader(function: &str) -> bool {
    LOADERS.iter().any(|loader| function.starts_with(loader))
}

/// Whether a stack is beneath what loads a provider, or in one.
fn is_load(analysis: &Analysis, stack: u32) -> bool {
    analysis
        .code
        .frames(stack)
        .any(|frame| is_loader(&frame.function) || FOLDERS.iter().any(|folder| frame.module.contains(folder)))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, request};
    use crate::tests::{answer, names};
    use case::Recording;

    const READS: [&str; 4] = [
        "libcrypto.so.3!OBJ_create",
        "libcrypto.so.3!CONF_modules_load_file_ex",
        "libcrypto.so.3!OPENSSL_init_crypto",
        "curl!main",
    ];
    const TESTS: [&str; 2] = ["ossl-modules/fips.so!", "curl!main"];
    const PARSES: [&str; 2] = ["curl!parse", "curl!main"];

    /// A program that computes for so long before its first request, and then asks twenty times.
    fn start(frames: &[&str], before: u64, after: u64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.stack(7, frames);
        fixture.computes(CLIENT, before, 7);
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for _ in 0..20 {
            request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
        }
        fixture.computes(CLIENT, after, 7);
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"startup-self-tests".to_string())
    }

    #[test]
    fn a_configuration_that_is_read_and_a_provider_that_tests_itself_before_the_first_byte_are_found() {
        let answer = answer(&start(&READS, 200 * MS, 0));
        let finding = answer.findings.iter().find(|one| one.name == "startup-self-tests").expect("it is found");
        assert!(finding.title.contains("200 ms at each start"), "{}", finding.title);
        assert!(finding.cost.share_of_wall > 0.9, "{:?}", finding.cost);
        assert!(is_found(&start(&TESTS, 200 * MS, 0)));
    }

    #[test]
    fn what_comes_later_what_is_short_and_work_of_the_programs_own_are_left_alone() {
        assert!(!is_found(&start(&READS, 0, 200 * MS)));
        assert!(!is_found(&start(&READS, 5 * MS, 0)));
        assert!(!is_found(&start(&PARSES, 200 * MS, 0)));
    }
}
