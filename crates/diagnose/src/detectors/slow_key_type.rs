//! P13: TLS handshakes that compute for long with a slow kind of key.

use super::{Found, common_caller, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use case::Nanos;
use case::tables::Sample;
use std::collections::BTreeMap;

detector! {
    /// # slow-key-type
    ///
    /// ## What it is
    /// Every full TLS handshake computes with a private key. With RSA of 4,096 bits that takes a hundred times as long
    /// as with an elliptic curve, and agreeing on a key in a finite field (FFDHE) takes as long again. Whoever connects
    /// waits for it, and on a server with one thread everybody does.
    ///
    /// ## Evidence
    /// CPU samples in a signature, a decryption or a key agreement beneath the function that shakes hands, at one end:
    /// a millisecond or more for each of its full handshakes. An elliptic curve takes a tenth of that anywhere. The
    /// time of every request that was under way meanwhile at that end is charged.
    ///
    /// ## What proves it
    /// For a group: leaving the list of groups to the library. For a key: the same server with an ECDSA key on P-256; a key
    /// and its certificate cannot be exchanged from outside, since clients trust that one: what would be saved is
    /// predicted, as the share of the samples.
    ///
    /// ## Remedy
    /// Give the server an ECDSA key on P-256 beside its RSA key, or instead of it; 2,048 bits where it has to be RSA.
    /// Let X25519 and P-256 come first among the groups. Resumed sessions need no signature.
    ///
    /// ## Not to be confused with
    /// no-resumption and connection-churn (fewer handshakes would do; here each is expensive); signatures that are no
    /// handshake's, of tokens for example; verifying a certificate, which is quick with RSA.
    "P13" "slow-key-type",
    needs: &[Server, Samples]
}

/// Per full handshake. On a core of 2023 RSA takes 0.25 to 0.6 ms with 2,048 bits and 5 ms with 4,096, P-256 and X25519
/// 0.03 ms (`openssl speed`).
const SLOW: u64 = 1_000_000;

/// Fewer samples than this say little about a mean: 20 ms at the usual rate.
const SAMPLES: usize = 20;

/// Fewer handshakes than this are no load.
const HABIT: u64 = 3;

/// What the functions begin with that shake hands: OpenSSL and its kin, GnuTLS, NSS, Mbed TLS, Go, rustls.
const HANDSHAKES: [&str; 10] = [
    "SSL_do_handshake",
    "SSL_accept",
    "SSL_connect",
    "SSL_read",
    "SSL_ForceHandshake",
    "gnutls_handshake",
    "mbedtls_ssl_handshake",
    "crypto/tls.(*Conn).",
    "rustls::",
    "<rustls::",
];

/// What is computed with a private key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    /// Signing, or decrypting what a client has encrypted for the key (TLS 1.2 and before).
    Rsa,
    /// Signing with something else.
    Signature,
    /// Agreeing on a key in a finite field.
    FiniteField,
    /// Agreeing on a key in another way.
    Agreement,
}

/// By the beginning of a function's name, the more telling first.
const WORK: [(&str, Work); 17] = [
    ("RSA_private_encrypt", Work::Rsa),
    ("RSA_private_decrypt", Work::Rsa),
    ("RSA_sign", Work::Rsa),
    ("crypto/rsa.", Work::Rsa),
    ("crypto/internal/fips140/rsa.", Work::Rsa),
    ("nettle_rsa_", Work::Rsa),
    ("DH_generate_key", Work::FiniteField),
    ("DH_compute_key", Work::FiniteField),
    ("ossl_dh_", Work::FiniteField),
    ("EVP_DigestSign", Work::Signature),
    ("EVP_PKEY_sign", Work::Signature),
    ("EVP_PKEY_decrypt", Work::Signature),
    ("gnutls_privkey_sign", Work::Signature),
    ("EVP_PKEY_derive", Work::Agreement),
    ("EVP_PKEY_generate", Work::Agreement),
    ("EVP_PKEY_keygen", Work::Agreement),
    ("crypto/ecdh.", Work::Agreement),
];

