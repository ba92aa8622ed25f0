//! The names of TLS versions and cipher suites.

/// A version as people write it; the number where it has no name, empty for 0.
pub fn version(number: u16) -> String {
    match number {
        0 => String::new(),
        0x0300 => "SSL 3.0".to_string(),
        0x0301 => "TLS 1.0".to_string(),
        0x0302 => "TLS 1.1".to_string(),
        0x0303 => "TLS 1.2".to_string(),
        0x0304 => "TLS 1.3".to_string(),
        other => format!("0x{other:04x}"),
    }
}

/// A cipher suite's name as IANA registers it; the number for one that is rare, empty for 0.
pub fn cipher(number: u16) -> String {
    if number == 0 {
        return String::new();
    }
    let index = CIPHERS.binary_search_by_key(&number, |&(known, _)| known);
    index.map_or_else(|_| format!("0x{number:04x}"), |index| CIPHERS[index].1.to_string())
}

/// The suites of TLS 1.3, and those of TLS 1.2 that servers still choose, in order of their numbers
/// (<https://www.iana.org/assignments/tls-parameters>).
const CIPHERS: [(u16, &str); 31] = [
    (0x002f, "TLS_RSA_WITH_AES_128_CBC_SHA"),
    (0x0033, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA"),
    (0x0035, "TLS_RSA_WITH_AES_256_CBC_SHA"),
    (0x0039, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"),
    (0x003c, "TLS_RSA_WITH_AES_128_CBC_SHA256"),
    (0x003d, "TLS_RSA_WITH_AES_256_CBC_SHA256"),
    (0x009c, "TLS_RSA_WITH_AES_128_GCM_SHA256"),
    (0x009d, "TLS_RSA_WITH_AES_256_GCM_SHA384"),
    (0x009e, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256"),
    (0x009f, "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384"),
    (0x1301, "TLS_AES_128_GCM_SHA256"),
    (0x1302, "TLS_AES_256_GCM_SHA384"),
    (0x1303, "TLS_CHACHA20_POLY1305_SHA256"),
    (0x1304, "TLS_AES_128_CCM_SHA256"),
    (0x1305, "TLS_AES_128_CCM_8_SHA256"),
    (0xc009, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
    (0xc00a, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
    (0xc013, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    (0xc014, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
    (0xc023, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"),
    (0xc024, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"),
    (0xc027, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"),
    (0xc028, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384"),
    (0xc02b, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
    (0xc02c, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
    (0xc02f, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    (0xc030, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
    (0xc09c, "TLS_RSA_WITH_AES_128_CCM"),
    (0xcca8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
    (0xcca9, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
    (0xccaa, "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_their_registered_names_and_rare_ones_their_number() {
        assert!(CIPHERS.is_sorted_by_key(|&(number, _)| number));
        assert_eq!(cipher(0x1302), "TLS_AES_256_GCM_SHA384");
        assert_eq!(cipher(0xcca8), "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");
        assert_eq!(cipher(0xfeed), "0xfeed");
        assert_eq!((version(0x0304).as_str(), cipher(0)), ("TLS 1.3", String::new()));
    }
}
