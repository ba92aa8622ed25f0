//! When a part of the traffic began or grew: the largest step up of its counts.

use super::timeline::Timeline;
use case::{Onset, TrafficFile};
use stats::{change_points, median};

/// Steps that chance makes in one series of twenty.
const ALARMS: f64 = 0.05;
/// The interval of a step is drawn by chance, which this makes the same each time.
const SEED: u64 = 20;
/// A step up to less than so many times the level before is how traffic comes and goes: twice by day what it is by night.
const LEAST_GROWTH: f64 = 3.0;

/// The onset in a series of requests; none where it was there from the beginning, or has no step that is large enough.
pub fn find(requests: &[u64], timeline: &Timeline, files: &[TrafficFile]) -> Option<Onset> {
    let values = requests.iter().map(|requests| *requests as f64).collect::<Vec<_>>();
    let steps = change_points(&values, ALARMS, SEED);
    // Against all that was before: a wave by day and night steps up each morning.
    let onsets = steps.iter().map(|step| (step, median(&values[..step.at])));
    let grown = onsets.filter(|(step, before)| step.after >= (before * LEAST_GROWTH).max(1.0));
    let (step, before) = grown.max_by(|one, other| (one.0.after - one.1).total_cmp(&(other.0.after - other.1)))?;
    let at_s = timeline.start_s(step.at);
    let ends = [step.interval.low, step.interval.high].map(|place| timeline.start_s(place.max(0.0) as usize));
    let holds = |file: &&TrafficFile| {
        // The step is somewhere in its bucket.
        let end = at_s + timeline.bucket_s;
        file.first_s.is_some_and(|first| first < end) && file.last_s.is_some_and(|last| last >= at_s)
    };
    // Where the bucket is on the edge of two files, the later one is that of the new level.
    let file = files.iter().rfind(holds).map(|file| file.path.clone()).unwrap_or_default();
    Some(Onset { at_s, low_s: ends[0], high_s: ends[1], before, after: step.after, p: step.p, file })
}