/// What one process was seen computing.
#[derive(Default)]
struct Computing {
    rows: Vec<usize>,
    kinds: BTreeMap<Work, usize>,
    handshakes: u64,
    end: End,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut kinds: BTreeMap<u32, Option<Work>> = BTreeMap::new();
    let mut processes: BTreeMap<u32, Computing> = BTreeMap::new();
    for (row, sample) in analysis.recording.samples.iter().enumerate() {
        if let Some(kind) = *kinds.entry(sample.stack).or_insert_with(|| work(analysis, sample.stack)) {
            let process = processes.entry(sample.pid).or_default();
            process.rows.push(row);
            *process.kinds.entry(kind).or_default() += 1;
        }
    }
    count_handshakes(analysis, &mut processes);
    let period = analysis.sample_period();
    processes.retain(|_, process| {
        let is_seen = process.rows.len() >= SAMPLES && process.handshakes >= HABIT;
        is_seen && process.rows.len() as u64 * period >= SLOW * process.handshakes
    });
    let (pid, process) = processes.iter().max_by_key(|(pid, process)| (process.rows.len(), **pid))?;
    Some(found(analysis, *pid, process))
}

/// What a stack computes for a handshake; none where it does neither.
fn work(analysis: &Analysis, stack: u32) -> Option<Work> {
    let has = |prefix: &str| analysis.code.passes_through(stack, |name| name.starts_with(prefix));
    let (_, kind) = WORK.iter().find(|(prefix, _)| has(prefix))?;
    // A stripped library names no more than its exported functions: of a finite field it is the exponentiation.
    let kind = if *kind == Work::Agreement && has("BN_mod_exp") { Work::FiniteField } else { *kind };
    analysis.code.passes_through(stack, shakes_hands).then_some(kind)
}

fn shakes_hands(function: &str) -> bool {
    HANDSHAKES.iter().any(|prefix| function.starts_with(prefix))
}

/// The full handshakes of each process, and the end that it shook hands at.
fn count_handshakes(analysis: &Analysis, processes: &mut BTreeMap<u32, Computing>) {
    for row in analysis.recording.handshakes.iter().filter(|row| !row.resumed) {
        let Some(slot) = analysis.connections.slot(row.connection) else { continue };
        if let Some(process) = processes.get_mut(&analysis.connections.row(slot).pid) {
            process.handshakes += 1;
            process.end = analysis.end(slot);
        }
    }
}

/// How long exchanges that a process took part in were under way while it computed, all together.
fn waited(analysis: &Analysis, pid: u32, process: &Computing) -> u64 {
    let mut times: Vec<u64> = process.rows.iter().map(|&row| analysis.recording.samples[row].time.0).collect();
    times.sort_unstable();
    let takes_part = |slot: usize| analysis.connections.row(slot).pid == pid;
    let with_it = analysis.exchanges.iter().filter(|exchange| {
        let peer = analysis.connections.all()[exchange.connection].peer;
        takes_part(exchange.connection) || peer.is_some_and(takes_part)
    });
    let meanwhile = with_it.map(|exchange| {
        let first = times.partition_point(|&time| time < exchange.start);
        times.partition_point(|&time| time < exchange.end) - first
    });
    meanwhile.sum::<usize>() as u64 * analysis.sample_period()
}

