//! P62: a database goes through a whole table for each request.

use super::{Found, common_place, costly_call, detector, goes_on, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::connections::End;
use crate::said::Said;
use crate::syscall;
use case::Nanos;
use case::tables::Sample;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # table-scan
    ///
    /// ## What it is
    /// A query for a few rows has the database go through all rows of a table, since no index leads to them. What it costs grows
    /// with the table: nobody notices while there are a thousand rows, and everybody does when there are a million.
    ///
    /// ## Evidence
    /// CPU samples inside the loop in which a database goes from row to row and tests each: `ExecScan` above
    /// `heap_getnextslot` in PostgreSQL, `rr_sequential` above `ha_rnd_next` in MariaDB and MySQL, `sqlite3VdbeExec`
    /// above `sqlite3BtreeNext` in SQLite, which may be inside the program itself. A fifth of the requests' time or
    /// more, most of what the database does at all, and all through the run. Where the questions were read, the statement that takes
    /// most.
    ///
    /// ## What proves it
    /// An index. Only whoever owns the table can make one, so that this stays a suspicion: `EXPLAIN ANALYZE` says of the statement whether
    /// it reads the table from one end to the other (`Seq Scan`, `type: ALL`, `SCAN`), and how many rows it drops.
    ///
    /// ## Remedy
    /// An index on the columns by which the statement chooses its rows, or on the expression (`lower(name)`) if it compares one.
    /// For a sum over the whole table: keep the sum.
    ///
    /// ## Not to be confused with
    /// serial-requests (many statements that are quick each); lock-convoy (a row that somebody else holds); a report that has to
    /// read everything (an answer as long as what is read is none); a table so small that reading it is the quickest way.
    "P62" "table-scan", looks_behind: true,
    not_switched: "An index can only be made by whoever owns the table.",
    needs: &[Server, Samples]
}

/// Below a fifth of the requests' time an index helps little.
const LEAST: f64 = 0.2;

/// Fewer samples than this say little about a share: 50 ms at the usual rate.
const SAMPLES: usize = 50;

/// What a database does besides takes less than the loop does: else the rows are wanted, and are sent, sorted or summed up.
const MOSTLY: f64 = 0.5;

/// Nanoseconds for each byte of the answer, below which the rows that a scan reads are wanted: to read a row takes half a
/// microsecond at most, and to send one takes six bytes or more. An answer that keeps few of them takes thousands.
const WANTED: u64 = 100;

/// How a database goes through a table.
struct Engine {
    /// Its name.
    name: &'static str,
    /// What the file begins with that its code is in.
    module: &'static str,
    /// What it goes through, as far as its functions tell: some step along a table and along an index by the same one.
    through: &'static str,
    /// The function whose loop it is,
    within: &'static str,
    /// the function that steps to the next row,
    step: &'static str,
    /// which takes at least this share of the loop; the rest goes into testing the row,
    least_steps: f64,
    /// and functions that step along an index instead, or look one row up.
    index: &'static [&'static str],
}

/// Of a scan PostgreSQL 15 spends 54 % in stepping, MariaDB 10.11 86 % and SQLite 3.40 4 %, since its loop steps within a page by
/// itself; a fourth of that is asked for. MySQL was not tried: it shares MariaDB's ancestor.
const ENGINES: [Engine; 4] = [
    Engine {
        name: "PostgreSQL",
        module: "postgres",
        through: "a whole table",
        within: "ExecScan",
        step: "heap_getnextslot",
        least_steps: 0.13,
        index: &["index_getnext", "index_fetch_heap", "tbm_iterate"],
    },
    Engine {
        name: "MariaDB",
        module: "mariadbd",
        through: "a whole table",
        within: "sub_select(",
        step: "handler::ha_rnd_next",
        least_steps: 0.2,
        index: &["handler::ha_index_", "handler::index_read"],
    },
    Engine {
        name: "MySQL",
        module: "mysqld",
        through: "a whole table",
        within: "TableScanIterator::Read",
        step: "handler::ha_rnd_next",
        least_steps: 0.2,
        index: &[],
    },
    Engine {
        name: "SQLite",
        module: "libsqlite3",
        through: "a table, or a long part of it",
        within: "sqlite3VdbeExec",
        step: "sqlite3BtreeNext",
        least_steps: 0.01,
        index: &["sqlite3BtreeTableMoveto", "sqlite3BtreeIndexMoveto", "sqlite3BtreeMovetoUnpacked"],
    },
];

/// What a sample shows of an engine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It steps to the next row.
    Steps,
    /// It tests a row, or whatever else the loop does.
    Loops,
    /// It goes along an index.
    Indexed,
    /// It does something else.
    Else,
    /// It is no such engine.
    Outside,
}

