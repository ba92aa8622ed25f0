use super::*;
use case::Nanos;
use nix::sys::resource::{UsageWho, getrusage};

struct Nobody;

impl Watcher for Nobody {
    fn deviates(&mut self, _: &Deviation) {}

    fn case_folder(&mut self, _: &[String]) -> Option<PathBuf> {
        None
    }

    fn keep(&mut self, _: Done) -> case::Document {
        unreachable!("nothing is recorded")
    }
}

/// A day of intervals of 10 s, as fast as they go.
#[test]
fn a_day_s_watching_does_not_grow_memory() {
    let home = tempfile::tempdir().expect("a folder");
    let mut history = HistoryWriter::open(home.path()).expect("a history");
    let mut state = State::default();
    let mut peak_kb = Vec::new();
    let start = 1_767_225_600_000;
    for turn in 0..8_640_u64 {
        let sample = |service: u64| ServiceSample {
            at_ms: start + turn * 10_000,
            length: Nanos(10_000_000_000),
            service: format!("service-{service}"),
            counts_requests: true,
            requests: 50 + (turn * 31 + service * 7) % 40,
            user: Nanos((50 + (turn * 31 + service * 7) % 40) * (1_000_000 + (turn * 17) % 300_000)),
            answering: Nanos(100_000_000 + turn % 7 * 1_000_000),
            ..ServiceSample::default()
        };
        let samples = (0..5).map(sample).collect::<Vec<_>>();
        history.append(&samples).expect("appended");
        state.take(&samples);
        // Once a minute, as the work of looking is not what is asked here.
        if turn % 6 == 0 {
            assert_eq!(state.find(&mut Nobody), [], "{turn}");
        }
        if turn % 2_160 == 2_159 {
            peak_kb.push(getrusage(UsageWho::RUSAGE_SELF).expect("usage").max_rss());
        }
    }
    assert!(state.windows.values().all(|window| window.len() == WINDOW));
    let (quarter, whole) = (peak_kb[0], peak_kb[3]);
    // Other tests run in the same process: a fifth is theirs.
    assert!(whole < quarter + quarter / 5 + 20_000, "{peak_kb:?} kB");
    println!("peak of memory after each quarter of a day: {peak_kb:?} kB");
}