fn found(analysis: &Analysis, pid: u32, process: &Computing) -> Found {
    let samples: Vec<&Sample> = process.rows.iter().map(|&row| &analysis.recording.samples[row]).collect();
    let period = analysis.sample_period();
    let cpu = samples.len() as u64 * period;
    let each = Nanos(cpu / process.handshakes);
    let kind =
        process.kinds.iter().max_by_key(|(kind, count)| (**count, std::cmp::Reverse(**kind))).map(|(kind, _)| *kind);
    let (key, remedy) = words(kind.unwrap_or(Work::Signature));
    let wall = waited(analysis, pid, process).min(analysis.exchange_wall());
    let count = analysis.exchanges.len().max(1) as u64;
    // Whoever shakes hands, not which function of its library signs.
    let place = common_caller(analysis, &samples, shakes_hands);
    Found {
        title: format!(
            "TLS handshakes compute with {key}: the {} takes {each} of CPU for each, {} of every {} request{}",
            process.end,
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what: format!("TLS handshakes compute with {key}"),
        mechanism: vec![
            format!(
                "{} full handshakes of the {}; {} samples in that computation.",
                process.handshakes,
                process.end,
                samples.len()
            ),
            "A signature with P-256, or an agreement with X25519, takes less than a tenth of a millisecond: nearly all of \
             this is predicted to go."
                .to_string(),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu, affected: process.handshakes },
        place,
        remedy: remedy.to_string(),
        rows: rows("samples", process.rows.iter().copied()),
        explains: analysis.stretches(&samples),
        ..Found::default()
    }
}

/// What it computes with, and what to do about it.
fn words(kind: Work) -> (&'static str, &'static str) {
    match kind {
        Work::Rsa => (
            "an RSA key",
            "Give the server an ECDSA key on P-256, beside its RSA key or instead of it, and let sessions be resumed.",
        ),
        Work::Signature => {
            ("a slow private key", "Give the server an ECDSA key on P-256, and let sessions be resumed.")
        }
        Work::FiniteField => (
            "a finite-field group",
            "Let X25519 and P-256 come first among the groups, and leave out the finite-field ones (ffdhe, dhparam).",
        ),
        Work::Agreement => ("a slow group", "Let X25519 and P-256 come first among the groups."),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;

    /// Ten connections whose handshakes the server computes for, so many milliseconds each, beneath a function.
    fn shaken(work: u64, frames: &[&str], resumed: bool) -> Recording {
        let mut fixture = Fixture::new();
        fixture.stack(7, frames);
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 300);
            fixture.computes(SERVER, work * MS, 7);
            fixture.now += 200 * US;
            fixture.moves(CLIENT, id, READ, 3000);
            fixture.handshake(id, CLIENT, start, |row| row.resumed = resumed);
            fixture.handshake(id + 1000, SERVER, start, |row| row.resumed = resumed);
            for _ in 0..10 {
                request(&mut fixture, CLIENT, id, 200 * US, &mut idle);
            }
        }
        fixture.end()
    }

    const SIGNS: [&str; 4] = [
        "libcrypto.so.3!RSA_private_encrypt",
        "libcrypto.so.3!EVP_DigestSignFinal",
        "libssl.so.3!SSL_do_handshake",
        "server!main",
    ];

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"slow-key-type".to_string())
    }

    #[test]
    fn handshakes_that_sign_for_milliseconds_are_found_with_what_waited_for_it() {
        let answer = answer(&shaken(4, &SIGNS, false));
        let finding = answer.findings.iter().find(|finding| finding.name == "slow-key-type").expect("found");
        assert!(finding.title.contains("an RSA key: the server takes 4.00 ms"), "{}", finding.title);
        assert_eq!(finding.cost.ns_per_exchange, 400 * US);
        assert_eq!(finding.cost.affected, 10);
    }

    #[test]
    fn a_finite_field_is_told_from_a_signature() {
        let agrees =
            ["libcrypto.so.3!DH_generate_key", "libcrypto.so.3!EVP_PKEY_generate", "libssl.so.3!SSL_do_handshake"];
        let answer = answer(&shaken(4, &agrees, false));
        assert!(answer.findings.iter().any(|finding| finding.title.contains("a finite-field group")), "{answer:?}");
    }

    #[test]
    fn signatures_of_no_handshake_verifying_and_quick_handshakes_are_left_alone() {
        let token = ["libcrypto.so.3!RSA_private_encrypt", "libcrypto.so.3!EVP_DigestSignFinal", "server!sign_token"];
        assert!(!is_found(&shaken(4, &token, false)));
        let verifies = [
            "libcrypto.so.3!RSA_public_decrypt",
            "libcrypto.so.3!EVP_DigestVerifyFinal",
            "libssl.so.3!SSL_do_handshake",
        ];
        assert!(!is_found(&shaken(4, &verifies, false)));
        assert!(!is_found(&shaken(0, &SIGNS, false)));
    }

    #[test]
    fn where_nearly_all_is_resumed_there_is_nothing_to_accuse() {
        assert!(!is_found(&shaken(4, &SIGNS, true)));
    }
}
