//! Bisections made by hand, for the tests of this crate.

use crate::examples::answer as answers;
use crate::examples::comparison::{code, compared};
use case::{
    Bisection, BisectionOutcome, Bond, Burner, Cleared, Contrast, Culprit, Factor, FactorKind, HotSpot, Probe,
    ProbeKind, ProbeResult, SCHEMA, Stair, Status, Untested, WorldSummary,
};

fn names(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

pub(crate) fn factor(name: &str, kind: FactorKind, good: &str, bad: &str, suspicion: f64) -> Factor {
    Factor { name: name.into(), kind, good: good.into(), bad: bad.into(), suspicion, ..Factor::default() }
}

fn package(name: &str, good: &str, bad: &str, suspicion: f64) -> Factor {
    factor(name, FactorKind::Package, good, bad, suspicion)
}

pub(crate) fn probe(kind: ProbeKind, asked: &str, with: &str, place: f64, result: ProbeResult) -> Probe {
    let asked = names(asked);
    let taken = asked.iter().cloned().chain(names(with)).collect();
    let (low, high) = (Some(place - 0.04), Some(place + 0.05));
    Probe { kind, asked, taken, place: Some(place), low, high, result, pairs: 6, note: String::new() }
}

/// A bundle of three packages, split down to one of them.
pub(crate) fn bundle() -> Bisection {
    use ProbeKind::{All, Apt, Part, Removal, Shrink, Split, Suspect};
    use ProbeResult::{Bad, Good, Untestable};
    let mut factors = vec![
        package("openssl", "1.1.1w-0+deb11u1", "3.0.20-1~deb12u1", 0.96),
        package("curl", "7.74.0-1.3+deb11u15", "7.88.1-10+deb12u14", 0.018),
        package("openldap", "2.4.57+dfsg-3+deb11u1", "2.5.13+dfsg-5", 0.0),
        factor("/etc/ssl/certs/ca-certificates.crt", FactorKind::Data, "200,061 bytes", "219,342 bytes", 0.01),
        factor("glibc", FactorKind::Libc, "2.31-13+deb11u11", "2.36-9+deb12u13", 0.01),
    ];
    factors[0].needs = names("curl openldap");
    factors[0].members = names("libssl1.1 libssl3");
    factors[4].untestable = "programs of the bad world do not start with an older C library".into();
    factors.extend(
        names("nghttp2 krb5 libssh2 zlib gnutls28 nettle brotli rtmpdump libidn2 libpsl cyrus-sasl2 db5.3")
            .iter()
            .map(|name| package(name, "1.2.11", "1.2.13", 0.0)),
    );
    let everything = factors.iter().filter(|one| one.untestable.is_empty()).map(|one| one.name.clone());
    let everything = everything.collect::<Vec<_>>().join(" ");
    let mut start = probe(Part, "nghttp2 krb5 libssh2 zlib", "", 0.0, Untestable);
    (start.place, start.low, start.high, start.pairs) = (None, None, None, 0);
    start.note = "libcurl.so.4: undefined symbol nghttp2_option_set_no_rfc9113".into();
    let mut split = probe(Split, "", "", 0.566, Good);
    split.note = "openssl 3.1.3 dropped in, of the same SONAME: 10.7 ms".into();
    let mut newer = probe(Split, "curl", "", -0.003, Bad);
    newer.note = "curl 8.14.1 from backports".into();
    Bisection {
        schema: SCHEMA,
        case: "/var/cases/upgrade".into(),
        page: "/var/cases/upgrade/report.html".into(),
        command: names("./client https://127.0.0.1:8443/hello 200"),
        server: names("nginx -c /etc/nginx/story.conf"),
        good: world("debian:bullseye", "Debian 11 (bullseye), 112 packages", 112),
        bad: world("debian:bookworm", "Debian 12 (bookworm), 113 packages", 113),
        outcome: BisectionOutcome::Confirmed,
        baseline: vec![
            compared("cpu_ns_per_exchange", 5_200_000.0, (5.11, 5.22, 5.31), Contrast::More),
            compared("wall_ns_per_exchange", 6_100_000.0, (4.4, 4.61, 4.79), Contrast::More),
        ],
        factors,
        probes: vec![
            probe(All, &everything, "", 0.985, Good),
            probe(Suspect, "openssl", "curl openldap", 0.978, Good),
            start,
            probe(Shrink, "openssl openldap", "", 0.02, Bad),
            probe(Removal, "nghttp2 krb5 libssh2 zlib", "", 0.01, Bad),
            split,
            newer,
            probe(Apt, "curl openldap openssl", "", 0.99, Good),
        ],
        trials: 4,
        runs: 104,
        culprit: Some(Culprit {
            cure: names("curl openldap openssl"),
            cause: names("curl openldap openssl"),
            bond: Bond::Bundle,
            split: "openssl".into(),
            reasons: vec![
                "Another openssl of the same SONAME (3.1.3) alone makes the bad world 2.5 times as fast.".into(),
            ],
            cleared: vec![Cleared {
                factor: "curl".into(),
                why: "with curl 8.14.1 of bookworm-backports the bad world stays slow".into(),
                share: 0.018,
            }],
            untested: vec![Untested {
                factor: "openldap".into(),
                why: "no other version of it was there to be run alone".into(),
                share: 0.0,
            }],
            gain: compared("cpu_ns_per_exchange", 5_410_000.0, (4.93, 5.02, 5.12), Contrast::More),
            command: "apt-get install --allow-downgrades libcurl4=7.74.0-1.3+deb11u15 libssl1.1=1.1.1w-0+deb11u1 \
                      libldap-2.4-2=2.4.57+dfsg-3+deb11u1"
                .into(),
            command_confirmed: true,
        }),
        burner: Some(burner()),
        cures: cures(),
        control: vec![compared("cpu_ns_per_exchange", 810_000.0, (0.99, 1.01, 1.04), Contrast::Same)],
        not_tried: vec!["glibc alone: only a whole world switches it.".into()],
        warnings: vec!["The machine was busy: 31 % of the time others ran.".into()],
        seed: 7,
        preparing_ns: 71_000_000_000,
        spent_ns: 64_000_000_000,
        ..Bisection::default()
    }
}

fn world(name: &str, title: &str, packages: u32) -> WorldSummary {
    WorldSummary { name: name.into(), title: title.into(), packages, used: if packages > 0 { 32 } else { 0 } }
}

fn burner() -> Burner {
    Burner {
        library: "libcrypto.so.3".into(),
        factor: "openssl".into(),
        share: 0.96,
        chain: vec![
            code("main", "client", 5_100_000, 26_900_000),
            code("ossl_connect_step1", "libcurl.so.4", 4_800_000, 26_400_000),
            code("SSL_CTX_load_verify_locations", "libssl.so.3", 4_500_000, 26_000_000),
            code("X509_load_cert_crl_file_ex", "libcrypto.so.3", 4_400_000, 25_800_000),
            code("PEM_X509_INFO_read_bio_ex", "libcrypto.so.3", 4_300_000, 25_100_000),
            code("ossl_x509_set0_libctx", "libcrypto.so.3", 900_000, 16_200_000),
        ],
        hot_spots: vec![HotSpot {
            own: code("pthread_rwlock_rdlock", "libc.so.6", 200_000, 5_000_000),
            share: 0.22,
            chain: vec![
                code("X509_load_cert_crl_file_ex", "libcrypto.so.3", 200_000, 4_700_000),
                code("evp_generic_fetch", "libcrypto.so.3", 0, 3_100_000),
                code("pthread_rwlock_rdlock", "libc.so.6", 0, 3_100_000),
            ],
        }],
    }
}

/// What was tried in the bad world: one cure is proved, one refuted.
fn cures() -> Vec<case::Finding> {
    let mut cured = answers::proved().findings[0].clone();
    cured.id = "P20".into();
    cured.name = "context-per-request".into();
    cured.title = "each request parses 142 certificates anew: 25.1 ms of 26.2 ms".into();
    cured.mechanism = vec!["The client makes a new SSL_CTX for each request.".into()];
    cured.remedy = "Keep one SSL_CTX for all requests.".into();
    if let Some(effect) = &mut cured.effect {
        effect.intervention = "parse-ca-once".into();
        effect.metric = "cpu_ns_per_exchange".into();
        (effect.before, effect.after) = (26_200_000.0, 1_510_000.0);
        (effect.low, effect.ratio, effect.high) = (16.8, 17.4, 17.9);
        effect.also = Vec::new();
    }
    let mut refuted = answers::slow().findings[0].clone();
    refuted.status = Status::Refuted;
    vec![cured, refuted]
}

/// A culprit in a bisection that has little else.
fn with(factors: Vec<Factor>, cure: &str, cause: &str, bond: Bond) -> Bisection {
    use ProbeKind::{All, Part, Removal};
    let all = factors.iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(" ");
    let full = bundle();
    Bisection {
        culprit: Some(Culprit {
            cure: names(cure),
            cause: names(cause),
            bond,
            gain: compared("cpu_ns_per_exchange", 5_300_000.0, (5.0, 5.1, 5.2), Contrast::More),
            ..Culprit::default()
        }),
        probes: vec![
            probe(All, &all, "", 1.01, ProbeResult::Good),
            probe(Part, cure, "", 0.97, ProbeResult::Good),
            probe(Removal, "other", "", 0.01, ProbeResult::Bad),
        ],
        factors,
        burner: None,
        cures: Vec::new(),
        control: Vec::new(),
        warnings: Vec::new(),
        not_tried: Vec::new(),
        ..full
    }
}

/// One library of a folder of libraries.
pub(crate) fn single() -> Bisection {
    let factors = vec![factor("libslow.so.1", FactorKind::Library, "12,104 bytes", "14,208 bytes", 0.8)];
    let libraries = |name: &str| world(name, "Libraries of a folder", 0);
    Bisection {
        good: libraries("libs:/opt/good"),
        bad: libraries("libs:/opt/bad"),
        ..with(factors, "libslow.so.1", "libslow.so.1", Bond::Single)
    }
}

/// Two libraries that are slow only together.
pub(crate) fn together() -> Bisection {
    let one = |name: &str| factor(name, FactorKind::Library, "9,104 bytes", "9,208 bytes", 0.4);
    with(vec![one("libleft.so"), one("libright.so")], "libleft.so", "libleft.so libright.so", Bond::Together)
}

/// Two libraries each of which is slow.
pub(crate) fn each() -> Bisection {
    let one = |name: &str| factor(name, FactorKind::Library, "9,104 bytes", "9,208 bytes", 0.4);
    with(vec![one("libleft.so"), one("libright.so")], "libleft.so libright.so", "libleft.so", Bond::Each)
}

/// A variable of the environment.
pub(crate) fn variable() -> Bisection {
    let factors = vec![factor("MALLOC_ARENA_TEST", FactorKind::Environment, "", "1", 0.0)];
    with(factors, "MALLOC_ARENA_TEST", "MALLOC_ARENA_TEST", Bond::Single)
}

/// A file that belongs to no package.
pub(crate) fn data() -> Bisection {
    let name = "/etc/ssl/certs/ca-certificates.crt";
    let factors = vec![factor(name, FactorKind::Data, "1,412 bytes", "219,342 bytes", 0.0)];
    with(factors, name, name, Bond::Single)
}

/// A commit.
pub(crate) fn commit() -> Bisection {
    let commit = |name: &str, hash: &str| factor(name, FactorKind::Commit, "", hash, 0.0);
    let name = "1f0c3aa9 Parse the table anew for each request";
    let factors = vec![
        commit("77ab0c12 Say what is listened on", "77ab0c12c0ffee0ddba11c0ffee0ddba11c0ffee"),
        commit(name, "1f0c3aa94e21c0ffee0ddba11c0ffee0ddba11c0"),
    ];
    let mut one = with(factors, "", "", Bond::Single);
    let names = one.factors.iter().map(|factor| factor.name.clone()).collect::<Vec<_>>();
    one.probes = names
        .iter()
        .zip([(1.0, ProbeResult::Good), (0.01, ProbeResult::Bad)])
        .map(|(name, (place, result))| {
            let asked = vec![name.clone()];
            Probe { asked, taken: Vec::new(), ..probe(ProbeKind::Part, "", "", place, result) }
        })
        .collect();
    if let Some(culprit) = &mut one.culprit {
        (culprit.cure, culprit.cause) = (vec![name.into()], vec![name.into()]);
    }
    one
}

/// Commits of which some could not be built.
pub(crate) fn commits() -> Bisection {
    let mut one = commit();
    let names = one.factors.iter().map(|factor| factor.name.clone()).collect::<Vec<_>>();
    if let Some(culprit) = &mut one.culprit {
        (culprit.cure, culprit.cause, culprit.bond) = (names.clone(), names, Bond::Bundle);
    }
    Bisection { outcome: BisectionOutcome::Found, ..one }
}

/// A line of commits with three steps, one of which may be any of two commits.
pub(crate) fn stairs() -> Bisection {
    let one = commits();
    let names = one.factors.iter().map(|factor| factor.name.clone()).collect::<Vec<_>>();
    let stair = |commits: &[String], times: f64, part: f64| Stair {
        commits: commits.to_vec(),
        is_open: false,
        times,
        low: times * 0.97,
        high: times * 1.03,
        part,
        part_low: part - 0.02,
        part_high: part + 0.02,
    };
    let culprit = one.culprit.clone().map(|culprit| Culprit { bond: Bond::Each, ..culprit });
    let stairs = vec![stair(&names, 1.92, 0.4), stair(&names[1..], 2.64, 0.6), stair(&names[..1], 0.98, -0.01)];
    Bisection { stairs, culprit, builds: 31, same_builds: 4, ..one }
}

/// The bad world is the faster one.
pub(crate) fn reversed() -> Bisection {
    let faster = compared("cpu_ns_per_exchange", 27_100_000.0, (0.188, 0.192, 0.196), Contrast::Less);
    Bisection { baseline: vec![faster], ..no_effect() }
}

/// Worlds that do not differ.
pub(crate) fn no_effect() -> Bisection {
    Bisection {
        outcome: BisectionOutcome::NoEffect,
        culprit: None,
        factors: Vec::new(),
        probes: Vec::new(),
        baseline: vec![compared("cpu_ns_per_exchange", 5_200_000.0, (0.985, 1.004, 1.021), Contrast::Same)],
        ..single()
    }
}

/// Only the C library is left.
pub(crate) fn not_separable() -> Bisection {
    let full = bundle();
    let mut all = full.probes[0].clone();
    (all.place, all.low, all.high, all.result) = (Some(0.03), Some(-0.02), Some(0.08), ProbeResult::Bad);
    Bisection { outcome: BisectionOutcome::NotSeparable, culprit: None, probes: vec![all], cures: Vec::new(), ..full }
}

/// Ended before it was done.
pub(crate) fn undecided() -> Bisection {
    let mut full = bundle();
    full.probes.truncate(3);
    full.probes[0].result = ProbeResult::Unclear;
    Bisection { outcome: BisectionOutcome::Undecided, culprit: None, cures: Vec::new(), burner: None, ..full }
}

/// One of each kind.
pub(crate) fn every() -> Vec<Bisection> {
    let mut one_way = Bisection { outcome: BisectionOutcome::Found, ..variable() };
    one_way.probes.pop();
    let found = vec![
        bundle(),
        single(),
        together(),
        each(),
        variable(),
        data(),
        commit(),
        commits(),
        stairs(),
        one_way,
        reversed(),
    ];
    found.into_iter().chain([no_effect(), not_separable(), undecided(), Bisection::default()]).collect()
}
