//! Bundles that are one for each context, and files that are none.

use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, request, request_with};
use crate::tests::{answer, names};
use case::Recording;
use case::facts::Observation;
use case::tables::content;

/// What is loaded, and for whom.
#[derive(Clone, Copy)]
struct Loading {
    /// Before the first so many of ten requests.
    loads: u32,
    /// Bytes of each of five reads.
    bytes: i64,
    content: u8,
    handshakes: u32,
    /// A process of its own for each request loads them.
    processes: bool,
}

const BUNDLE: Loading = Loading { loads: 10, bytes: 40_000, content: content::PEM, handshakes: 10, processes: false };

/// Ten requests; certificates are loaded, in 10 ms of work, before the first of them.
fn loading(story: Loading) -> Recording {
    let mut fixture = Fixture::new();
    fixture.path(1, "/etc/ssl/certs/ca-certificates.crt");
    fixture.script(7, &["/usr/lib/python3.11/ssl.py:738:create_default_context", "/srv/client.py:9:fetch"]);
    let mut idle = fixture.now;
    fixture.connect(1, CLIENT);
    for number in 0..10 {
        let pid = if story.processes { 500 + number } else { CLIENT };
        if story.processes {
            fixture.process(pid, "client");
        }
        if number < story.loads {
            fixture.does(pid, 5 * US, 257, |call| (call.path, call.result, call.script_stack) = (1, 5, 7));
            for read in 0..5 {
                let content = if read == 0 { story.content } else { content::OTHER };
                fixture.does(pid, 5 * US, READ, |call| {
                    (call.fd, call.path, call.result, call.content) = (5, 1, story.bytes, content);
                });
                fixture.now += 2 * MS;
            }
            fixture.does(pid, 2 * US, 3, |call| (call.fd, call.path) = (5, 1));
        }
        if number < story.handshakes {
            let start = fixture.now;
            fixture.handshake(1, pid, start, |row| row.resumed = number > 0);
        }
        request(&mut fixture, CLIENT, 1, 100 * US, &mut idle);
    }
    // A process that loads also connects, whoever asks for it here.
    if story.processes {
        let own = fixture.recording.connections.iter_mut().filter(|row| row.id == 1);
        own.for_each(|row| row.pid = 500);
    }
    fixture.end()
}

#[test]
fn a_bundle_loaded_for_every_request_is_found_with_what_was_read() {
    let answer = answer(&loading(BUNDLE));
    let finding = &answer.findings[0];
    assert_eq!((finding.name.as_str(), finding.cost.affected), ("ca-bundle-per-context", 10));
    assert!(finding.cost.ns_per_exchange > 9 * MS, "{:?}", finding.cost);
    assert!(finding.title.contains("client.py:9 in fetch"), "{}", finding.title);
    let read = Observation::CertificatesPerContext { contexts: 10, handshakes: 10, files: 1.0, bytes: 200_000 };
    assert_eq!(finding.observed, [read]);
}

#[test]
fn a_bundle_loaded_once_is_left_alone() {
    assert_eq!(names(&loading(Loading { loads: 1, ..BUNDLE })), Vec::<String>::new());
}

#[test]
fn a_bundle_that_serves_no_handshake_or_few_of_many_is_left_alone() {
    assert_eq!(names(&loading(Loading { handshakes: 0, ..BUNDLE })), Vec::<String>::new());
    assert_eq!(names(&loading(Loading { loads: 4, ..BUNDLE })), Vec::<String>::new());
    assert_eq!(names(&loading(Loading { loads: 5, ..BUNDLE })), ["ca-bundle-per-context"]);
}

/// Ten requests for which a server reads a bundle, in 8 ms of work in a function, without any handshake.
fn serving(function: &str) -> Vec<String> {
    let mut fixture = Fixture::new();
    fixture.path(1, "/etc/ssl/certs/ca-certificates.crt");
    fixture.stack(7, &["libcrypto.so.3!d2i_X509", function, "server!main"]);
    let mut idle = fixture.now;
    fixture.connect(1, CLIENT);
    for _ in 0..10 {
        request_with(&mut fixture, CLIENT, 1, &mut idle, |fixture| {
            fixture.acknowledges(fixture.now, 1001, 1);
            fixture.does(SERVER, 5 * US, 257, |call| (call.path, call.result) = (1, 5));
            fixture.does(SERVER, 5 * US, READ, |call| {
                (call.fd, call.path, call.result, call.content) = (5, 1, 200_000, content::PEM);
            });
            fixture.computes(SERVER, 8 * MS, 7);
            fixture.does(SERVER, 2 * US, 3, |call| (call.fd, call.path) = (5, 1));
        });
    }
    names(&fixture.end())
}

#[test]
fn a_server_without_handshakes_is_found_where_it_fills_contexts() {
    assert_eq!(serving("libssl.so.3!SSL_CTX_load_verify_locations"), ["ca-bundle-per-context"]);
    assert_eq!(serving("libcrypto.so.3!X509_STORE_load_file"), Vec::<String>::new());
}

#[test]
fn a_certificate_a_chain_with_its_key_and_a_large_file_of_keys_are_no_bundle() {
    for (bytes, content) in [(380, content::PEM), (3_000, content::PEM), (40_000, content::PEM_OTHER)] {
        assert_eq!(names(&loading(Loading { bytes, content, ..BUNDLE })), Vec::<String>::new(), "{bytes}");
    }
}

#[test]
fn a_bundle_loaded_once_by_each_of_many_processes_is_found_and_a_single_certificate_is_not() {
    let each = Loading { processes: true, ..BUNDLE };
    assert_eq!(names(&loading(each)), ["ca-bundle-per-context"]);
    assert_eq!(names(&loading(Loading { bytes: 380, ..each })), Vec::<String>::new());
}

#[test]
fn tools_that_look_into_a_bundle_beside_a_program_that_shakes_hands_are_left_alone() {
    let mut recording = loading(Loading { processes: true, ..BUNDLE });
    recording.handshakes.iter_mut().for_each(|row| row.tid = CLIENT);
    recording.connections.iter_mut().filter(|row| row.id == 1).for_each(|row| row.pid = CLIENT);
    assert_eq!(names(&recording), Vec::<String>::new());
}
