//! How far a recording has got: a line that renews itself on a terminal, nothing elsewhere.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use record::Recorder;
use std::time::{Duration, Instant};

/// Often enough to look alive, seldom enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(200);

/// The line.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: Instant,
}

impl Progress {
    /// Begins it; it stays invisible where standard error is no terminal.
    pub fn begin() -> Progress {
        let bar = ProgressBar::new_spinner();
        bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Progress { bar, begun: Instant::now(), shown: Instant::now() }
    }

    /// Shows how far the recording has got, where the last time was long enough ago.
    pub fn show(&mut self, recorder: &Recorder) {
        if self.shown.elapsed() < INTERVAL || self.bar.is_hidden() {
            return;
        }
        self.shown = Instant::now();
        self.bar.set_message(line(self.begun.elapsed(), recorder.progress()));
    }

    /// Says what is being done after recording.
    pub fn say(&self, what: &str) {
        self.bar.set_message(what.to_string());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn line(elapsed: Duration, progress: record::Progress) -> String {
    let events = match progress.events {
        0..=999_999 => HumanCount(progress.events).to_string(),
        many => format!("{:.1} M", many as f64 / 1e6),
    };
    let (requests, lost) = (HumanCount(progress.requests), HumanCount(progress.lost));
    format!("recording {} s, {requests} requests, {events} events, {lost} lost", elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_in_words() {
        let progress = record::Progress { events: 1_234_567, lost: 0, requests: 3_204 };
        let shown = line(Duration::from_secs(12), progress);
        assert_eq!(shown, "recording 12 s, 3,204 requests, 1.2 M events, 0 lost");
    }
}
