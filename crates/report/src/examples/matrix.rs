//! Matrices made by hand, for the tests of this crate.

use crate::examples::comparison::{code, compared};
use case::{Contrast, Figures, HotSpot, Matrix, Metric, SCHEMA, TriedOn, Version, VersionState};

fn figures(metric: &str, median: f64) -> Figures {
    Figures {
        metric: metric.into(),
        n: 3_000,
        min: median * 0.91,
        max: median * 1.62,
        mean: median * 1.03,
        median,
        p95: median * 1.21,
        p99: median * 1.44,
        stdev: median * 0.082,
        sum: median * 3_090.0,
    }
}

/// A version that was measured: CPU time a request, and against the first.
fn version(name: &str, milliseconds: f64, ratio: f64, outcome: Contrast) -> Version {
    let major = name.chars().next().unwrap_or('3');
    let soname = |library: &str| format!("{library}.so.{}", if major == '1' { "1.1" } else { "3" });
    let is_first = name == "1.1.1w";
    let prefix = format!("/home/me/.cache/whyslow/builds/openssl-{name}");
    let sonames = vec![soname("libcrypto"), soname("libssl")];
    let cpu = compared("cpu_ns_per_exchange", 8_700_000.0, (ratio * 0.98, ratio, ratio * 1.02), outcome);
    let wall = compared("wall_ns_per_exchange", 6_600_000.0, (ratio * 0.94, ratio * 0.97, ratio * 1.05), outcome);
    Version {
        version: name.into(),
        mapped: sonames.iter().map(|soname| format!("{prefix}/lib/{soname}")).collect(),
        prefix,
        sonames,
        built_ns: 127_000_000_000,
        figures: vec![
            figures("cpu_ns_per_exchange", milliseconds * 1e6),
            figures("wall_ns_per_exchange", milliseconds * 0.97e6),
        ],
        ratios: if is_first { Vec::new() } else { vec![cpu, wall] },
        ..Version::default()
    }
}

/// Four versions that run, two of them slower, and one that does not build.
pub(crate) fn openssl() -> Matrix {
    let mut slow = version("3.0.2", 90.8, 10.4, Contrast::More);
    slow.chain = vec![
        code("main", "client", 8_600_000, 90_700_000),
        code("ossl_connect_step1", "libcurl.so.4", 8_000_000, 90_100_000),
        code("SSL_CTX_new", "libssl.so.3", 310_000, 49_000_000),
        code("SSL_CTX_new_ex", "libssl.so.3", 300_000, 48_900_000),
        code("ssl_load_ciphers", "libssl.so.3", 40_000, 47_100_000),
        code("evp_generic_fetch", "libcrypto.so.3", 30_000, 40_800_000),
    ];
    slow.hot_spots = vec![HotSpot {
        own: code("ossl_sa_doall_arg", "libcrypto.so.3", 0, 34_000_000),
        share: 0.41,
        chain: vec![
            code("SSL_CTX_new_ex", "libssl.so.3", 0, 30_100_000),
            code("ssl_load_ciphers", "libssl.so.3", 0, 30_100_000),
            code("evp_generic_fetch", "libcrypto.so.3", 0, 28_200_000),
            code("ossl_method_store_fetch", "libcrypto.so.3", 0, 28_200_000),
            code("ossl_sa_doall_arg", "libcrypto.so.3", 0, 28_200_000),
        ],
    }];
    slow.libraries = vec![code("", "libcrypto.so.3", 7_100_000, 88_000_000)];
    slow.functions = vec![code("ossl_sa_doall_arg", "libcrypto.so.3", 0, 34_000_000)];
    let mut middle = version("3.1.3", 13.8, 1.59, Contrast::More);
    middle.chain = slow.chain[2..5].to_vec();
    Matrix {
        schema: SCHEMA,
        case: "/var/cases/matrix".into(),
        page: "/var/cases/matrix/report.html".into(),
        command: ["./client", "https://127.0.0.1:8443/hello", "50"].map(String::from).to_vec(),
        server: ["nginx", "-c", "/etc/nginx/story.conf"].map(String::from).to_vec(),
        library: "openssl".into(),
        with: vec!["curl=8.0.1".into()],
        metrics: vec![Metric::CpuPerExchange, Metric::WallPerExchange],
        versions: vec![
            version("1.1.1w", 8.7, 1.0, Contrast::Same),
            slow,
            middle,
            version("3.6.3", 8.72, 1.003, Contrast::Same),
            Version {
                version: "4.0.3".into(),
                state: VersionState::NotBuilt,
                problem: "curl 8.0.1 does not compile with it".into(),
                last_lines: vec![
                    "vtls/openssl.c:2741:12: error: incomplete definition of type 'ASN1_STRING'".into(),
                    "make[2]: *** [lib/CMakeFiles/libcurl_shared.dir/build.make:1700] Error 1".into(),
                ],
                log: "/home/me/.cache/whyslow/builds/openssl-4.0.3/build.log".into(),
                ..Version::default()
            },
        ],
        advice: "3.6.3".into(),
        rounds: 60,
        warnings: Vec::new(),
        preparing_ns: 512_000_000_000,
        spent_ns: 201_000_000_000,
        ..Matrix::default()
    }
}

/// The same with contexts shared from outside, which takes effect on all but the newest.
pub(crate) fn sharing() -> Matrix {
    let mut matrix = openssl();
    let metric = "cpu_ns_per_exchange";
    let with = |milliseconds: f64, gain: f64, remains: Option<f64>| TriedOn {
        intervention: "share-ssl-context".into(),
        applied: true,
        changes: 49,
        figures: vec![figures(metric, milliseconds * 1e6)],
        gain: vec![compared(metric, milliseconds * 1e6, (gain * 0.97, gain, gain * 1.03), Contrast::More)],
        remains: remains
            .map(|times| compared(metric, 1e6, (times * 0.96, times, times * 1.04), Contrast::More))
            .into_iter()
            .collect(),
        ..TriedOn::default()
    };
    matrix.versions[0].tried = vec![with(1.0, 8.7, None)];
    matrix.versions[1].tried = vec![with(1.4, 64.9, Some(1.4))];
    matrix.versions[2].tried = vec![with(1.2, 11.5, Some(1.2))];
    matrix.versions[3].tried = vec![TriedOn {
        intervention: "share-ssl-context".into(),
        problem: "the program does not use OpenSSL's libssl as a library, or only as a server".into(),
        ..TriedOn::default()
    }];
    matrix
}

/// None is slower.
pub(crate) fn level() -> Matrix {
    let full = openssl();
    Matrix { versions: vec![full.versions[0].clone(), full.versions[3].clone()], ..full }
}

/// Only one could be measured.
pub(crate) fn alone() -> Matrix {
    let full = openssl();
    Matrix { versions: vec![full.versions[0].clone(), full.versions[4].clone()], advice: String::new(), ..full }
}

/// One of each kind.
pub(crate) fn every() -> Vec<Matrix> {
    vec![openssl(), sharing(), level(), alone(), Matrix::default()]
}
