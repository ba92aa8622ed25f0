//! Statements to a database that neither fetch nor change anything, beside each that does: a check before it (SELECT 1, PING), a
//! transaction around it alone.

use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, rows};
use crate::exchange::Exchange;
use crate::number;
use crate::said::Said;
use case::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer may be those of a program's beginning.
const MANY: usize = 100;

/// At least one statement in this many is such a one.
const MOST_APART: usize = 4;

/// Where leaving them out saves less of all requests' time, something else makes them slow.
const LEAST_SHARE: f64 = 0.2;

/// A longer request says more than its first words, in bytes: `SELECT 1` with all messages around it (Parse, Bind, Describe, Execute,
/// Sync) takes 60.
const SHORT: i64 = 64;

/// What a statement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Only to see whether the database answers.
    Check,
    /// To begin a transaction.
    Begin,
    /// To end it.
    End,
    /// To read.
    Read,
    /// Anything else, or unknown.
    Other,
}

impl Purpose {
    fn of(name: &str) -> Purpose {
        match name {
            "SELECT 1" | "PING" => Purpose::Check,
            "BEGIN" | "START" => Purpose::Begin,
            "COMMIT" | "END" | "ROLLBACK" | "ABORT" => Purpose::End,
            "SELECT" => Purpose::Read,
            _ => Purpose::Other,
        }
    }

    fn works(self) -> bool {
        matches!(self, Purpose::Read | Purpose::Other)
    }
}

/// One statement on a connection.
struct Statement<'e> {
    exchange: &'e Exchange,
    name: &'e str,
    purpose: Purpose,
}

/// What one process says to one peer.
#[derive(Default)]
struct Talk<'e> {
    needless: Vec<&'e Exchange>,
    names: BTreeSet<&'e str>,
    /// How many statements work, and how many of them stand right beside one that is needless.
    working: usize,
    accompanied: usize,
}

pub(super) fn find(analysis: &Analysis) -> Option<Found> {
    let commands = Said::commands(analysis);
    let mut connections: BTreeMap<usize, Vec<Statement>> = BTreeMap::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let asks = analysis.transfers(exchange).first().map(|&row| analysis.call(row as usize).result);
        let name = commands.first(exchange).map_or("", |command| command.name.as_str());
        let is_short = asks.is_some_and(|bytes| bytes <= SHORT);
        let purpose = match Purpose::of(name) {
            Purpose::Check | Purpose::Begin | Purpose::End if !is_short => Purpose::Other,
            purpose => purpose,
        };
        let statement = Statement { exchange, name, purpose };
        connections.entry(exchange.connection).or_default().push(statement);
    }
    let mut peers: BTreeMap<(u32, String), Talk> = BTreeMap::new();
    for (&slot, statements) in &connections {
        let key = (analysis.connections.row(slot).pid, analysis.connections.remote(slot));
        add(peers.entry(key).or_default(), statements);
    }
    let is_habit = |said: &Talk| {
        said.needless.len() >= MANY.max(said.working / MOST_APART) && said.accompanied * 2 >= said.working.max(1)
    };
    let ((_, remote), said) =
        peers.iter().filter(|(_, said)| is_habit(said)).max_by_key(|(_, said)| spent(&said.needless))?;
    let is_felt = spent(&said.needless) as f64 >= LEAST_SHARE * analysis.exchange_wall() as f64;
    is_felt.then(|| found(analysis, remote, said))
}

fn add<'e>(said: &mut Talk<'e>, statements: &[Statement<'e>]) {
    let mut needless: Vec<bool> = statements.iter().map(|one| one.purpose == Purpose::Check).collect();
    // A transaction of one statement: to begin it is needless, and to end it where nothing was written.
    for (index, around) in statements.windows(3).enumerate() {
        if let [first, alone, last] = around
            && (first.purpose, last.purpose) == (Purpose::Begin, Purpose::End)
            && alone.purpose.works()
        {
            needless[index] = true;
            needless[index + 2] = alone.purpose == Purpose::Read;
        }
    }
    for (index, statement) in statements.iter().enumerate() {
        if needless[index] {
            said.needless.push(statement.exchange);
            said.names.insert(statement.name);
        } else if statement.purpose.works() {
            said.working += 1;
            let is_beside = (index > 0 && needless[index - 1]) || needless.get(index + 1) == Some(&true);
            said.accompanied += usize::from(is_beside);
        }
    }
}

