//! What refreshing feeds found: rounds just made, and rounds over days.

pub(crate) mod costs;
pub(crate) mod history;
pub(crate) mod lead;
pub(crate) mod round;
mod words;

use crate::blocks::traffic::words::moment;
use crate::document::Feeds;
use crate::figure::three;
use crate::text::{count, counted};
use case::Nanos;

/// The verdict in a few words.
pub(crate) fn headline(feeds: Feeds) -> String {
    match feeds {
        Feeds::Refresh(refresh) => match refresh.rounds.last() {
            Some(round) if !round.finished => "A round that was interrupted".into(),
            Some(round) => format!("{} in {}", counted(round.outcomes.all(), "feed"), Nanos(round.wall_ns)),
            None => "No round".into(),
        },
        Feeds::History(history) => match &history.steps[..] {
            [] => format!("{} rounds, no change", count(history.rounds.len() as u64)),
            [.., last] => {
                let times = last.after_ns as f64 / (last.before_ns as f64).max(1.0);
                format!("Rounds took {} times as long from {} on", three(times), moment(last.at_s))
            }
        },
    }
}

/// The command that does it again.
pub(crate) fn again(feeds: Feeds) -> Vec<String> {
    let (action, list, database) = match feeds {
        Feeds::Refresh(refresh) => ("refresh", &refresh.list, &refresh.database),
        Feeds::History(history) => ("history", &history.list, &history.database),
    };
    ["whyslow", "feeds", action, list, "--database", database].map(String::from).into()
}
