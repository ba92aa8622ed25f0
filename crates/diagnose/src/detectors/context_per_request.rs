//! P09: a TLS context is made for each request.

use super::{Found, common_caller, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use case::Nanos;
use case::tables::{Sample, content};
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # context-per-request
    ///
    /// ## What it is
    /// A program creates a new TLS context (SSL_CTX, credentials) for each request. That looks up every algorithm and
    /// allocates its tables: with OpenSSL 3 it takes milliseconds, before any certificate is loaded. Certificates that the
    /// program keeps in memory (Node.js: `ca`) are parsed anew for each.
    ///
    /// ## Evidence
    /// CPU samples under the function that creates a context, or one that parses trusted certificates for it, between the
    /// handshakes of one process, three times or more; where it makes none at all, between the requests that it serves.
    ///
    /// ## What proves it
    /// Returning the same context for the same settings: the time under that function goes away.
    ///
    /// ## Remedy
    /// Create one context at start-up and share it among all connections.
    ///
    /// ## Not to be confused with
    /// ca-bundle-per-context (reading the trusted certificates from files, which is counted there); the handshake itself.
    "P09" "context-per-request",
    needs: &[Samples]
}

/// What libraries call the function that makes a context.
const MAKERS: [&str; 6] = [
    "SSL_CTX_new",
    "gnutls_certificate_allocate_credentials",
    "mbedtls_ssl_config_defaults",
    "wolfSSL_CTX_new",
    "s2n_config_new",
    "SSL_NewContext",
];

/// What the functions are called that parse trusted certificates; those of a peer come in another form.
const FILLERS: [&str; 7] = [
    "d2i_X509_AUX",
    "PEM_read_bio_X509",
    "PEM_X509_INFO_read_bio",
    "SSL_CTX_load_verify",
    "X509_load_cert",
    "gnutls_certificate_set_x509_trust",
    "mbedtls_x509_crt_parse",
];

/// What those of OpenSSL's functions begin with that make a context, fill it, or set it up.
const OF_CONTEXTS: &str = "SSL_CTX_";

/// Made before one handshake is once; before three it is a habit.
const HABIT: usize = 3;

/// Contexts that one process was seen making.
#[derive(Default)]
struct Making {
    /// The samples.
    rows: Vec<usize>,
    /// Before which of its handshakes or requests.
    before: BTreeSet<usize>,
}

/// What the contexts of one process are made for, in order.
struct Uses {
    /// Whether it is handshakes, or requests that it serves without any.
    are_handshakes: bool,
    times: Vec<u64>,
}

/// Whether a function makes a context.
fn makes(function: &str) -> bool {
    MAKERS.iter().any(|maker| function.starts_with(maker))
}

/// Whether a function makes a context or parses certificates for it.
fn makes_or_fills(function: &str) -> bool {
    makes(function) || FILLERS.iter().any(|filler| function.starts_with(filler))
}

/// The processes that read certificates from the same file again and again: what they parse is charged there.
fn reading(analysis: &Analysis) -> BTreeSet<u32> {
    let mut read: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for call in analysis.recording.calls.iter().filter(|call| call.content == content::PEM) {
        *read.entry((call.pid, call.path)).or_default() += 1;
    }
    read.into_iter().filter(|(_, times)| *times >= HABIT).map(|((pid, _), _)| pid).collect()
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let uses = uses(analysis);
    let reading = reading(analysis);
    let mut making: BTreeMap<(bool, u32), bool> = BTreeMap::new();
    let mut by_process: BTreeMap<u32, Making> = BTreeMap::new();
    for (row, sample) in analysis.recording.samples.iter().enumerate() {
        let Some(Uses { times, .. }) = uses.get(&sample.pid) else { continue };
        let reads = reading.contains(&sample.pid);
        let accepts: fn(&str) -> bool = if reads { makes } else { makes_or_fills };
        let makes_one =
            making.entry((reads, sample.stack)).or_insert_with(|| analysis.code.passes_through(sample.stack, accepts));
        if *makes_one {
            let process = by_process.entry(sample.pid).or_default();
            process.rows.push(row);
            process.before.insert(times.partition_point(|&time| time <= sample.time.0));
        }
    }
    by_process.retain(|_, making| making.before.len() >= HABIT);
    let found_rows: Vec<usize> = by_process.values().flat_map(|making| making.rows.iter().copied()).collect();
    let samples: Vec<&Sample> = found_rows.iter().map(|&row| &analysis.recording.samples[row]).collect();
    let made: usize = by_process.values().map(|making| making.before.len()).sum();
    let count = |are_handshakes| {
        let of_process = by_process.keys().map(|pid| &uses[pid]).filter(|uses| uses.are_handshakes == are_handshakes);
        of_process.map(|uses| uses.times.len()).sum::<usize>()
    };
    let uses = match (count(true), count(false)) {
        (0, requests) => format!("{requests} requests, and no handshake,"),
        (handshakes, _) => format!("{handshakes} handshakes,"),
    };
    (!samples.is_empty()).then(|| found(analysis, &found_rows, &samples, made, &uses))
}

/// What each process may make contexts for.
fn uses(analysis: &Analysis) -> BTreeMap<u32, Uses> {
    let mut uses: BTreeMap<u32, Uses> = BTreeMap::new();
    for row in &analysis.recording.handshakes {
        if let Some(slot) = analysis.connections.slot(row.connection) {
            let of_process = uses.entry(analysis.connections.row(slot).pid);
            of_process.or_insert_with(|| Uses { are_handshakes: true, times: Vec::new() }).times.push(row.start.0);
        }
    }
    for (pid, times) in served(analysis) {
        uses.entry(pid).or_insert(Uses { are_handshakes: false, times });
    }
    uses
}