impl Engine {
    fn part(&self, analysis: &Analysis, stack: u32) -> Part {
        let (mut steps, mut loops, mut indexed, mut own) = (false, false, false, false);
        for frame in analysis.code.frames(stack) {
            steps |= frame.function.starts_with(self.step);
            loops |= frame.function.starts_with(self.within);
            // A library can be part of the program's own file.
            own |= loops || base_name(&frame.module).starts_with(self.module);
            indexed |= self.index.iter().any(|name| frame.function.starts_with(name));
        }
        match (own, loops, indexed, steps) {
            (false, ..) => Part::Outside,
            (_, true, true, _) => Part::Indexed,
            (_, true, false, true) => Part::Steps,
            (_, true, false, false) => Part::Loops,
            (_, false, ..) => Part::Else,
        }
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let found = ENGINES.iter().filter_map(|engine| detect_one(analysis, engine));
    found.max_by_key(|found| found.saving.wall)
}

fn detect_one(analysis: &Analysis, engine: &Engine) -> Option<Found> {
    let mut parts: FxHashMap<u32, Part> = FxHashMap::default();
    let mut of_loop: Vec<usize> = Vec::new();
    let (mut steps, mut indexed, mut all) = (0, 0, 0);
    for (row, sample) in analysis.recording.samples.iter().enumerate() {
        let part = *parts.entry(sample.stack).or_insert_with(|| engine.part(analysis, sample.stack));
        all += usize::from(part != Part::Outside);
        indexed += usize::from(part == Part::Indexed);
        steps += usize::from(part == Part::Steps);
        if matches!(part, Part::Steps | Part::Loops) {
            of_loop.push(row);
        }
    }
    let samples: Vec<&Sample> = of_loop.iter().map(|&row| &analysis.recording.samples[row]).collect();
    let wall = (samples.len() as u64 * analysis.sample_period()).min(analysis.exchange_wall());
    let scans = steps as f64 >= engine.least_steps * samples.len() as f64 && indexed < steps;
    let is_it = scans
        && samples.len() >= SAMPLES
        && samples.len() as f64 >= MOSTLY * all as f64
        && wall as f64 >= LEAST * analysis.exchange_wall() as f64
        && goes_on(analysis, &samples);
    if !is_it {
        return None;
    }
    let asked = asked(analysis, &samples);
    let is_wanted = asked.as_ref().is_some_and(|asked| asked.time < WANTED * asked.bytes);
    (!is_wanted).then(|| found(analysis, engine, &of_loop, (&samples, wall), asked))
}

fn found(
    analysis: &Analysis,
    engine: &Engine,
    of_loop: &[usize],
    (samples, wall): (&[&Sample], u64),
    asked: Option<Asked>,
) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let (statement, place) = match asked {
        Some(Asked { statement, calls, .. }) if !statement.is_empty() => (statement, costly_call(analysis, calls)),
        _ => (String::new(), common_place(analysis, samples)),
    };
    let what = match statement.as_str() {
        "" => format!("{} goes through {}", engine.name, engine.through),
        statement => format!("{} goes through {}, mostly for {statement}", engine.name, engine.through),
    };
    Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words()
        ),
        what,
        mechanism: vec![format!(
            "{} samples were taken while it stepped from row to row and tested each, all through the run ({} above {}). If the \
             statement keeps only a few of these rows, an index leads straight to them: EXPLAIN ANALYZE tells how many it drops.",
            samples.len(),
            engine.within.trim_end_matches('('),
            engine.step,
        )],
        saving: PotentialSaving {
            wall,
            outside: 0,
            cpu: samples.len() as u64 * analysis.sample_period(),
            affected: count,
        },
        place,
        remedy: "Make an index on the columns by which the statement chooses its rows.".to_string(),
        rows: rows("samples", of_loop.iter().copied()),
        explains: analysis.stretches(samples),
        ..Found::default()
    }
}

/// What a database is asked again and again.
#[derive(Default)]
struct Asked {
    /// The statement; empty where none was read.
    statement: String,
    /// The call that asks, and how long the answer took, for each time.
    calls: Vec<(usize, u64)>,
    /// How long the answers took together.
    time: u64,
    /// How many bytes the database wrote for them.
    bytes: u64,
}

