//! `kept-algorithms` in CPython, whose hashes are OpenSSL's.

use crate::preload::Preloaded;

/// Signs lines with algorithms that are named each time; prints a digest of the signatures.
const SIGNED: &str = r#"
import hashlib, hmac
lines = [b"line %d" % number for number in range(1000)]
signed = [hmac.digest(b"key", line, name) for line in lines for name in ("sha256", "sha512")]
print(hashlib.blake2s(b"".join(signed)).hexdigest())
"#;

/// Looks an algorithm up twice, once when no provider may be used, and once when any may again.
const PROPERTIES: &str = r#"
import ctypes, ssl
program = ctypes.CDLL(None)
program.EVP_MD_fetch.restype = ctypes.c_void_p
for properties in (None, None, b"provider=none", b""):
    if properties is not None:
        program.EVP_set_default_properties(None, properties)
    print("found" if program.EVP_MD_fetch(None, b"SHA2-256", None) else "nothing", end=" ")
print()
"#;

#[test]
fn algorithms_are_looked_up_once_and_stay_what_they_are() {
    let signed = ["on", "inert"].map(|parameter| {
        let preloaded = Preloaded::new(&[("kept-algorithms", parameter)]);
        let digest = preloaded.python(SIGNED, &[]);
        let counts = preloaded.counts("kept-algorithms");
        assert!(counts.seen >= 2_000, "{counts:?}");
        assert_eq!(counts.changed >= 2_000, parameter == "on", "{counts:?}");
        digest
    });
    assert_eq!(signed[0], signed[1]);
}

#[test]
fn algorithms_are_looked_up_anew_when_a_name_may_mean_another_one() {
    let preloaded = Preloaded::new(&[("kept-algorithms", "on")]);
    assert_eq!(preloaded.python(PROPERTIES, &[]), "found found nothing found \n");
    assert!(preloaded.counts("kept-algorithms").changed > 0);
}
