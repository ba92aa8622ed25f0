//! Which columns of a table are shown, and from what their cells are made.

use case::Recording;

/// A column as it is shown.
#[derive(Clone, Debug)]
pub struct ColumnShown {
    /// Its heading.
    pub heading: String,
    /// Where its cells come from.
    pub source: Source,
}

/// What a cell is made from.
#[derive(Clone, Debug)]
pub enum Source {
    /// The first of these columns that is not empty.
    First(Vec<&'static str>),
    /// The time from one column of the table to another.
    Between(&'static str, &'static str),
}

/// The columns shown of a table: those that matter for a table that detectors point to, all for any other.
pub fn shown(table: &str) -> Vec<ColumnShown> {
    let first = |heading: &str, columns: &[&'static str]| ColumnShown {
        heading: heading.to_string(),
        source: Source::First(columns.to_vec()),
    };
    let between =
        |heading: &str, from, to| ColumnShown { heading: heading.to_string(), source: Source::Between(from, to) };
    match table {
        "calls" => vec![
            first("time", &["start"]),
            first("thread", &["tid"]),
            first("call", &["number"]),
            first("on", &["connection", "path", "fd"]),
            first("result", &["result"]),
            first("took", &["duration"]),
            first("blocked", &["blocked"]),
            first("from", &["script_stack", "stack"]),
        ],
        "samples" => vec![
            first("time", &["time"]),
            first("thread", &["tid"]),
            first("in call", &["call_plus_one"]),
            first("at", &["script_stack", "stack", "kernel_stack"]),
        ],
        "switches" => vec![
            first("time", &["start"]),
            first("thread", &["tid"]),
            first("why", &["reason"]),
            between("off CPU", "start", "end"),
            between("of that, runnable", "runnable", "end"),
            first("woken by", &["waker"]),
        ],
        "connections" => vec![
            first("opened", &["opened"]),
            first("process", &["pid"]),
            first("end", &["role"]),
            first("connection", &["id"]),
            between("was there", "opened", "closed"),
            between("connected in", "opened", "established"),
        ],
        "handshakes" => vec![
            first("time", &["start"]),
            first("connection", &["connection"]),
            between("took", "start", "end"),
            first("version", &["version"]),
            first("cipher", &["cipher"]),
            first("resumed", &["resumed"]),
            first("offered to resume", &["offered"]),
            first("got a ticket", &["ticket"]),
            first("server name", &["server_name"]),
        ],
        other => all(other),
    }
}

fn all(table: &str) -> Vec<ColumnShown> {
    let tables = Recording::tables();
    let columns = tables.into_iter().find(|(name, ..)| *name == table).map(|(_, _, columns)| columns);
    let shown = |name: &'static str| ColumnShown { heading: name.replace('_', " "), source: Source::First(vec![name]) };
    columns.unwrap_or_default().into_iter().map(|column| shown(column.name)).collect()
}