/// The statement on whose answers most time is spent, of those that processes answer in which samples were taken, with the others
/// beside it where none was read; nothing where no such answer was seen.
fn asked(analysis: &Analysis, samples: &[&Sample]) -> Option<Asked> {
    let commands = Said::commands(analysis);
    let databases: BTreeSet<u32> = samples.iter().map(|sample| sample.pid).collect();
    let mut groups: BTreeMap<(&str, &str), Asked> = BTreeMap::new();
    for exchange in analysis.inner.iter().chain(&analysis.exchanges) {
        let calls = analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize));
        let mut answering = calls.filter(|call| databases.contains(&call.pid)).peekable();
        let first = analysis.transfers(exchange).first();
        let (true, Some(_), Some(&row)) = (exchange.end_seen == End::Client, answering.peek(), first) else { continue };
        let command = commands.first(exchange);
        let statement = command.map_or(("", ""), |command| (command.name.as_str(), command.object.as_str()));
        let asked = groups.entry(statement).or_default();
        let written = answering.filter(|call| syscall::is_write(call.number) && call.result > 0);
        asked.bytes += written.map(|call| call.result as u64).sum::<u64>();
        asked.time += exchange.length();
        asked.calls.push((row as usize, exchange.length()));
    }
    let is_read = groups.keys().any(|(verb, _)| !verb.is_empty());
    let named = groups.into_iter().filter(|((verb, _), _)| !is_read || !verb.is_empty());
    let ((verb, object), asked) = named.max_by_key(|(_, asked)| asked.time)?;
    Some(Asked { statement: format!("{verb} {object}").trim_end().to_string(), ..asked })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER};
    use crate::syscall;
    use crate::tests::{answer, names};
    use case::Nanos;
    use case::tables::{Call, Command, direction};

    const STEPS: u32 = 7;
    const TESTS: u32 = 8;
    const SENDS: u32 = 9;

    /// Twenty questions, for each of which a database steps, tests and sends for so many milliseconds, by a step of this name.
    fn asking(step: &str, steps: u64, tests: u64, sends: u64) -> Fixture {
        let mut fixture = Fixture::new();
        let step = format!("postgres!{step}");
        fixture.stack(STEPS, &[step.as_str(), "postgres!ExecScan", "postgres!standard_ExecutorRun"]);
        fixture.stack(TESTS, &["postgres!texteq", "postgres!ExecScan", "postgres!standard_ExecutorRun"]);
        fixture.stack(SENDS, &["postgres!pq_putmessage", "postgres!standard_ExecutorRun"]);
        fixture.connect(1, CLIENT);
        for _ in 0..20 {
            let (time, name, object) = (Nanos(fixture.now), "SELECT".to_string(), "orders".to_string());
            fixture.served(|fixture| {
                fixture.computes(SERVER, steps * MS, STEPS);
                fixture.computes(SERVER, tests * MS, TESTS);
                fixture.computes(SERVER, sends * MS, SENDS);
            });
            let row = Command { time, connection: 1, tid: CLIENT, direction: direction::OUT, name, object };
            fixture.recording.commands.push(row);
        }
        fixture
    }

    fn is_found(fixture: Fixture) -> bool {
        names(&fixture.end()).contains(&"table-scan".to_string())
    }

    #[test]
    fn a_table_that_each_query_goes_through_is_found_with_the_statement() {
        let answer = answer(&asking("heap_getnextslot", 5, 4, 1).end());
        let finding = answer.findings.iter().find(|finding| finding.name == "table-scan").expect("found");
        let expected =
            "PostgreSQL goes through a whole table, mostly for SELECT orders: 9.00 ms of every 10.0 ms request";
        assert!(finding.title.starts_with(expected), "{}", finding.title);
    }

    #[test]
    fn what_another_server_is_asked_is_no_statement_of_the_databases() {
        let mut recording = asking("heap_getnextslot", 5, 4, 1).end();
        recording.samples.iter_mut().for_each(|sample| sample.pid = SERVER + 1);
        let answer = answer(&recording);
        let finding = answer.findings.iter().find(|finding| finding.name == "table-scan").expect("found");
        assert!(!finding.title.contains("SELECT orders"), "{}", finding.title);
    }

    #[test]
    fn a_scan_whose_rows_are_all_sent_is_left_alone() {
        let mut recording = asking("heap_getnextslot", 5, 4, 1).end();
        let servers = |call: &&mut Call| call.pid == SERVER && syscall::is_write(call.number);
        recording.calls.iter_mut().filter(servers).for_each(|call| call.result = 1_000_000);
        assert!(!names(&recording).contains(&"table-scan".to_string()));
    }

    #[test]
    fn an_index_and_rows_that_are_wanted_are_left_alone() {
        assert!(!is_found(asking("index_getnext_slot", 5, 4, 1)), "an index");
        assert!(!is_found(asking("heap_getnextslot", 2, 1, 7)), "rows that are sent");
        assert!(!is_found(asking("heap_getnextslot", 1, 0, 0)), "too short to tell");
    }
}
