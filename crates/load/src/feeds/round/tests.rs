//! Rounds over a farm in this process, and over servers that are broken in one way each.

use super::super::past;
use super::*;
use crate::feeds::Hosts;
use crate::plan::Secured;
use case::{FeedOutcomes, LoadFault};
use farm::{Farm, Kind, Layout, bad};
use std::path::PathBuf;
use tempfile::TempDir;

/// A farm, and a plan to refresh it, with its database in a folder of its own.
fn farm(layout: Layout) -> (Farm, Plan, TempDir) {
    let farm = Farm::start(layout, 1, Duration::from_millis(50), 1).expect("a farm");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("written");
        file
    };
    let hosts = super::super::read_hosts(&file("hosts", &farm.layout().hosts())).expect("hosts");
    let list = super::super::read_list(&file("feeds.txt", &farm.list())).expect("a list");
    let authorities = Some(file("ca.pem", &farm.pem));
    let plan = Plan {
        addresses: list.addresses,
        hosts,
        secured: Secured { authorities, ..Secured::default() },
        ..plan(folder.path().join("feeds.redb"))
    };
    (farm, plan, folder)
}

fn plan(database: PathBuf) -> Plan {
    Plan {
        list: "list".into(),
        addresses: Vec::new(),
        database,
        hosts: Hosts::new(),
        connections: 64,
        per_origin: 4,
        threads: 2,
        timeout: Duration::from_secs(10),
        most_received: 1 << 20,
        most_inflated: 8 << 20,
        robots: false,
        agent: "test".into(),
        secured: Secured::default(),
        rounds: 1,
        every: Duration::ZERO,
    }
}

fn rounds(plan: &Plan) -> Vec<FeedRound> {
    let watch = &mut |_: &Live| {
        std::thread::sleep(Duration::from_millis(5));
        true
    };
    refresh(plan, watch).expect("rounds")
}

#[test]
fn a_second_round_asks_for_what_has_changed_only_and_nothing_is_asked_for_twice() {
    let layout = Layout::seeded(600, 150, 3);
    let of = |kind| layout.count(kind);
    let broken = [
        Kind::Missing,
        Kind::Failing,
        Kind::Malformed,
        Kind::Html,
        Kind::Truncated,
        Kind::Bomb,
        Kind::Entities,
        Kind::Loop,
    ];
    let broken = broken.map(of).iter().sum::<u64>();
    let (farm, plan, _folder) = farm(layout.clone());
    let first = rounds(&plan).remove(0);
    let sound = 600 - broken - of(Kind::Gone) - of(Kind::Busy);
    let expected = FeedOutcomes { gone: of(Kind::Gone), failed: broken, ..first.outcomes };
    assert_eq!(first.outcomes, expected, "{first:?}");
    // A busy server puts off the other feeds of its origin as well.
    assert!(
        first.outcomes.put_off >= of(Kind::Busy)
            && first.outcomes.with_news + first.outcomes.put_off == sound + of(Kind::Busy)
    );
    assert!(first.finished && first.outcomes.all() == 600 && first.handshakes_full >= 150, "{first:?}");
    let counted = farm.counted();
    for (feed, (asked, kind)) in counted.of_feeds.iter().zip(&layout.kinds).enumerate() {
        assert!(*asked <= 1, "feed {feed} ({kind:?}) was asked for {asked} times");
    }
    farm.forget();

    // Another process would begin like this: without sessions, and with the database.
    let two = rounds(&Plan { rounds: 2, ..plan.clone() });
    let [second, third] = &two[..] else { panic!("two rounds") };
    assert!(second.outcomes.unchanged > second.outcomes.with_news * 5, "{second:?}");
    assert_eq!((second.outcomes.without_news, second.outcomes.failed), (0, broken));
    assert!(second.new_entries > 0 && second.new_entries <= second.outcomes.with_news * 2, "{second:?}");
    assert!(second.received_bytes * 5 < first.received_bytes, "{second:?}");
    assert!(third.handshakes_resumed > third.handshakes_full * 5, "{third:?}");
    let asked = farm.counted().of_feeds.iter().copied().max();
    assert_eq!(asked, Some(2));
    let past = past(&plan.database, None).expect("rounds");
    assert_eq!(
        past.rounds.iter().map(|round| (round.number, round.interrupted)).collect::<Vec<_>>(),
        [(1, false), (2, false), (3, false)]
    );
}

