//! A client that asks a database beside it for one thing again and again: a statement for each row of a list.

use super::without_the_answers_work;
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, rows};
use crate::exchange::Exchange;
use crate::number;
use crate::said::Said;
use case::Nanos;
use std::collections::BTreeMap;

/// Fewer statements than this are not worth putting together.
const MANY: usize = 100;

/// One in so many statements is answered this quickly or more so: the very quickest may be a slip of the clock.
const QUICK: usize = 10;

/// Where putting them together saves less of all requests' time, something else makes them slow.
const LEAST_SHARE: f64 = 0.25;

/// What one process asks one peer: the statement's verb and what it is about.
type Asked<'e> = (u32, String, &'e str, &'e str);

pub(super) fn find(analysis: &Analysis) -> Option<Found> {
    let commands = Said::commands(analysis);
    let mut groups: BTreeMap<Asked, Vec<&Exchange>> = BTreeMap::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let Some(command) = commands.first(exchange) else { continue };
        let (pid, remote) =
            (analysis.connections.row(exchange.connection).pid, analysis.connections.remote(exchange.connection));
        groups.entry((pid, remote, &command.name, &command.object)).or_default().push(exchange);
    }
    let serial = groups
        .iter()
        .filter(|(_, asked)| asked.len() >= MANY && asked.windows(2).all(|pair| pair[0].end <= pair[1].start));
    let (asked, exchanges) = serial.max_by_key(|(_, asked)| saved(analysis, asked))?;
    let is_felt = saved(analysis, exchanges) as f64 >= LEAST_SHARE * analysis.exchange_wall() as f64;
    is_felt.then(|| found(analysis, asked, exchanges))
}

/// What a statement costs for being asked alone, at most: the way there and back, calls and wake-ups, and what the database does for
/// each whatever it is. The time that the quickest of them take.
fn each(analysis: &Analysis, exchanges: &[&Exchange]) -> u64 {
    let mut lengths: Vec<u64> = exchanges.iter().map(|exchange| length(analysis, exchange)).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / QUICK).copied().unwrap_or_default()
}

fn length(analysis: &Analysis, exchange: &Exchange) -> u64 {
    without_the_answers_work(analysis, exchange.connection, (exchange.start, exchange.end))
}

/// What asking for all at once could save: the rest of the database's work is done there, too.
fn saved(analysis: &Analysis, exchanges: &[&Exchange]) -> u64 {
    let each = each(analysis, exchanges);
    exchanges.iter().skip(1).map(|exchange| length(analysis, exchange).min(each)).sum()
}

fn found(analysis: &Analysis, (_, remote, verb, object): &Asked, exchanges: &[&Exchange]) -> Found {
    let first = |exchange: &&Exchange| Some((*analysis.transfers(exchange).first()? as usize, exchange.length()));
    let place = costly_call(analysis, exchanges.iter().filter_map(first));
    let whole: u64 = exchanges.iter().map(|exchange| exchange.length()).sum();
    let (saved, each) = (saved(analysis, exchanges), each(analysis, exchanges));
    let statement = if object.is_empty() { (*verb).to_string() } else { format!("{verb} {object}") };
    let count = number::count(exchanges.len() as u64);
    let what = format!("{remote} is asked {statement} {count} times, one after another");
    let writes = exchanges.iter().filter_map(|exchange| analysis.transfers(exchange).first());
    Found {
        title: format!("{what}: a batch would save {} of {}{}", Nanos(saved), Nanos(whole), place.in_words()),
        what,
        mechanism: vec![
            format!(
                "The {count} statements never overlap, and an answer takes {}.",
                Nanos(whole / exchanges.len() as u64)
            ),
            format!(
                "A tenth of them take {} or less, but for what the answer itself takes: that much at most a statement costs for being \
                 asked alone, and asking for all at once saves it; the rest is work that stays.",
                Nanos(each)
            ),
            "Whether one needs the answer to another cannot be seen from outside.".to_string(),
        ],
        saving: PotentialSaving { wall: saved, affected: exchanges.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Ask once for all of it (a join, WHERE id IN (...), a batch, a pipeline).".to_string(),
        rows: rows("calls", writes.map(|&row| row as usize)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::Analysis;
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::{Command, direction};

    /// So many questions to a peer beside the client, the next right after the answer; statements where there is an object.
    fn asking(count: u32, object: Option<&str>) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for _ in 0..count {
            let time = case::Nanos(fixture.now);
            fixture.moves(CLIENT, 1, WRITE, 60);
            fixture.waits_for(CLIENT, 1, 100 * US, 300);
            if let Some(object) = object {
                let (name, object) = ("SELECT".to_string(), object.to_string());
                let row = Command { time, connection: 1, tid: CLIENT, direction: direction::OUT, name, object };
                fixture.recording.commands.push(row);
            }
        }
        fixture.end()
    }

    #[test]
    fn a_statement_for_each_row_is_found_with_what_a_batch_would_save() {
        let answer = answer(&asking(400, Some("orders")));
        let finding = answer.findings.iter().find(|finding| finding.name == "serial-requests").expect("found");
        assert!(finding.title.contains(" is asked SELECT orders 400 times, one after another: a batch would save "));
        assert!(finding.cost.share_of_wall > 0.9, "{finding:#?}");
    }

    #[test]
    fn what_a_recorded_peer_works_for_an_answer_is_not_saved() {
        let working = |think: u64| {
            let mut fixture = Fixture::new();
            fixture.connect(1, CLIENT);
            let mut idle = fixture.now;
            for _ in 0..400 {
                let (time, name) = (case::Nanos(fixture.now), "SORT".to_string());
                request(&mut fixture, CLIENT, 1, think, &mut idle);
                let direction = direction::OUT;
                let row = Command { time, connection: 1, tid: CLIENT, direction, name, ..Command::default() };
                fixture.recording.commands.push(row);
            }
            super::find(&Analysis::new(&fixture.end())).is_some()
        };
        assert!(working(50 * US));
        assert!(!working(5 * MS));
    }

    #[test]
    fn a_few_statements_and_questions_that_are_none_are_left_alone() {
        assert_eq!(names(&asking(40, Some("orders"))), Vec::<String>::new());
        assert_eq!(names(&asking(400, None)), Vec::<String>::new());
    }
}
