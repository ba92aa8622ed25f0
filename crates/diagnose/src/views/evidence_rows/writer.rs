//! Writes cells: whatever a number stands for, in words.

use super::columns::{ColumnShown, Source};
use super::words;
use crate::analysis::Analysis;
use crate::images::Images;
use crate::place;
use crate::syscall;
use crate::views::connections::{address, transport_name};
use case::tables::Connection;
use case::{Bytes, Nanos, Value};
use rustc_hash::FxHashMap;

/// A longer text is cut.
const LONGEST: usize = 300;

/// Columns that hold a time; the other ones of that type hold a length of time.
const TIMES: [&str; 8] = ["start", "end", "time", "runnable", "opened", "established", "closed", "now"];

/// Columns that hold a number of bytes.
const BYTES: [&str; 5] = ["payload", "length", "mss", "content_length", "client_hello_bytes"];

/// A row: its values with the names of their columns.
pub type Values = [(&'static str, Value)];

/// Writes the cells of rows of one recording.
pub struct Writer<'e> {
    /// What the rows are of.
    pub analysis: &'e Analysis<'e>,
    programs: Images<'e>,
    threads: FxHashMap<u32, &'e str>,
    paths: FxHashMap<u32, &'e str>,
}

impl<'e> Writer<'e> {
    /// Indexes what cells are written with.
    pub fn new(analysis: &'e Analysis<'e>) -> Writer<'e> {
        let recording = analysis.recording;
        Writer {
            analysis,
            programs: Images::new(recording),
            threads: recording.threads.iter().map(|row| (row.tid, row.name.as_str())).collect(),
            paths: recording.paths.iter().map(|row| (row.id, row.path.as_str())).collect(),
        }
    }

    /// A column's cell of a row; empty where there is nothing to say.
    pub fn cell(&self, table: &str, column: &ColumnShown, row: &Values) -> String {
        match &column.source {
            Source::Between(from, to) => between(row, from, to),
            Source::First(columns) => {
                let mut texts = columns.iter().map(|column| self.text(table, column, row));
                texts.find(|text| !text.is_empty()).unwrap_or_default()
            }
        }
    }

    fn text(&self, table: &str, column: &str, row: &Values) -> String {
        match value(row, column) {
            None => String::new(),
            Some(Value::Text(text)) => shortened(text),
            Some(Value::Flag(flag)) => (if *flag { "yes" } else { "no" }).to_string(),
            Some(Value::Decimal(number)) => format!("{number:.3}"),
            Some(Value::Nanos(nanos)) if TIMES.contains(&column) => self.time(*nanos),
            Some(Value::Nanos(nanos)) => nanos.to_string(),
            Some(Value::Number(number)) => self.number(table, column, *number, row),
        }
    }

    /// A time since recording began: `+1.234567 s`. Nothing for 0, which stands for a time not known.
    fn time(&self, time: Nanos) -> String {
        let start = self.analysis.recording.manifest.start;
        match time.0 {
            0 | u64::MAX => String::new(),
            _ if time < start => format!("-{:.6} s", (start - time).seconds()),
            _ => format!("+{:.6} s", (time - start).seconds()),
        }
    }

    fn number(&self, table: &str, column: &str, number: i128, row: &Values) -> String {
        let id = u32::try_from(number).unwrap_or_default();
        match column {
            "tid" | "waker" => self.thread(id),
            "pid" | "parent" => self.programs.name(id, when(row)),
            "number" if table == "calls" => call(number),
            "call_plus_one" => call(number - 1),
            "result" if table == "calls" => result(row),
            "connection" | "peer" => self.connection(id),
            "id" if table == "connections" => self.connection(id),
            "path" => self.paths.get(&id).map(|path| shortened(path)).unwrap_or_default(),
            "script_stack" => self.place(id, 0),
            "stack" if table != "stacks" => self.place(0, id),
            "kernel_stack" => self.innermost(id),
            "location" => {
                self.analysis.recording.locations.iter().find(|row| row.id == id).map_or(String::new(), |row| {
                    if row.function.is_empty() { row.module.clone() } else { row.function.clone() }
                })
            }
            "fd" if number < 0 => String::new(),
            "fd" => format!("descriptor {number}"),
            _ if BYTES.contains(&column) => {
                u64::try_from(number).map_or(String::new(), |bytes| Bytes(bytes).to_string())
            }
            _ => words::of(table, column, number).unwrap_or_else(|| number.to_string()),
        }
    }

    fn thread(&self, tid: u32) -> String {
        match self.threads.get(&tid) {
            _ if tid == 0 => String::new(),
            None | Some(&"") => self.programs.name(tid, u64::MAX).replacen("process", "thread", 1),
            Some(name) => format!("{name} ({tid})"),
        }
    }

    fn connection(&self, id: u32) -> String {
        let slot = self.analysis.connections.slot(id).filter(|_| id != 0);
        slot.map(|slot| connection(self.analysis.connections.row(slot))).unwrap_or_default()
    }

    fn place(&self, script_stack: u32, stack: u32) -> String {
        let places = place::of_stacks(&self.analysis.code, script_stack, stack);
        shortened(place::in_words(&places).trim_start_matches(", "))
    }

    fn innermost(&self, stack: u32) -> String {
        let frame = self.analysis.code.frames(stack).next();
        frame.map(|frame| shortened(&frame.function)).unwrap_or_default()
    }
}

fn value<'v>(row: &'v Values, column: &str) -> Option<&'v Value> {
    row.iter().find(|(name, _)| *name == column).map(|(_, value)| value)
}

/// The time from one column to another; nothing where either is not known.
fn between(row: &Values, from: &str, to: &str) -> String {
    match (value(row, from), value(row, to)) {
        (Some(&Value::Nanos(from)), Some(&Value::Nanos(to))) if to.0 > 0 => (to - from).to_string(),
        _ => String::new(),
    }
}

/// When a row was: its first time.
fn when(row: &Values) -> u64 {
    let times = row.iter().filter(|(name, _)| TIMES.contains(name));
    let mut times = times.filter_map(|(_, value)| if let Value::Nanos(time) = value { Some(time.0) } else { None });
    times.next().unwrap_or(u64::MAX)
}

fn call(number: i128) -> String {
    u16::try_from(number).map(syscall::name).unwrap_or_default()
}

/// What a call returned: bytes where it moves some, the name of an error, a number otherwise.
fn result(row: &Values) -> String {
    let number = |column: &str| if let Some(Value::Number(number)) = value(row, column) { *number } else { 0 };
    if value(row, "finished") == Some(&Value::Flag(false)) {
        return "not returned".to_string();
    }
    let (call, result) = (u16::try_from(number("number")).unwrap_or(u16::MAX), number("result") as i64);
    if result < 0 {
        words::error(result)
    } else if syscall::is_read(call) || syscall::is_write(call) {
        Bytes(result as u64).to_string()
    } else if syscall::is_open(call) || syscall::is_accept(call) || call == syscall::SOCKET {
        format!("descriptor {result}")
    } else {
        result.to_string()
    }
}

/// A connection in a few words: `tcp 10.0.0.1:40000 to 10.0.0.2:443`.
fn connection(row: &Connection) -> String {
    let local = address(&row.local_address, row.local_port);
    let remote = address(&row.remote_address, row.remote_port);
    let ends = [local, remote].into_iter().filter(|end| !end.is_empty()).collect::<Vec<_>>().join(" to ");
    let ends = if ends.is_empty() { format!("socket {}", row.id) } else { ends };
    format!("{} {ends}", transport_name(row.transport))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}