#[test]
fn a_round_that_was_interrupted_is_gone_on_with() {
    let (farm, plan, _folder) = farm(Layout::seeded(2_000, 100, 5));
    let slow = Plan { connections: 2, threads: 1, ..plan.clone() };
    let mut watch = |live: &Live| {
        std::thread::sleep(Duration::from_millis(5));
        live.settled < 100
    };
    let first = refresh(&slow, &mut watch).expect("a round").remove(0);
    assert!(!first.finished && first.outcomes.all() >= 100 && first.outcomes.all() < 2_000, "{first:?}");
    let second = rounds(&plan).remove(0);
    assert_eq!((second.number, second.done_before, second.finished), (first.number, first.outcomes.all(), true));
    assert_eq!(second.done_before + second.outcomes.all(), 2_000);
    // What was under way when it ended is asked for again, and nothing else.
    let twice = farm.counted().of_feeds.iter().filter(|asked| **asked > 1).count();
    assert!(twice <= 2 + farm.layout().count(Kind::Truncated) as usize, "{twice} twice");
}

#[test]
fn what_a_server_asks_for_holds_in_later_rounds() {
    let folder = tempfile::tempdir().expect("a folder");
    let rss = b"<rss><channel><item><guid>1</guid></item></channel></rss>".as_slice();
    let gone = bad::answers(bad::answer("410 Gone", "", b""));
    let busy = bad::answers(bad::answer("503 Busy", "Retry-After: 1000\r\n", b""));
    let target = bad::answers(bad::answer("200 OK", "", rss));
    let moved = bad::answers(bad::answer("308 Moved", &format!("Location: http://127.0.0.1:{target}/there\r\n"), b""));
    let addresses = [gone, busy, moved].map(|port| format!("http://127.0.0.1:{port}/")).into();
    let plan = Plan { addresses, rounds: 2, ..plan(folder.path().join("feeds.redb")) };
    let found = rounds(&plan);
    let outcomes = FeedOutcomes { gone: 1, put_off: 1, ..FeedOutcomes::default() };
    assert_eq!(found[0].outcomes, FeedOutcomes { with_news: 1, ..outcomes });
    assert_eq!(found[1].outcomes, FeedOutcomes { without_news: 1, ..outcomes });
    // Four at first: the redirect is followed. Then one, where that leads.
    assert_eq!((found[0].requests, found[1].requests), (4, 1));
}

#[test]
fn robots_txt_is_read_first_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    // The same for all requests: robots.txt and feed in one.
    let port = bad::answers(bad::answer("200 OK", "", b"User-agent: *\nDisallow: /private\n"));
    let addresses = vec![format!("http://127.0.0.1:{port}/private/x"), format!("http://127.0.0.1:{port}/public")];
    let plan = Plan { addresses, robots: true, rounds: 2, ..plan(folder.path().join("feeds.redb")) };
    let found = rounds(&plan);
    assert_eq!((found[0].outcomes.disallowed, found[0].outcomes.failed, found[0].requests), (1, 1, 2));
    // Its rules hold for a day.
    assert_eq!((found[1].outcomes.disallowed, found[1].requests), (1, 1));
}

