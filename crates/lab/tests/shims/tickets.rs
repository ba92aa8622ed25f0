//! `issue-tickets` in a real program of OpenSSL: what one host gave, another one takes.

use crate::preload::Preloaded;
use crate::tls::make_certificate;

/// Shakes hands in memory with one server and then with another, offering what the first one gave; prints whether the second took it:
/// in TLS 1.2 and 1.3, and where the servers are told to give no tickets.
const HANDSHAKES: &str = r#"
import ssl, sys
folder = sys.argv[1]

def host(forbids):
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
    if forbids == "option": server.options |= ssl.OP_NO_TICKET
    if forbids == "number": server.num_tickets = 0
    return server

def shaken(server, client, session):
    bios = [ssl.MemoryBIO() for _ in range(4)]
    ends = [client.wrap_bio(bios[0], bios[1], session=session), server.wrap_bio(bios[2], bios[3], server_side=True)]
    def carry():
        bios[2].write(bios[1].read())
        bios[0].write(bios[3].read())
    for _ in range(4):
        for end in ends:
            try: end.do_handshake()
            except ssl.SSLWantReadError: pass
            carry()
    ends[1].write(b"x")
    carry()
    ends[0].read(1)
    return ends[0]

def resumes(version, forbids):
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    client.maximum_version = version
    session = shaken(host(forbids), client, None).session
    return shaken(host(forbids), client, session).session_reused

older, newer = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
print(*(resumes(*case) for case in [(older, ""), (newer, ""), (older, "option"), (newer, "option"), (newer, "number")]))
"#;

#[test]
fn servers_give_tickets_that_others_take_and_an_inert_shim_leaves_them_alone() {
    let resumed = |parameter: &str| {
        let preloaded = Preloaded::new(&[("issue-tickets", parameter)]);
        make_certificate(&preloaded.folder().join("certificate.pem"), &preloaded.folder().join("key.pem"));
        let folder = preloaded.folder().display().to_string();
        let printed = preloaded.python(HANDSHAKES, &[&folder]);
        (printed.trim().to_string(), preloaded.counts("issue-tickets"))
    };
    let (printed, counts) = resumed(&format!("on {}", "5a".repeat(80)));
    assert_eq!(printed, "True True True True True");
    // Ten connections accepted, and six settings against tickets.
    assert!(counts.changed >= 16, "{counts:?}");
    let (printed, counts) = resumed("inert");
    assert_eq!(printed, "False False False False False");
    assert!(counts.seen >= 16 && counts.changed == 0, "{counts:?}");
}

#[test]
fn a_client_alone_is_no_server_that_was_changed() {
    let preloaded = Preloaded::new(&[("issue-tickets", &format!("on {}", "5a".repeat(80)))]);
    preloaded.python(
        "import ssl; ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname='a')",
        &[],
    );
    let counts = preloaded.counts("issue-tickets");
    assert!(counts.seen > 0 && counts.changed == 0, "{counts:?}");
}
