//! Requests over time, in buckets of one length for all families: short enough to see when something began, and few enough
//! to look for steps among them and to draw them.

use case::{Suspect, TrafficDay, TrafficSeries};
use import::{Counts, Series};
use std::collections::BTreeMap;

/// At most so many buckets. Two weeks by the hour are 336.
const MOST_BUCKETS: i64 = 400;
/// Lengths that people think in, in seconds.
const LENGTHS: [i64; 9] = [60, 300, 600, 1_800, 3_600, 10_800, 21_600, 86_400, 604_800];

/// So many days are told hour by hour: nine weeks, for what comes back by the week.
const MOST_DAYS: usize = 63;
const HOUR: i64 = 3_600;

/// The requests of each hour of each day; none where buckets are longer than hours.
pub fn days(counts: &Counts) -> Vec<TrafficDay> {
    if counts.bucket_s() > HOUR {
        return Vec::new();
    }
    let mut hours: BTreeMap<i64, u64> = BTreeMap::new();
    for family in counts.families() {
        for (bucket, tally) in family.series.sorted() {
            *hours.entry((bucket * counts.bucket_s()).div_euclid(HOUR)).or_default() += tally.requests;
        }
    }
    let ends = hours.keys().next().zip(hours.keys().next_back());
    let Some((first, last)) = ends.map(|(first, last)| (first.div_euclid(24), last.div_euclid(24))) else {
        return Vec::new();
    };
    let of_hour = |hour: i64| hours.get(&hour).copied().unwrap_or(0);
    let day = |day: i64| TrafficDay {
        start_s: day * 24 * HOUR,
        requests: (0..24).map(|hour| of_hour(day * 24 + hour)).collect(),
    };
    (first.max(last - MOST_DAYS as i64 + 1)..=last).map(day).collect()
}

/// From the first to the last request.
pub struct Timeline {
    /// The number of the first bucket, counted from 1970.
    first: i64,
    buckets: usize,
    /// The length of a bucket, in seconds.
    pub bucket_s: i64,
    /// The length of the counts' buckets.
    counted_s: i64,
}

impl Timeline {
    /// That of counts; without any bucket where no request has a time.
    pub fn of(counts: &Counts) -> Timeline {
        let counted_s = counts.bucket_s();
        let spans = || counts.files.iter().filter_map(|file| file.span);
        let first_s = spans().map(|(first, _)| first).min();
        let (Some(first), Some(last)) = (first_s, spans().map(|(_, last)| last).max()) else {
            return Timeline { first: 0, buckets: 0, bucket_s: counted_s, counted_s };
        };
        let fits = |length: &i64| {
            length % counted_s == 0 && last.div_euclid(*length) - first.div_euclid(*length) < MOST_BUCKETS
        };
        // Where a log spans more than 400 weeks, what is older than that from its end is left out: a clock was wrong.
        let bucket_s = LENGTHS.into_iter().find(|length| fits(length)).unwrap_or(LENGTHS[LENGTHS.len() - 1]);
        let (first, last) = (first.div_euclid(bucket_s), last.div_euclid(bucket_s));
        let first = first.max(last - MOST_BUCKETS + 1);
        Timeline { first, buckets: (last - first + 1) as usize, bucket_s, counted_s }
    }

    /// The requests of a series in each bucket.
    pub fn requests(&self, series: &Series) -> Vec<u64> {
        let mut requests = vec![0; self.buckets];
        for (counted, tally) in series.sorted() {
            let bucket = (counted * self.counted_s).div_euclid(self.bucket_s) - self.first;
            if let Some(sum) = usize::try_from(bucket).ok().and_then(|bucket| requests.get_mut(bucket)) {
                *sum += tally.requests;
            }
        }
        requests
    }

    /// When a bucket begins.
    pub fn start_s(&self, bucket: usize) -> i64 {
        (self.first + bucket as i64) * self.bucket_s
    }

    /// The series of all and of each suspect.
    pub fn series(&self, suspects: &[Suspect], counts: &Counts) -> TrafficSeries {
        let families = counts.families().iter();
        let all = families.clone().map(|family| (family, self.requests(&family.series))).collect::<Vec<_>>();
        let mut requests = vec![0; self.buckets];
        for (_, of_family) in &all {
            requests.iter_mut().zip(of_family).for_each(|(sum, more)| *sum += more);
        }
        let of = |suspect: &Suspect| {
            let same = |family: &import::Family| {
                family.name == suspect.name
                    && super::kind(family) == suspect.kind
                    && super::claim(family) == suspect.claim
            };
            all.iter().find(|(family, _)| same(family)).map(|(_, of_family)| of_family.clone()).unwrap_or_default()
        };
        let of_suspects = suspects.iter().map(of).collect();
        TrafficSeries { start_s: self.start_s(0), bucket_s: self.bucket_s, requests, of_suspects }
    }
}
