//! How far a recording has got, in a line.

use crate::text::count;
use std::time::Duration;

/// What is being recorded, the requests, events and losses so far, and what is left of its time.
pub fn recording(doing: &str, [requests, events, lost]: [u64; 3], left: Option<Duration>) -> String {
    let events = match events {
        0..=999_999 => count(events),
        many => format!("{:.1} M", many as f64 / 1e6),
    };
    let left = left.map(|left| format!("; at most {} s left", left.as_secs())).unwrap_or_default();
    format!("{doing}: {} requests, {events} events, {} lost{left}", count(requests), count(lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_in_words_and_says_what_is_left() {
        let so_far = [3_204, 1_234_567, 0];
        assert_eq!(recording("recording", so_far, None), "recording: 3,204 requests, 1.2 M events, 0 lost");
        let left = recording("recording", so_far, Some(Duration::from_millis(3_900)));
        assert_eq!(left, "recording: 3,204 requests, 1.2 M events, 0 lost; at most 3 s left");
        // The seconds that it has taken stand before it.
        assert!("5000 s: ".len() + left.len() <= 80, "{left}");
    }
}