/// When the requests began that each process serves, in order.
pub(super) fn served(analysis: &Analysis) -> BTreeMap<u32, Vec<u64>> {
    let mut served: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for exchange in &analysis.exchanges {
        if let Some(slot) = analysis.server_slot(exchange) {
            served.entry(analysis.connections.row(slot).pid).or_default().push(exchange.start);
        }
    }
    served
}

/// The processes that were seen making contexts, or filling them, three times or more.
pub(super) fn makers(analysis: &Analysis) -> BTreeSet<u32> {
    let mut stacks: BTreeMap<u32, bool> = BTreeMap::new();
    let mut samples: BTreeMap<u32, usize> = BTreeMap::new();
    let of_contexts = |function: &str| function.starts_with(OF_CONTEXTS) || makes(function);
    for sample in &analysis.recording.samples {
        let makes =
            stacks.entry(sample.stack).or_insert_with(|| analysis.code.passes_through(sample.stack, of_contexts));
        *samples.entry(sample.pid).or_default() += usize::from(*makes);
    }
    samples.into_iter().filter(|(_, count)| *count >= HABIT).map(|(pid, _)| pid).collect()
}

fn found(analysis: &Analysis, found_rows: &[usize], samples: &[&Sample], made: usize, uses: &str) -> Found {
    let period = analysis.sample_period();
    let explains = analysis.stretches(samples);
    let cpu = samples.len() as u64 * period;
    let inside: u64 = explains.iter().map(|&(tid, start, end)| analysis.split(tid, start, end).0).sum();
    let saving = PotentialSaving { wall: inside.min(cpu), outside: cpu - inside.min(cpu), cpu, affected: made as u64 };
    let place = common_caller(analysis, samples, makes_or_fills);
    let in_words = place.in_words();
    let count = analysis.exchanges.len().max(1) as u64;
    Found {
        title: format!("A new TLS context for each request: {} of CPU each{in_words}", Nanos(cpu / count)),
        what: "A new TLS context is created for each request".to_string(),
        mechanism: vec![
            format!(
                "Between {uses} samples caught a context being created, or filled with certificates, {made} times."
            ),
            format!("That took {} of CPU time ({} samples).", Nanos(cpu), samples.len()),
        ],
        saving,
        place,
        remedy: "Create one TLS context at start-up and use it for every connection; contexts are meant to be shared."
            .to_string(),
        rows: rows("samples", found_rows.iter().copied()),
        explains,
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, request, request_with};
    use crate::tests::names;
    use case::tables::content;

    const MAKES: [&str; 3] = ["libcrypto.so.3!EVP_CIPHER_fetch", "libssl.so.3!SSL_CTX_new_ex", "client!main"];
    const FILLS: [&str; 3] = ["node!asn1_item_embed_d2i", "node!d2i_X509_AUX", "node!SetCACert"];

    /// Ten requests that a server answers after 10 ms of work, without any handshake.
    fn contexts_while_serving(does: [&str; 3], made: usize) -> Vec<String> {
        let mut fixture = Fixture::new();
        fixture.stack(7, &does);
        fixture.stack(8, &["server!render", "server!main"]);
        let mut idle = fixture.now;
        fixture.connect(1, CLIENT);
        for number in 0..10 {
            request_with(&mut fixture, CLIENT, 1, &mut idle, |fixture| {
                fixture.acknowledges(fixture.now, 1001, 1);
                fixture.computes(SERVER, 10 * MS, if number < made { 7 } else { 8 });
            });
        }
        names(&fixture.end())
    }

    #[test]
    fn a_context_made_for_every_request_without_a_handshake_is_found() {
        assert_eq!(contexts_while_serving(MAKES, 10), ["context-per-request"]);
        assert_eq!(contexts_while_serving(MAKES, 1), Vec::<String>::new());
    }

    /// Ten requests with a handshake each; something is done before each of them, or before the first only.
    fn contexts(does: [&str; 3], made: usize, reads: bool) -> Vec<String> {
        let mut fixture = Fixture::new();
        fixture.stack(7, &does);
        fixture.stack(8, &["client!render", "client!main"]);
        let mut idle = fixture.now;
        fixture.connect(1, CLIENT);
        for number in 0..10 {
            if reads {
                fixture.does(CLIENT, 10 * US, READ, |call| call.content = content::PEM);
            }
            fixture.computes(CLIENT, 10 * MS, if number < made { 7 } else { 8 });
            let start = fixture.now;
            fixture.handshake(1, CLIENT, start, |row| row.resumed = number > 0);
            request(&mut fixture, CLIENT, 1, 100 * US, &mut idle);
        }
        names(&fixture.end())
    }

    #[test]
    fn a_context_made_before_every_handshake_is_found() {
        assert_eq!(contexts(MAKES, 10, false), ["context-per-request"]);
        assert_eq!(contexts(FILLS, 10, false), ["context-per-request"]);
    }

    #[test]
    fn certificates_that_are_read_from_files_are_not_counted_here() {
        assert!(!contexts(FILLS, 10, true).contains(&"context-per-request".to_string()));
    }

    #[test]
    fn one_context_for_all_is_left_alone() {
        assert_eq!(contexts(MAKES, 1, false), Vec::<String>::new());
        assert_eq!(contexts(FILLS, 1, false), Vec::<String>::new());
    }
}
