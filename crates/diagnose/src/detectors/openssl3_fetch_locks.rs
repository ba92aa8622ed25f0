//! P12: algorithms that OpenSSL 3 looks up by name again and again.

use super::{Found, common_caller, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use case::Nanos;
use case::tables::Sample;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # openssl3-fetch-locks
    ///
    /// ## What it is
    /// Since OpenSSL 3 each use of an algorithm that was not fetched beforehand looks it up by its name among the
    /// providers: under locks, with counters that all threads share. For what is small (a hash of a hundred bytes) that
    /// takes longer than the work, and with threads it takes longer still.
    ///
    /// ## Evidence
    /// CPU samples beneath libcrypto's functions that fetch an algorithm, a twentieth of the requests' time or of the
    /// CPU time or more, outside handshakes and the making of a TLS context; in how many threads.
    ///
    /// ## What proves it
    /// What was looked up is handed out again (`kept-algorithms`), where the library can be reached so; elsewhere another build of
    /// libcrypto (whyslow matrix). An empty configuration is the control.
    ///
    /// ## Remedy
    /// Fetch an algorithm once (EVP_MD_fetch, EVP_CIPHER_fetch) and use it again; copy a prepared context
    /// (EVP_MD_CTX_copy_ex, in Python the copy() of a hash or HMAC); use OpenSSL 3.2 or later, which fetches faster.
    ///
    /// ## Not to be confused with
    /// context-per-request (a TLS context fetches all its algorithms); handshakes, which fetch what they need and are
    /// few; lock-convoy (a lock of the program's own); the hash itself.
    "P12" "openssl3-fetch-locks",
    needs: &[Samples]
}

/// Below a twentieth of the time, fetching beforehand hardly shows.
const MOST: f64 = 0.05;

/// Fewer samples than this say little about a share: 30 ms at the usual rate.
const SAMPLES: usize = 30;

/// What fetches end with: EVP_MD_fetch, EVP_CIPHER_fetch and the like of libcrypto, by their public names.
const FETCHES: [(&str, &str); 2] = [("EVP_", "_fetch"), ("evp_generic_fetch", "")];

/// What fetches much at a time for something made once, as a rule.
const MAKERS: [&str; 7] =
    ["SSL_CTX_new", "OSSL_PROVIDER_", "OPENSSL_init_", "SSL_do_handshake", "SSL_accept", "SSL_connect", "SSL_read"];

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut kinds: BTreeMap<u32, bool> = BTreeMap::new();
    let mut fetches =
        |sample: &Sample| *kinds.entry(sample.stack).or_insert_with(|| is_fetch_of_its_own(analysis, sample.stack));
    let numbered = analysis.recording.samples.iter().enumerate().filter(|(_, sample)| fetches(sample));
    let (found_rows, samples): (Vec<usize>, Vec<&Sample>) = numbered.unzip();
    let period = analysis.sample_period();
    let within = samples.iter().filter(|sample| analysis.is_for_requests(sample)).count() as u64;
    let (cpu, wall) = (samples.len() as u64 * period, within * period);
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    let of_cpu = Nanos(cpu).share_of(Nanos(analysis.total_cpu()));
    let is_much = share.0 >= MOST || of_cpu.0 >= MOST;
    if samples.len() < SAMPLES || analysis.exchanges.is_empty() || !is_much {
        return None;
    }
    let count = analysis.exchanges.len() as u64;
    let threads: BTreeSet<u32> = samples.iter().map(|sample| sample.tid).collect();
    let place = common_caller(analysis, &samples, is_fetch);
    let what = "OpenSSL looks up the same algorithms again and again";
    let in_threads = match threads.len() {
        1 => "in one thread".to_string(),
        several => format!("in {several} threads, which share its locks"),
    };
    Some(Found {
        title: format!(
            "{what}: {} of every {} request, {} of CPU{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            Nanos(cpu / count),
            place.in_words()
        ),
        what: what.to_string(),
        mechanism: vec![format!(
            "{of_cpu} of the CPU time is spent fetching algorithms: {} samples, {in_threads}.",
            samples.len()
        )],
        saving: PotentialSaving { wall, outside: 0, cpu, affected: count },
        place,
        remedy: "Fetch each algorithm once and use it again, copy a prepared context, or use OpenSSL 3.2 or later."
            .to_string(),
        rows: rows("samples", found_rows),
        explains: analysis.stretches(&samples),
        ..Found::default()
    })
}

fn is_fetch(function: &str) -> bool {
    FETCHES.iter().any(|(begins, ends)| function.starts_with(begins) && function.ends_with(ends))
}

/// Whether a stack fetches an algorithm, and not for something that is made once.
fn is_fetch_of_its_own(analysis: &Analysis, stack: u32) -> bool {
    let makes = |name: &str| MAKERS.iter().any(|maker| name.starts_with(maker));
    analysis.code.passes_through(stack, is_fetch) && !analysis.code.passes_through(stack, makes)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, US, WRITE, keep_alive};
    use crate::tests::{answer, names};
    use case::Recording;

    /// Twenty requests of 20 ms, of which the program spends so many in a stack.
    fn working_in(frames: &[&str], work: u64) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(7, frames);
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, (20 - work) * MS, 100);
            fixture.computes(CLIENT, work * MS, 7);
            fixture.waits_for(CLIENT, 1, 10 * US, 1_000);
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"openssl3-fetch-locks".to_string())
    }

    const FETCHES: [&str; 4] = [
        "libcrypto.so.3!CRYPTO_THREAD_read_lock",
        "libcrypto.so.3!EVP_MD_fetch",
        "libcrypto.so.3!EVP_DigestInit_ex",
        "server!sign",
    ];

    #[test]
    fn requests_that_spend_their_time_fetching_are_found_at_the_caller() {
        let answer = answer(&working_in(&FETCHES, 6));
        let finding = answer.findings.iter().find(|finding| finding.name == "openssl3-fetch-locks").expect("found");
        assert!((5 * MS..7 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.mechanism[0].contains("in one thread"), "{:?}", finding.mechanism);
    }

    #[test]
    fn hashing_a_little_fetching_and_what_a_context_fetches_are_left_alone() {
        let hashes = ["libcrypto.so.3!SHA256_Update", "libcrypto.so.3!EVP_DigestUpdate", "server!sign"];
        assert!(!is_found(&working_in(&hashes, 6)));
        assert!(!is_found(&working_in(&FETCHES, 1)));
        let context = ["libcrypto.so.3!EVP_CIPHER_fetch", "libssl.so.3!SSL_CTX_new_ex", "server!connect"];
        assert!(!is_found(&working_in(&context, 6)));
    }
}
