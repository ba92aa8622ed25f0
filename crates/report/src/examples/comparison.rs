//! Comparisons made by hand, for the tests of this crate.

use case::{
    Account, AccountContrast, CallContrast, CodeContrast, Compared, Comparison, Contrast, Gate, GateState, Per, SCHEMA,
    Side,
};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

/// One metric of 24 pairs: low end, ratio and high end of B over A.
pub(crate) fn compared(metric: &str, a: f64, (low, ratio, high): (f64, f64, f64), outcome: Contrast) -> Compared {
    Compared { metric: metric.into(), a, b: a * ratio, ratio, low, high, pairs: 24, outcome }
}

pub(crate) fn account(name: &str, a_ns: u64, b_ns: u64) -> AccountContrast {
    AccountContrast { name: name.into(), a_ns, b_ns, account: Account::from_name(name) }
}

pub(crate) fn code(function: &str, module: &str, a_ns: u64, b_ns: u64) -> CodeContrast {
    CodeContrast { function: function.into(), module: module.into(), a_ns, b_ns, samples: 900 }
}

fn call(call: &str, about: &str, (a_count, b_count): (f64, f64), (a_ns, b_ns): (u64, u64)) -> CallContrast {
    CallContrast { call: call.into(), about: about.into(), a_count, b_count, a_ns, b_ns }
}

/// B is slower: it parses a bundle of certificates.
pub(crate) fn slower() -> Comparison {
    let side = |name: &str, change: &str| Side {
        command: words("curl -s https://10.9.0.2/hello"),
        server: words("nginx -c /etc/nginx/story.conf"),
        changes: words(change),
        cases: vec![format!("/var/cases/tls/{name}-1")],
        exchanges: 1.0,
        exit: Some(0),
    };
    Comparison {
        schema: SCHEMA,
        case: "/var/cases/tls".into(),
        page: "/var/cases/tls/report.html".into(),
        a: side("a", "env.SSL_CERT_FILE=one.pem"),
        b: side("b", "env.SSL_CERT_FILE=all.pem"),
        outcome: Contrast::More,
        summary: String::new(),
        metrics: vec![
            compared("wall_ns", 5_190_000.0, (5.0, 5.22, 5.41), Contrast::More),
            compared("cpu_ns", 4_300_000.0, (5.7, 5.93, 6.11), Contrast::More),
            compared("wall_ns_per_exchange", 900_000.0, (0.981, 1.004, 1.022), Contrast::Same),
            compared("exchange_p95_ns", 1_100_000.0, (0.84, 1.03, 1.31), Contrast::Open),
        ],
        per: Per::Run,
        ledger: vec![
            account("processor: user", 3_900_000, 25_600_000),
            account("processor: kernel", 410_000, 690_000),
            account("server thinking", 620_000, 600_000),
            account("network", 210_000, 215_000),
            account("unexplained", 50_000, 60_000),
        ],
        libraries: vec![
            code("", "libcrypto.so.3", 2_900_000, 24_400_000),
            code("", "curl", 500_000, 700_000),
            code("", "libssl.so.3", 200_000, 195_000),
        ],
        functions: vec![
            code("X509_load_cert_crl_file_ex", "libcrypto.so.3", 250_000, 22_100_000),
            code("PEM_X509_INFO_read_bio_ex", "libcrypto.so.3", 240_000, 21_900_000),
            code("SSL_CTX_set_cipher_list", "libssl.so.3", 400_000, 130_000),
        ],
        chain: vec![
            code("main", "curl", 3_900_000, 25_600_000),
            code("ossl_connect_step1", "libcurl.so.4.8.0", 2_100_000, 23_900_000),
            code("X509_load_cert_crl_file_ex", "libcrypto.so.3", 250_000, 22_100_000),
            code("asn1_item_embed_d2i", "libcrypto.so.3", 110_000, 13_000_000),
        ],
        hot_spots: Vec::new(),
        calls: vec![
            call("read", "/etc/ssl/certs/all.pem", (1.0, 56.0), (4_000, 310_000)),
            call("brk", "", (3.0, 21.5), (9_000, 62_000)),
        ],
        gates: Vec::new(),
        output: "same".into(),
        trials: 48,
        spent_ns: 12_400_000_000,
        budget_ns: 60_000_000_000,
        warnings: Vec::new(),
    }
}

/// The other way round.
pub(crate) fn faster() -> Comparison {
    let mut comparison = slower();
    std::mem::swap(&mut comparison.a, &mut comparison.b);
    comparison.outcome = Contrast::Less;
    for one in &mut comparison.metrics {
        (one.a, one.b) = (one.b, one.a);
        (one.low, one.ratio, one.high) = (one.high.recip(), one.ratio.recip(), one.low.recip());
        one.outcome = if one.outcome == Contrast::More { Contrast::Less } else { one.outcome };
    }
    comparison.ledger.iter_mut().for_each(|one| std::mem::swap(&mut one.a_ns, &mut one.b_ns));
    for code in comparison.libraries.iter_mut().chain(&mut comparison.functions).chain(&mut comparison.chain) {
        std::mem::swap(&mut code.a_ns, &mut code.b_ns);
    }
    comparison
}

/// Nothing differs, whatever two recordings show.
pub(crate) fn same() -> Comparison {
    let mut comparison = slower();
    comparison.outcome = Contrast::Same;
    comparison.b.changes = comparison.a.changes.clone();
    comparison.metrics = vec![
        compared("wall_ns_per_exchange", 5_190_000.0, (0.984, 1.002, 1.029), Contrast::Same),
        compared("cpu_ns_per_exchange", 4_300_000.0, (0.991, 1.0, 1.008), Contrast::Same),
    ];
    comparison.per = Per::Exchange;
    comparison
}

/// The interval is too wide to say.
pub(crate) fn open() -> Comparison {
    let mut comparison = same();
    comparison.outcome = Contrast::Open;
    comparison.metrics[0] = compared("wall_ns_per_exchange", 5_190_000.0, (0.92, 1.03, 1.12), Contrast::Open);
    comparison.warnings = vec!["Only 6 of 24 pairs were sound: b exited with status 7 in the others.".into()];
    comparison
}

/// As fast, but by twice the work.
pub(crate) fn busier() -> Comparison {
    let mut comparison = same();
    comparison.metrics[1] = compared("cpu_ns_per_exchange", 4_300_000.0, (1.88, 2.01, 2.12), Contrast::More);
    comparison
}

/// A condition of `--fail-if`, and what came of it.
pub(crate) fn gate(condition: &str, limit: f64, (low, ratio, high): (f64, f64, f64), state: GateState) -> Gate {
    Gate { condition: condition.into(), metric: "wall_ns".into(), limit, ratio, low, high, state }
}

/// With three conditions, one of each kind.
pub(crate) fn gated() -> Comparison {
    let mut comparison = slower();
    comparison.gates = vec![
        gate("wall > 1.05x", 1.05, (1.18, 1.21, 1.24), GateState::Failed),
        gate("cpu > 1.1x", 1.1, (0.99, 1.0, 1.02), GateState::Passed),
        gate("p95 > 1.2x", 1.2, (0.84, 1.03, 1.31), GateState::Open),
    ];
    comparison
}
