//! Commands in RESP, the protocol of Redis (<https://redis.io/docs/latest/develop/reference/protocol-spec/>): an array of
//! strings, of which the first is the command's name.

use super::Moved;
use case::tables::{Command, direction, role};

/// The longest name of a command is `RESTORE-ASKING`; modules have longer ones (`TIMESERIES.CLUSTERSET`).
const LONGEST_NAME: usize = 24;

/// The command that a call's first bytes are, where they come from the end that asks: an answer may be an array as well, and
/// is nobody's business.
pub(super) fn command(connection: u32, asks: u8, moved: &Moved) -> Option<Command> {
    let from_client = if asks == role::CLIENT { direction::OUT } else { direction::IN };
    if asks == role::UNKNOWN || moved.direction != from_client {
        return None;
    }
    let name = name(moved.captured())?;
    Some(Command {
        time: moved.start,
        connection,
        tid: moved.tid,
        direction: moved.direction,
        name,
        ..Command::default()
    })
}

/// `*2\r\n$4\r\nKEYS\r\n$1\r\n*\r\n`, of which whoever calls may have sent the name alone so far.
fn name(bytes: &[u8]) -> Option<String> {
    let rest = bytes.strip_prefix(b"*")?;
    let (count, rest) = number(rest)?;
    let (length, rest) = number(rest.strip_prefix(b"$")?)?;
    if count == 0 || !(1..=LONGEST_NAME).contains(&length) {
        return None;
    }
    let (name, rest) = rest.split_at_checked(length)?;
    let is_name = name[0].is_ascii_alphabetic()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    let is_ended = rest.iter().zip(b"\r\n").all(|(one, other)| one == other);
    (is_name && is_ended).then(|| String::from_utf8_lossy(name).to_ascii_uppercase())
}

/// Digits up to the end of a line, and what follows it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
    Some((value, bytes[digits..].strip_prefix(b"\r\n")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conversation, Seen};
    use case::Nanos;

    fn commands(asks: u8, calls: &[(u8, &str)]) -> Vec<String> {
        let (mut conversation, mut seen) = (Conversation::new(7, asks), Seen::default());
        for (time, &(direction, text)) in calls.iter().enumerate() {
            let (start, end) = (Nanos(time as u64), Nanos(time as u64 + 1));
            let bytes = text.len() as u64;
            conversation.feed(&Moved { start, end, tid: 1, direction, bytes, head: text.as_bytes() }, &mut seen);
        }
        seen.commands.into_iter().map(|command| command.name).collect()
    }

    #[test]
    fn the_first_word_of_a_command_is_its_name_at_both_ends() {
        let (get, keys) = ("*2\r\n$3\r\nget\r\n$5\r\nkey:1\r\n", "*2\r\n$4\r\nKEYS\r\n$1\r\n*\r\n");
        let client = [(direction::OUT, get), (direction::IN, "$1\r\nx\r\n"), (direction::OUT, keys)];
        assert_eq!(commands(role::CLIENT, &client), ["GET", "KEYS"]);
        let server = [(direction::IN, get), (direction::OUT, "$1\r\nx\r\n"), (direction::IN, keys)];
        assert_eq!(commands(role::SERVER, &server), ["GET", "KEYS"]);
        assert_eq!(commands(role::UNKNOWN, &client), [""; 0]);
    }

    #[test]
    fn what_a_server_answers_is_no_command_and_arguments_are_not_kept() {
        let answer = [(direction::OUT, "*2\r\n$4\r\nKEYS\r\n$1\r\n*\r\n"), (direction::IN, "*1\r\n$6\r\nsecret\r\n")];
        assert_eq!(commands(role::CLIENT, &answer), ["KEYS"]);
        for other in
            ["*1\r\n$40\r\nGET\r\n", "*1\r\n$3\r\nG T\r\n", "*1\r\n$2\r\nGET\r\n", "*x\r\n", "*", "GET key\r\n"]
        {
            assert_eq!(commands(role::CLIENT, &[(direction::OUT, other)]), [""; 0], "{other}");
        }
    }
}
