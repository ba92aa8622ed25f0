use super::*;
use crate::families::Claim;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;

fn line(second: u64, address: &str, path: &str, agent: &str) -> String {
    let (minute, second) = (second / 60, second % 60);
    format!(
        "{address} - - [10/Oct/2000:{:02}:{:02}:{second:02} +0000] \"GET {path} HTTP/1.1\" 200 100 \"-\" \"{agent}\"\n",
        minute / 60,
        minute % 60
    )
}

fn text(lines: u64) -> String {
    let mut random = fastrand::Rng::with_seed(7);
    let one = |at: u64| {
        let agent = if at.is_multiple_of(3) { "ExampleBot/1.0" } else { "curl/8.5" };
        line(at, &format!("203.0.{}.{}", random.u8(..4), random.u8(..)), &format!("/item/{at}"), agent)
    };
    (0..lines).map(one).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn log(path: &Path, contents: &[u8]) -> LogFile {
    std::fs::write(path, contents).unwrap();
    LogFile { path: path.to_path_buf(), is_named: true }
}

/// What does not depend on who counted what.
fn figures(done: &Done) -> Vec<String> {
    let counts = &done.counts;
    let families = counts.families();
    let mut figures = families
        .iter()
        .map(|one| format!("{} {:?} {:?}", one.name, one.tally, one.series.sorted()))
        .collect::<Vec<_>>();
    let name = |family: u16| families[usize::from(family)].name.clone();
    figures.extend(
        counts.networks.iter().map(|((family, network), counted)| format!("{} {network:?} {counted:?}", name(*family))),
    );
    figures.extend(counts.routes().map(|(family, route, counted)| format!("{} {route:?} {counted:?}", name(family))));
    figures.push(format!("{:?} {:?} {}", counts.tally, counts.files, counts.addresses()));
    figures.sort();
    figures
}

#[test]
fn plain_gzip_and_zstd_say_the_same_and_so_do_one_thread_and_two() {
    let folder = tempfile::tempdir().unwrap();
    let text = text(3_000);
    let half = text[..text.len() / 2].rfind('\n').unwrap() + 1;
    let (first, second) = text.split_at(half);
    let of = |name: &str, bytes: &[u8]| log(&folder.path().join(name), bytes);
    let plain = [of("a.1", first.as_bytes()), of("a", second.as_bytes())];
    // Two members of gzip, as of a log that was rotated twice into one.
    let packed = [
        of("b.1", &[gzip(&first[..0]), gzip(first)].concat()),
        of("b", &zstd::encode_all(second.as_bytes(), 1).unwrap()),
    ];
    let with = |threads: usize| Options { threads, ..Options::default() };
    let expected = figures(&read(&plain, &with(1)));
    assert_eq!(figures(&read(&plain, &with(2))), expected);
    assert_eq!(figures(&read(&packed, &with(2))), expected);
}

#[test]
fn what_is_cut_or_no_log_is_counted_and_hinders_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let whole = gzip(&text(5_000));
    let cut = log(&folder.path().join("cut.gz"), &whole[..whole.len() / 2]);
    let prose = log(&folder.path().join("prose"), b"Not a log.\nNeither is this.\n");
    let stray = LogFile { is_named: false, ..prose.clone() };
    let good = log(&folder.path().join("good"), text(10).as_bytes());
    let done = read(&[cut, prose, stray, good], &Options::default());
    let files = &done.counts.files;
    assert!(files[0].lines > 100 && files[0].malformed <= 1 && !done.outcomes[0].problem.is_empty());
    assert_eq!((files[1].lines, files[1].malformed, files[2].lines, files[3].lines), (2, 2, 0, 10));
    assert!(done.outcomes[2].is_skipped && !done.outcomes[1].is_skipped);
    assert!(done.counts.examples.contains(&(1, "Not a log.".into())));
}

#[test]
fn a_hundred_thousand_mutated_lines_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(11);
    let mut contents = text(100_000).into_bytes();
    for _ in 0..100_000 {
        let at = random.usize(..contents.len());
        // Neither are lines joined nor divided.
        if contents[at] != b'\n' {
            contents[at] = *random.choice(b"\" []-/\x00\xff0aZ\\".iter()).unwrap();
        }
    }
    let done = read(&[log(&folder.path().join("log"), &contents)], &Options::default());
    let counts = &done.counts;
    assert_eq!(counts.files[0].lines, 100_000);
    assert_eq!(counts.tally.requests + counts.files[0].malformed, 100_000);
    assert!(counts.files[0].malformed > 1_000 && counts.tally.requests > 50_000);
    let of_families: u64 = counts.families().iter().map(|family| family.tally.requests).sum();
    assert_eq!(of_families, counts.tally.requests);
}

#[test]
fn who_only_claims_to_be_a_crawler_is_told_from_the_crawler() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ranges.json");
    std::fs::write(&file, r#"{"prefixes":[{"ipv4Prefix":"203.0.1.0/24"}]}"#).unwrap();
    let mut ranges = Ranges::default();
    ranges.read(Some("ExampleBot"), &file).unwrap();
    let done =
        read(&[log(&folder.path().join("log"), text(3_000).as_bytes())], &Options { ranges, ..Options::default() });
    let of = |claim: Claim| {
        let families = done.counts.families().iter().filter(|family| family.claim == claim);
        families.map(|family| family.tally.requests).sum::<u64>()
    };
    assert_eq!(of(Claim::Verified) + of(Claim::Forged), 1_000);
    // A quarter comes from the range.
    assert!((200..300).contains(&of(Claim::Verified)), "{}", of(Claim::Verified));
    assert_eq!(of(Claim::Unchecked), 2_000);
}

#[test]
fn every_request_counts_for_its_network_and_its_route_also_the_last_ones() {
    let folder = tempfile::tempdir().unwrap();
    for lines in [1, 63, 64, 65, 1_000] {
        let file = log(&folder.path().join(lines.to_string()), text(lines).as_bytes());
        let counts = read(&[file], &Options::default()).counts;
        let of_networks: u64 = counts.networks.iter().map(|(_, counted)| counted.tally.requests).sum();
        let of_routes: u64 = counts.routes().map(|(.., counted)| counted.tally.requests).sum();
        assert_eq!((of_networks, of_routes), (lines, lines));
    }
}
