use super::*;
use crate::units::Nanos;

const TEN: u64 = 10_000;
/// 2026-01-01.
const START: u64 = 1_767_225_600_000;

fn sample(at_ms: u64, service: &str, requests: u64) -> ServiceSample {
    ServiceSample {
        at_ms,
        length: Nanos(TEN * 1_000_000),
        service: service.into(),
        requests,
        counts_requests: true,
        user: Nanos(requests * 1_000_000),
        memory: 1 << 20,
        ..ServiceSample::default()
    }
}

fn read(history: &Path) -> Vec<ServiceSample> {
    read_history(history, 0, u64::MAX / 2, 0).expect("a history")
}

#[test]
fn what_was_appended_is_there_after_the_end_and_after_a_kill() {
    let home = tempfile::tempdir().expect("a folder");
    let mut writer = HistoryWriter::open(home.path()).expect("a writer");
    for turn in 1..=5 {
        writer.append(&[sample(START + turn * TEN, "a", turn), sample(START + turn * TEN, "b", 1)]).expect("appended");
    }
    assert_eq!(read(home.path()).len(), 10, "while it is written");
    // As kill -9 leaves it, with a batch torn off.
    let open = home.path().join("watcher-0").join(OPEN);
    let bytes = std::fs::read(&open).expect("a stream");
    drop(writer);
    let hour = std::fs::read_dir(home.path().join("watcher-0")).expect("a folder").flatten();
    hour.filter(|entry| entry.path().extension().is_some())
        .for_each(|entry| std::fs::remove_file(entry.path()).expect("removed"));
    std::fs::write(&open, &bytes[..bytes.len() - 100]).expect("torn");
    assert_eq!(read(home.path()).len(), 8);
    let mut writer = HistoryWriter::open(home.path()).expect("it goes on");
    writer.append(&[sample(START + 6 * TEN, "a", 6)]).expect("appended");
    let requests = read(home.path()).into_iter().filter(|one| one.service == "a").map(|one| one.requests);
    assert_eq!(requests.collect::<Vec<_>>(), [1, 2, 3, 4, 6]);
}

#[test]
fn several_watchers_write_to_one_history_and_none_is_counted_twice() {
    let home = tempfile::tempdir().expect("a folder");
    let mut writers = [0, 1].map(|_| HistoryWriter::open(home.path()).expect("a writer"));
    for turn in 1..=4 {
        writers[0].append(&[sample(START + turn * TEN, "a", 1)]).expect("appended");
        writers[1]
            .append(&[sample(START + turn * TEN + 300, "a", 1), sample(START + turn * TEN, "b", 2)])
            .expect("appended");
    }
    assert_eq!(read(home.path()).len(), 8);
    drop(writers);
    assert_eq!(read(home.path()).len(), 8);
    assert!(read_history(&home.path().join("other"), 0, 1, 0).is_err(), "no history");
}

#[test]
fn old_intervals_are_joined_and_their_sums_stay() {
    let home = tempfile::tempdir().expect("a folder");
    let mut writer = HistoryWriter::open(home.path()).expect("a writer");
    let turns = 3 * 3_600_000 / TEN;
    for turn in 1..=turns {
        writer.append(&[sample(START + turn * TEN, "a", 3)]).expect("appended");
    }
    let sums = |rows: &[ServiceSample]| {
        let length: u64 = rows.iter().map(|row| row.length.0).sum();
        (rows.iter().map(|row| row.requests).sum::<u64>(), length)
    };
    let before = sums(&read(home.path()));
    assert_eq!(before, (3 * turns, turns * TEN * 1_000_000));
    writer.append(&[sample(START + 30 * 86_400_000, "a", 0)]).expect("appended");
    let minutes = read(home.path());
    assert_eq!(minutes.len(), 3 * 60 + 1);
    writer.append(&[sample(START + 200 * 86_400_000, "a", 0)]).expect("appended");
    let coarse = read(home.path());
    // The lone sample of the 30th day is one of ten minutes by now.
    assert_eq!(coarse.len(), 3 * 6 + 2);
    let by_day = read_history(home.path(), 0, u64::MAX / 2, 86_400_000).expect("a history");
    assert_eq!((by_day.len(), sums(&by_day)), (3, sums(&coarse)));
    assert_eq!(sums(&coarse).0, before.0);
    assert_eq!(sums(&coarse[..18]), before);
}

/// A year of a service at 10 s, as it is kept by then: two weeks as sampled, a quarter by the minute, the rest by ten minutes.
#[test]
#[ignore = "writes a year's files: some tens of seconds"]
fn a_year_of_a_service_takes_little_room() {
    let home = tempfile::tempdir().expect("a folder");
    let mut random = 1_u64;
    let mut next = |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % most
    };
    let mut busy = |at_ms| ServiceSample {
        at_ms,
        length: Nanos(TEN * 1_000_000 + next(900_000)),
        service: "nginx".into(),
        user: Nanos(next(300) * 10_000_000),
        system: Nanos(next(200) * 10_000_000),
        run_delay: Nanos(next(90_000_000)),
        counts_requests: true,
        requests: next(5_000),
        connections: next(500),
        received: next(5_000_000),
        sent: next(500_000_000),
        answering: Nanos(next(3_000_000_000)),
        failures: next(4),
        retransmitted: next(20),
        memory: (100 << 20) + next(1 << 22),
        processes: 5,
        threads: 9,
        ..ServiceSample::default()
    };
    let mut writer = HistoryWriter::open(home.path()).expect("a writer");
    let day = 86_400_000 / TEN;
    // A day of each age, as each day costs what its age makes of it.
    let mut of_age = Vec::new();
    let mut now = START;
    for age in [0, 20, 120] {
        for turn in 1..=day {
            writer.append(&[busy(now + turn * TEN)]).expect("appended");
        }
        writer.append(&[busy(now + 86_400_000 + TEN)]).expect("appended");
        writer.thin(now + (age + 1) * 86_400_000 + 1).expect("thinned");
        let folder = home.path().join("watcher-0");
        let files = std::fs::read_dir(&folder).expect("a folder").flatten().filter(|entry| entry.file_name() != OPEN);
        of_age.push(files.map(|entry| entry.metadata().expect("there").len()).sum::<u64>());
        drop(writer);
        std::fs::remove_dir_all(&folder).expect("removed");
        writer = HistoryWriter::open(home.path()).expect("a writer");
        now += 400 * 86_400_000;
    }
    let year = of_age[0] * 14 + of_age[1] * 78 + of_age[2] * 273;
    println!("bytes a day: {of_age:?}; a year of a service: {year}");
    assert!(year < 20_000_000, "{of_age:?}: {year}");
}
