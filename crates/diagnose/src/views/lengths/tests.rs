//! How long exchanges took: exact for a few, bounded for many.

use super::*;
use crate::analysis::Analysis;
use crate::fixture::{Fixture, MS, US, keep_alive};
use case::Recording;

/// The view of exchanges of these lengths, one after the other.
fn view(lengths: &[u64]) -> Lengths {
    let recording = Fixture::new().end();
    let mut analysis = Analysis::new(&recording);
    let mut now = recording.manifest.start.0;
    for &length in lengths {
        let (start, end) = (now, now + length);
        analysis.exchanges.push(exchange(start, end));
        now = end;
    }
    super::lengths(&analysis, &longest_first(&analysis))
}

fn exchange(start: u64, end: u64) -> Exchange {
    let end_seen = crate::connections::End::Client;
    Exchange {
        connection: 0,
        end_seen,
        start,
        end,
        set_up: None,
        transfers: 0..0,
        served: 0..0,
        bytes: 0,
        answered: true,
    }
}

#[test]
fn of_three_exchanges_each_is_a_step() {
    let shown = view(&[3 * MS, MS, 2 * MS]);
    assert_eq!((shown.count, shown.total_ns), (3, 6 * MS));
    let lengths: Vec<u64> = shown.quantiles.iter().map(|step| step.ns).collect();
    assert_eq!(lengths, [MS, 2 * MS, 3 * MS]);
    assert!((shown.quantiles[2].share - 1.0).abs() < 1e-9);
    let worst: Vec<u64> = shown.worst.iter().map(|one| one.number).collect();
    assert_eq!(worst, [1, 3, 2]);
    assert_eq!(shown.histogram.iter().map(|bin| bin.count).sum::<u64>(), 3);
}

#[test]
fn the_longest_of_many_are_shown_one_by_one() {
    let lengths: Vec<u64> = (1..=100_000).map(|number| number * US).collect();
    let shown = view(&lengths);
    assert!((100..400).contains(&shown.quantiles.len()), "{}", shown.quantiles.len());
    assert_eq!(shown.quantiles[0].ns, US);
    let last: Vec<u64> = shown.quantiles.iter().rev().take(10).map(|step| step.ns / US).collect();
    assert_eq!(last, (99_991..=100_000).rev().collect::<Vec<u64>>());
    let median = shown.quantiles.iter().find(|step| step.share >= 0.5).expect("a median");
    assert_eq!(median.ns, 50_000 * US);
    assert_eq!(shown.worst.len(), 100);
    assert_eq!(shown.worst[0].length_ns, 100_000 * US);
    assert!(shown.over_time.len() <= 1_000);
}

#[test]
fn every_exchange_is_in_a_bin_and_no_bin_at_the_ends_is_empty() {
    for lengths in [vec![0, 1, 2, 3, 5, 9], vec![40 * MS; 50], vec![MS, 41 * MS, 9_000 * MS], (1..3_000).collect()] {
        let bins = view(&lengths).histogram;
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), lengths.len() as u64);
        assert!(bins[0].count > 0 && bins[bins.len() - 1].count > 0, "{bins:?}");
        assert!(bins.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns), "{bins:?}");
        assert!(bins.iter().all(|bin| bin.from_ns < bin.to_ns));
        assert!(bins.len() <= 250, "{}", bins.len());
    }
}

#[test]
fn what_ends_with_the_recording_belongs_to_its_last_stretch() {
    let recording = keep_alive(3, 300 * US).end();
    let mut analysis = Analysis::new(&recording);
    let end = recording.manifest.end.0;
    analysis.exchanges.push(exchange(end - MS, end));
    let shown = super::lengths(&analysis, &longest_first(&analysis));
    let last = shown.over_time.last().expect("a stretch");
    assert!(last.at < analysis.wall() && last.most_ns == MS, "{last:?}");
    assert_eq!(shown.over_time.iter().map(|moment| moment.count).sum::<u64>(), 4);
}

#[test]
fn a_recording_of_nothing_has_no_lengths() {
    let shown = super::lengths(&Analysis::new(&Recording::default()), &[]);
    assert_eq!(shown, Lengths::default());
}
