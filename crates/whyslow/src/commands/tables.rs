//! `whyslow tables`: the documentation of a case's tables, from their declarations. CASE-FORMAT.md is its output, and a
//! test keeps it so.

use crate::fail::Failure;
use crate::output;
use case::tables::{content, direction, event, flags, kind, output as compared, reason, role, transport};
use case::{Recording, SCHEMA};
use std::fmt::Write;

/// Prints the documentation as Markdown.
pub fn tables() -> Result<u8, Failure> {
    output::print(&markdown())?;
    Ok(0)
}

/// What stands above the tables.
const HEAD: &str = "\
# The case

A case is the folder that `whyslow run` leaves behind. This page is the output of `whyslow tables`: it is generated from
the declarations in `crates/case/src/tables`, and a test keeps it up to date.

| File | What it is |
|---|---|
| `manifest.json` | What was run, where, when, how it ended, and what could not be recorded |
| `tables/NAME.parquet` | One table each; a table without rows has no file |
| `tables/NAME.arrows` | The same as an Arrow IPC stream, while recording or after a crash: whole up to its last batch |
| `answer.json` | What it means, as `whyslow run --json` prints it |
| `experiment.json` | What the trials were for: which arm was tried for which finding, and what it is judged by |
| `trials/ARM.toml` | One trial of an arm, for `whyslow trial` to run again here or elsewhere |

Any program that reads Parquet can ask questions of its own, for example with DuckDB:

    SELECT number, count(*), sum(duration) / 1e9 AS seconds
    FROM 'CASE/tables/calls.parquet' GROUP BY number ORDER BY seconds DESC;

Times are nanoseconds since boot (suspend included), lengths of time are nanoseconds. Identifiers (connection, stack,
location, path) start at 1 and hold within one case; 0 means none. Payload is never kept, and header values, query
values and arguments that can be secrets are replaced by `*` when they are written. The folder is readable for its owner
only.
";

/// The numbers that stand for words, by the name that the columns refer to.
const CODES: &[(&str, &[(&str, u8)])] = &[
    (
        "output",
        &[("not compared", compared::NOT_COMPARED), ("the same", compared::SAME), ("different", compared::DIFFERENT)],
    ),
    ("direction", &[("out", direction::OUT), ("in", direction::IN)]),
    (
        "content",
        &[
            ("other, or not looked at", content::OTHER),
            ("TLS record", content::TLS),
            ("HTTP/1 request", content::HTTP_REQUEST),
            ("HTTP/1 response", content::HTTP_RESPONSE),
            ("DNS message", content::DNS),
            ("PEM text", content::PEM),
            ("HTTP/2 preface", content::HTTP2_PREFACE),
        ],
    ),
    (
        "transport",
        &[("TCP", transport::TCP), ("UDP", transport::UDP), ("Unix", transport::UNIX), ("other", transport::OTHER)],
    ),
    (
        "role",
        &[("unknown", role::UNKNOWN), ("client", role::CLIENT), ("server", role::SERVER), ("listener", role::LISTENER)],
    ),
    (
        "kind",
        &[
            ("compiled code", kind::NATIVE),
            ("kernel", kind::KERNEL),
            ("script", kind::SCRIPT),
            ("generated code", kind::GENERATED),
            ("unknown", kind::UNKNOWN),
        ],
    ),
    (
        "reason",
        &[("preempted", reason::PREEMPTED), ("blocked", reason::BLOCKED), ("uninterruptible", reason::UNINTERRUPTIBLE)],
    ),
    (
        "event",
        &[
            ("state changed", event::STATE),
            ("delayed ACK fired", event::DELAYED_ACK_FIRED),
            ("retransmitted", event::RETRANSMIT),
        ],
    ),
    ("flags", &[("FIN", flags::FIN), ("SYN", flags::SYN), ("RST", flags::RST), ("ACK", flags::ACK)]),
];

/// The documentation of all tables.
fn markdown() -> String {
    let mut text = format!("{HEAD}\nThis is schema {SCHEMA}. Tables and columns are only ever added to it.\n");
    text += "\n## Numbers that stand for words\n\n| Name | Values |\n|---|---|\n";
    for (name, values) in CODES {
        let values = values.iter().map(|(word, number)| format!("{number} {word}")).collect::<Vec<_>>().join(", ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{name}` | {values} |");
    }
    for (table, doc, columns) in Recording::tables() {
        let _ = write!(text, "\n## {table}\n\n{doc}\n\n| Column | Type | Meaning |\n|---|---|---|\n");
        for column in columns {
            let meaning = column.doc.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {} | {meaning} |", column.name, column.data_type);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_format_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CASE-FORMAT.md");
        let kept = std::fs::read_to_string(path).expect("CASE-FORMAT.md");
        assert!(kept == markdown(), "refresh it: cargo run --release -- tables > CASE-FORMAT.md");
    }

    #[test]
    fn every_code_that_a_column_refers_to_is_listed() {
        let columns = Recording::tables().into_iter().flat_map(|(_, _, columns)| columns);
        let docs = columns.map(|column| column.doc).collect::<Vec<_>>();
        let referred = docs.iter().filter_map(|doc| doc.split("see `").nth(1)?.split('`').next());
        for name in referred {
            assert!(CODES.iter().any(|(code, _)| *code == name), "{name}");
        }
    }
}
