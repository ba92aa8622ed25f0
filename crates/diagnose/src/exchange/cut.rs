//! What has rows of exchanges that reach into time without: none of them counts, and none of that time lies between
//! exchanges.

use super::Exchange;
use crate::windows::Windows;

/// The exchanges of one connection that are cut.
pub(super) struct Cut<'w> {
    windows: &'w Windows,
    /// Since when there has been the exchange that began before this window.
    entered: Option<u64>,
    /// Those that began in a window, and of which nobody saw whether they were over in it.
    left: Vec<Exchange>,
    spans: Vec<(u64, u64)>,
}

impl<'w> Cut<'w> {
    /// Of a connection that was opened at a time.
    pub fn new(windows: &'w Windows, opened: u64) -> Cut<'w> {
        let entered = (!windows.has_rows_at(opened)).then(|| windows.around(opened).0);
        Cut { windows, entered, left: Vec::new(), spans: Vec::new() }
    }

    /// The next bytes were moved in another window, at this time.
    pub fn enters(&mut self, time: u64, current: Option<Exchange>) {
        let asked = current.as_ref().filter(|exchange| !exchange.answered).map(|exchange| exchange.start);
        self.entered = asked.or_else(|| Some(self.windows.around(time).0));
        self.left.extend(current);
    }

    /// Bytes of a request were moved in a window in which no whole exchange has begun yet: as far as anybody knows one
    /// begins here.
    pub fn is_asked(&mut self, time: u64) {
        self.entered = Some(time);
    }

    /// Bytes of an answer were moved until then, of no exchange that is known.
    pub fn is_answered(&mut self, end: u64) {
        self.spans.extend(self.entered.map(|from| (from, end)));
    }

    /// A whole exchange begins.
    pub fn begins(&mut self) {
        self.entered = None;
    }

    /// The stretches that have rows of them. Where one had been answered, it is taken to last as long as half of the
    /// whole ones do at least.
    pub fn spans(mut self, last: Option<&Exchange>, whole: &[Exchange]) -> Vec<(u64, u64)> {
        self.left.extend(last.cloned());
        if self.left.is_empty() {
            return self.spans;
        }
        let mut lengths: Vec<u64> = whole.iter().map(Exchange::length).collect();
        lengths.sort_unstable();
        let usual = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
        for exchange in &self.left {
            let until = self.windows.around(exchange.start).1;
            let usually = exchange.start.saturating_add(usual).min(until);
            self.spans.push((exchange.start, if exchange.answered { exchange.end.max(usually) } else { until }));
        }
        self.spans
    }
}
