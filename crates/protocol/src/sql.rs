//! Statements on their way to a database in plain text: PostgreSQL's messages Query and Parse
//! (<https://www.postgresql.org/docs/current/protocol-message-formats.html>), MariaDB's COM_QUERY and COM_STMT_PREPARE
//! (<https://mariadb.com/kb/en/com_query/>) and COM_PING. Of a statement its verb is kept and the first table, no value and no
//! column; `SELECT 1`, which asks only whether anybody is there, is kept as it is.

use super::Moved;
use case::tables::{Command, direction, role};

/// What statements begin with that somebody waits for.
const VERBS: [&str; 17] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "MERGE", "REPLACE", "COPY", "BEGIN", "START", "COMMIT", "END",
    "ROLLBACK", "ABORT", "CALL", "VACUUM", "TRUNCATE",
];
/// The words before a table's name.
const BEFORE_TABLE: [&str; 4] = ["FROM", "INTO", "UPDATE", "TABLE"];
/// A longer name than PostgreSQL's (63) with its schema's tells nobody more.
const LONGEST_TABLE: usize = 64;

const COM_QUERY: u8 = 3;
const COM_STMT_PREPARE: u8 = 22;
/// A whole packet: one byte long, the first of a conversation's turn.
const COM_PING: [u8; 5] = [1, 0, 0, 0, 14];

/// The statement that a call's first bytes begin, where they come from the end that asks.
pub(super) fn command(connection: u32, asks: u8, moved: &Moved) -> Option<Command> {
    let from_client = if asks == role::CLIENT { direction::OUT } else { direction::IN };
    if asks == role::UNKNOWN || moved.direction != from_client {
        return None;
    }
    let bytes = moved.captured();
    let says = |(name, object)| Command {
        time: moved.start,
        connection,
        tid: moved.tid,
        direction: moved.direction,
        name,
        object,
    };
    if bytes == COM_PING {
        return Some(says(("PING".to_string(), String::new())));
    }
    let statement = of_postgresql(bytes, moved.bytes).or_else(|| of_mariadb(bytes, moved.bytes))?;
    let is_whole = bytes.len() as u64 == moved.bytes || statement.contains(&0);
    verb_and_table(statement, is_whole).map(says)
}

/// A letter, the message's length without it, and the statement; in Parse behind the name that it is given. Other messages may
/// follow.
fn of_postgresql(bytes: &[u8], whole: u64) -> Option<&[u8]> {
    let (head, rest) = bytes.split_at_checked(5)?;
    let length = u64::from(u32::from_be_bytes([head[1], head[2], head[3], head[4]]));
    if length < 5 || length + 1 > whole {
        return None;
    }
    match head[0] {
        b'Q' => Some(rest),
        b'P' => rest.iter().position(|&byte| byte == 0).map(|end| &rest[end + 1..]),
        _ => None,
    }
}

/// Three bytes of length, a packet's number, which is 0 where something begins, the command, and the statement; with attributes of
/// the query (MySQL 8) two more bytes, where there are none of them.
fn of_mariadb(bytes: &[u8], whole: u64) -> Option<&[u8]> {
    let (head, rest) = bytes.split_at_checked(5)?;
    let length = u64::from(u32::from_le_bytes([head[0], head[1], head[2], 0]));
    let begins = head[3] == 0 && matches!(head[4], COM_QUERY | COM_STMT_PREPARE) && length + 4 == whole;
    begins.then(|| rest.strip_prefix(&[0, 1]).unwrap_or(rest))
}

/// The verb in capitals, and the first table as it is written; empty where none is named in what was captured.
fn verb_and_table(statement: &[u8], is_whole: bool) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(statement);
    let text = text.split('\0').next().unwrap_or_default();
    let mut words = text.split_whitespace();
    let verb = words.next()?.trim_end_matches(';').to_ascii_uppercase();
    if !VERBS.contains(&verb.as_str()) {
        return None;
    }
    if verb == "SELECT" && is_whole && words.clone().map(|word| word.trim_end_matches(';')).eq(["1"]) {
        return Some(("SELECT 1".to_string(), String::new()));
    }
    let is_before = |word: &str| BEFORE_TABLE.iter().any(|before| word.eq_ignore_ascii_case(before));
    let table =
        if is_before(&verb) { words.next() } else { words.find(|word| is_before(word)).and_then(|_| words.next()) };
    // What ends the captured bytes may have been cut.
    let table = table.filter(|_| is_whole || words.next().is_some());
    Some((verb, table.map_or(String::new(), name)))
}

