//! `newest-tls` in a real program of OpenSSL: which version two ends agree on.

use crate::preload::Preloaded;
use crate::tls::make_certificate;

/// Shakes hands with itself in memory, its server limited in each of the ways that there are; prints the version each time.
const HANDSHAKES: &str = r#"
import ssl, sys, warnings
warnings.simplefilter("ignore")
folder = sys.argv[1]

def agreed(limit):
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
    if limit == "highest": server.maximum_version = ssl.TLSVersion.TLSv1_2
    if limit == "option": server.options |= ssl.OP_NO_TLSv1_3
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    bios = [ssl.MemoryBIO() for _ in range(4)]
    ends = [client.wrap_bio(bios[0], bios[1]), server.wrap_bio(bios[2], bios[3], server_side=True)]
    for _ in range(3):
        for end, out, into in (ends[0], bios[1], bios[2]), (ends[1], bios[3], bios[0]):
            try: end.do_handshake()
            except ssl.SSLWantReadError: pass
            into.write(out.read())
    return ends[0].version()

print(*map(agreed, ["none", "highest", "option"]))
"#;

#[test]
fn limits_of_the_program_are_left_out_and_an_inert_shim_keeps_them() {
    let versions = |parameter: &str| {
        let preloaded = Preloaded::new(&[("newest-tls", parameter)]);
        make_certificate(&preloaded.folder().join("certificate.pem"), &preloaded.folder().join("key.pem"));
        let folder = preloaded.folder().display().to_string();
        let printed = preloaded.python(HANDSHAKES, &[&folder]);
        (printed.trim().to_string(), preloaded.counts("newest-tls"))
    };
    let (printed, counts) = versions("on");
    assert_eq!(printed, "TLSv1.3 TLSv1.3 TLSv1.3");
    assert!(counts.changed >= 2, "{counts:?}");
    let (printed, counts) = versions("inert");
    assert_eq!(printed, "TLSv1.3 TLSv1.2 TLSv1.2");
    assert!(counts.seen >= 2 && counts.changed == 0, "{counts:?}");
}