fn spent(exchanges: &[&Exchange]) -> u64 {
    exchanges.iter().map(|exchange| exchange.length()).sum()
}

fn found(analysis: &Analysis, remote: &str, said: &Talk) -> Found {
    let first = |exchange: &&Exchange| Some((*analysis.transfers(exchange).first()? as usize, exchange.length()));
    let place = costly_call(analysis, said.needless.iter().filter_map(first));
    let spent = spent(&said.needless);
    let count = number::count(said.needless.len() as u64);
    let names = said.names.iter().copied().collect::<Vec<_>>().join(", ");
    let what = format!("{count} statements to {remote} fetch and change nothing ({names})");
    let writes = said.needless.iter().filter_map(|exchange| analysis.transfers(exchange).first());
    Found {
        title: format!("{what}: {} of {}{}", Nanos(spent), Nanos(analysis.exchange_wall()), place.in_words()),
        what,
        mechanism: vec![
            format!(
                "{} of {} statements that do something have one of these right before or after them.",
                number::count(said.accompanied as u64),
                number::count(said.working as u64)
            ),
            format!("Each takes {} on average.", Nanos(spent / said.needless.len().max(1) as u64)),
        ],
        saving: PotentialSaving { wall: spent, affected: said.needless.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Check a connection when a statement fails, or after it has been idle for long, not before each statement; let a \
                 single statement be its own transaction (autocommit)."
            .to_string(),
        rows: rows("calls", writes.map(|&row| row as usize)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::Analysis;
    use crate::fixture::{CLIENT, Fixture, US, WRITE};
    use case::tables::{Command, direction};

    /// So many rounds of statements on one connection, each answered after 100 us; the title where it is found.
    fn saying(rounds: u32, names: &[&str]) -> Option<String> {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for name in (0..rounds).flat_map(|_| names.iter()) {
            let (time, name) = (case::Nanos(fixture.now), (*name).to_string());
            fixture.moves(CLIENT, 1, WRITE, 60);
            fixture.waits_for(CLIENT, 1, 100 * US, 300);
            let direction = direction::OUT;
            let row = Command { time, connection: 1, tid: CLIENT, direction, name, ..Command::default() };
            fixture.recording.commands.push(row);
        }
        super::find(&Analysis::new(&fixture.end())).map(|found| found.title)
    }

    #[test]
    fn checks_before_each_statement_are_found() {
        let title = saying(200, &["SELECT 1", "SELECT"]).expect("found");
        assert!(
            title.starts_with("200 statements to ") && title.contains(" fetch and change nothing (SELECT 1): "),
            "{title}"
        );
        assert!(saying(200, &["PING", "INSERT"]).is_some());
    }

    #[test]
    fn a_transaction_around_one_statement_is_found_and_the_end_of_one_that_writes_is_none_of_it() {
        let title = saying(200, &["BEGIN", "SELECT", "COMMIT"]).expect("found");
        assert!(title.starts_with("400 statements") && title.contains(" change nothing (BEGIN, COMMIT): "), "{title}");
        let title = saying(200, &["START", "UPDATE", "COMMIT"]).expect("found");
        assert!(title.starts_with("200 statements") && title.contains(" change nothing (START): "), "{title}");
    }

    #[test]
    fn transactions_of_many_statements_and_programs_that_only_check_are_left_alone() {
        assert_eq!(saying(200, &["BEGIN", "SELECT", "UPDATE", "COMMIT"]), None);
        assert_eq!(saying(200, &["PING"]), None, "it only looks whether somebody is there");
        assert_eq!(saying(40, &["SELECT 1", "SELECT"]), None, "few");
        assert_eq!(saying(200, &["SELECT", "INSERT"]), None);
        let mostly = ["SELECT 1", "SELECT", "SELECT", "SELECT", "SELECT", "SELECT"];
        assert_eq!(saying(200, &mostly), None, "a check for five statements");
    }
}
