//! TLS records as a reader calls them.

use case::tables::TlsRecord;

/// Kinds of records listed for one event; more are summed up.
const LISTED: usize = 4;

/// Records in words, equal neighbours counted: `application data, 92 bytes`.
pub fn in_words<'r>(records: impl Iterator<Item = &'r TlsRecord>) -> Vec<String> {
    let mut runs: Vec<(u8, u32, u32)> = Vec::new();
    for record in records {
        match runs.last_mut() {
            Some(last) if (last.0, last.1) == (record.content_type, record.length) => last.2 += 1,
            _ => runs.push((record.content_type, record.length, 1)),
        }
    }
    let mut words: Vec<String> =
        runs.iter().take(LISTED).map(|&(kind, length, times)| word(kind, length, times)).collect();
    let rest: u32 = runs.iter().skip(LISTED).map(|run| run.2).sum();
    if rest > 0 {
        words.push(format!("{rest} more records"));
    }
    words
}

fn word(kind: u8, length: u32, times: u32) -> String {
    let kind = match kind {
        20 => "change cipher spec".to_string(),
        21 => "alert".to_string(),
        22 => "handshake".to_string(),
        23 => "application data".to_string(),
        other => format!("type {other}"),
    };
    let unit = if length == 1 { "byte" } else { "bytes" };
    if times == 1 { format!("{kind}, {length} {unit}") } else { format!("{times} x {kind}, {length} {unit} each") }
}