#[test]
fn each_kind_of_bad_server_has_a_name_and_none_hangs() {
    let rss = "<rss><channel><item><guid>1</guid></item></channel></rss>";
    let ok = |headers: &str, body: &[u8]| bad::says(bad::answer("200 OK", headers, body));
    let content = FeedFault::Content;
    let transfer = FeedFault::Transfer;
    let bomb = farm::gzip(&vec![b' '; 9 << 20]);
    let deep = format!("<rss>{}", "<a>".repeat(1000));
    let entity = |level: usize| format!("<!ENTITY a{level} '&a{0};&a{0};'>", level - 1);
    let laughs = (1..10).map(entity).collect::<String>();
    let laughs = format!("<!DOCTYPE rss [<!ENTITY a0 'ha'>{laughs}")
        + "]><rss><channel><item><guid>&a9;</guid></item></channel></rss>";
    let rest = Duration::from_millis(50);
    let never = Duration::ZERO;
    let wrong = [
        ("http", bad::closed(), transfer(LoadFault::Refused)),
        ("http", bad::says(""), transfer(LoadFault::ClosedEarly)),
        ("http", bad::resets(), transfer(LoadFault::Reset)),
        ("http", bad::silent(), transfer(LoadFault::TimedOut)),
        ("http", bad::says("SSH-2.0-x\r\n"), transfer(LoadFault::BadStatusLine)),
        ("http", bad::says("HTTP/1.1 2"), transfer(LoadFault::TruncatedHead)),
        ("http", bad::says("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), transfer(LoadFault::BadHeader)),
        ("http", bad::says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), transfer(LoadFault::TruncatedBody)),
        (
            "http",
            bad::says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            transfer(LoadFault::BadChunk),
        ),
        ("http", bad::says("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n"), transfer(LoadFault::BodyTooLarge)),
        ("http", bad::endless(b"HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 4096], never), transfer(LoadFault::BodyTooLarge)),
        (
            "http",
            bad::endless(b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n", never),
            transfer(LoadFault::HeadTooLong),
        ),
        ("http", bad::endless(b"HTTP/1.1 200 OK\r\n\r\n<rss>", b" ", rest), content(ContentFault::SlowDrip)),
        ("http", bad::endless(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", rest), content(ContentFault::SlowDrip)),
        ("https", bad::says("HTTP/1.1 400 Bad Request\r\n\r\n"), transfer(LoadFault::TlsProtocol)),
        ("https", bad::says(""), transfer(LoadFault::HandshakeClosed)),
        ("https", bad::silent(), transfer(LoadFault::HandshakeTimedOut)),
        ("https", bad::says(b"\x15\x03\x03\x00\x02\x02\x28".as_slice()), transfer(LoadFault::TlsAlert)),
        ("http", bad::says(bad::answer("404 Not Found", "", b"")), content(ContentFault::ClientError)),
        ("http", bad::says(bad::answer("502 Bad Gateway", "", b"")), content(ContentFault::ServerError)),
        ("http", bad::says(bad::answer("206 Partial", "", b"<rss")), content(ContentFault::OddStatus)),
        ("http", bad::says("HTTP/1.1 304 Not Modified\r\n\r\n"), content(ContentFault::UnaskedNotModified)),
        ("http", bad::says(bad::answer("302 Found", "Location: /\r\n", b"")), content(ContentFault::RedirectLoop)),
        ("http", bad::says(bad::answer("302 Found", "Location: x/\r\n", b"")), content(ContentFault::TooManyRedirects)),
        (
            "http",
            bad::says(bad::answer("302 Found", "Location: ftp://x/\r\n", b"")),
            content(ContentFault::BadRedirect),
        ),
        ("http", ok("Content-Encoding: gzip\r\n", &bomb), content(ContentFault::Bomb)),
        ("http", ok("Content-Encoding: br\r\n", &farm::brotli(&vec![b' '; 9 << 20])), content(ContentFault::Bomb)),
        ("http", ok("Content-Encoding: gzip\r\n", rss.as_bytes()), content(ContentFault::BadCoding)),
        ("http", ok("Content-Encoding: rot13\r\n", rss.as_bytes()), content(ContentFault::UnknownCoding)),
        ("http", ok("", b""), content(ContentFault::Empty)),
        ("http", ok("", b"<!doctype html><html></html>"), content(ContentFault::Html)),
        ("http", ok("", b"\x7fELF"), content(ContentFault::NotAFeed)),
        ("http", ok("", b"\xff\xfe<\0"), content(ContentFault::WideText)),
        ("http", ok("", b"<rss><channel></rss>"), content(ContentFault::BadXml)),
        ("http", ok("", b"<rss><channel><item>"), content(ContentFault::TruncatedXml)),
        ("http", ok("", b"{\"version\": \"https://jsonfeed.org/version/1\","), content(ContentFault::BadJson)),
        ("http", ok("", laughs.as_bytes()), content(ContentFault::OwnEntities)),
        ("http", ok("", deep.as_bytes()), content(ContentFault::TooDeep)),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let of = |name: &str| folder.path().join(name);
    let mut addresses =
        wrong.iter().map(|(scheme, port, _)| format!("{scheme}://127.0.0.1:{port}/")).collect::<Vec<_>>();
    addresses.extend(["http://:80/".into(), "http://nowhere.invalid/".into()]);
    // A server that answers at once has so long, beside as many other tests as there may be.
    let plan = Plan { addresses, timeout: Duration::from_secs(5), ..plan(of("feeds.redb")) };
    let begun = Instant::now();
    let found = rounds(&plan).remove(0);
    assert!(begun.elapsed() < plan.timeout * 12, "{:?}", begun.elapsed());
    assert_eq!(
        (found.outcomes.failed, found.outcomes.all()),
        (plan.addresses.len() as u64, plan.addresses.len() as u64)
    );
    let expected = wrong.iter().map(|(.., fault)| *fault);
    for fault in expected.chain([content(ContentFault::BadUrl), content(ContentFault::LookUp)]) {
        assert!(found.errors.iter().any(|one| one.fault == fault), "{fault:?}: {:#?}", found.errors);
    }
    assert_eq!(found.errors.iter().map(|one| one.count).sum::<u64>(), plan.addresses.len() as u64);
    for (scheme, port, fault) in wrong {
        let example = format!("{scheme}://127.0.0.1:{port}/");
        let given = found.errors.iter().find(|one| one.example == example).map(|one| one.fault);
        assert!(given.is_none_or(|given| given == fault), "{example} is {given:?} and not {fault:?}");
    }
}