/// A table's name without what is written around it; empty where it is none: a subquery, a string.
fn name(word: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '"' | '`' | '$');
    let end = word.find(|letter| !is_part(letter)).unwrap_or(word.len());
    let name: String = word[..end].chars().filter(|letter| !matches!(letter, '"' | '`')).collect();
    if name.len() <= LONGEST_TABLE { name } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Nanos;

    fn postgresql(letter: u8, text: &str) -> Vec<u8> {
        let length = u32::try_from(text.len() + 4).expect("short").to_be_bytes();
        [&[letter][..], &length[..], text.as_bytes()].concat()
    }

    fn mariadb(number: u8, text: &str) -> Vec<u8> {
        let length = u32::try_from(text.len() + 1).expect("short").to_le_bytes();
        [&length[..3], &[number, COM_QUERY], text.as_bytes()].concat()
    }

    fn said(bytes: &[u8]) -> Option<(String, String)> {
        let (start, end) = (Nanos(1), Nanos(2));
        let moved = Moved {
            start,
            end,
            tid: 1,
            direction: direction::OUT,
            bytes: bytes.len() as u64,
            head: &bytes[..bytes.len().min(64)],
        };
        command(7, role::CLIENT, &moved).map(|command| (command.name, command.object))
    }

    /// What of a statement is kept.
    fn pair(verb: &str, table: &str) -> (String, String) {
        (verb.to_string(), table.to_string())
    }

    #[test]
    fn a_statement_is_known_by_its_verb_and_its_table_and_no_value_is_kept() {
        let select = "select sum(total) from orders where customer='secret'\0";
        assert_eq!(said(&postgresql(b'Q', select)), Some(pair("SELECT", "orders")));
        assert_eq!(
            said(&postgresql(b'P', "s1\0UPDATE \"shop\".\"stock\" SET n = $1\0\0\0")),
            Some(pair("UPDATE", "shop.stock"))
        );
        assert_eq!(said(&mariadb(0, "INSERT INTO `visits`(who) VALUES ('x')")), Some(pair("INSERT", "visits")));
        assert_eq!(said(&mariadb(0, "\0\u{1}DELETE FROM t")), Some(pair("DELETE", "t")));
        assert_eq!(said(&postgresql(b'Q', "BEGIN;\0")), Some(pair("BEGIN", "")));
        assert_eq!(said(&postgresql(b'Q', "select * from orders\0")), Some(pair("SELECT", "orders")));
    }

    #[test]
    fn what_asks_only_whether_anybody_is_there_is_known_as_a_whole() {
        assert_eq!(said(&postgresql(b'Q', "select 1;\0")), Some(pair("SELECT 1", "")));
        assert_eq!(said(&mariadb(0, "SELECT 1")), Some(pair("SELECT 1", "")));
        assert_eq!(said(&postgresql(b'Q', "SELECT 17\0")), Some(pair("SELECT", "")));
        assert_eq!(said(&postgresql(b'Q', "SELECT 1 FROM t\0")), Some(pair("SELECT", "t")));
        assert_eq!(said(&COM_PING), Some(pair("PING", "")));
    }

    #[test]
    fn a_table_that_was_cut_off_or_is_none_is_not_named() {
        let long = format!("SELECT {} FROM orders WHERE x\0", "c".repeat(40));
        assert_eq!(said(&postgresql(b'Q', &long)), Some(pair("SELECT", "")));
        assert_eq!(said(&postgresql(b'Q', "SELECT 1 FROM (SELECT 2) x\0")), Some(pair("SELECT", "")));
    }

    #[test]
    fn other_bytes_are_no_statement() {
        assert_eq!(said(&postgresql(b'Q', "secret words of others\0")), None);
        assert_eq!(said(&postgresql(b'C', "SELECT 1 FROM t\0")), None);
        assert_eq!(said(&mariadb(1, "SELECT 1 FROM t")), None, "an answer's packet");
        assert_eq!(said(b"SELECT 1 FROM t"), None);
        assert_eq!(said(b"Q\0"), None);
    }
}
