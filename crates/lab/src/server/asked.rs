//! Which ports a client's command names, as commands name them.

use std::collections::BTreeSet;
use std::net::IpAddr;

/// Options whose word, or next word, is a port.
const OPTIONS: [&str; 4] = ["-p", "-P", "-port", "--port"];

/// The ports that a command names: behind a colon after a host (`http://host:8080/`, `host:8080`), with an option that says so
/// (`-p 8080`, `--port=8080`), or behind an address of its own (`10.0.0.2 8080`).
pub fn ports(words: &[String]) -> BTreeSet<u16> {
    // Behind the last colon only: what has more after it is a time, or an address of its own.
    let after_colon = |word: &String| word.rsplit_once(':').and_then(|(_, rest)| leading_port(rest));
    let with_option =
        |word: &str| word.split_once('=').filter(|(name, _)| OPTIONS.contains(name)).map(|(_, port)| port.parse());
    let is_before_port = |word: &String| {
        OPTIONS.contains(&word.as_str()) || word == "localhost" || word == "{server}" || word.parse::<IpAddr>().is_ok()
    };
    let next = words.windows(2).filter(|pair| is_before_port(&pair[0])).map(|pair| pair[1].parse());
    let alone = words.iter().filter_map(|word| with_option(word));
    let named = next.chain(alone).filter_map(Result::ok);
    words.iter().filter_map(after_colon).chain(named).filter(|port| *port > 0).collect()
}

/// The port at the beginning of what follows a colon: digits, and then nothing that could belong to them.
fn leading_port(rest: &str) -> Option<u16> {
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let follows = rest[end..].chars().next();
    if follows.is_some_and(|letter| !matches!(letter, '/' | '?' | '#' | ',' | '"' | '\'' | ' ')) {
        return None;
    }
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Vec<u16> {
        ports(&command.split(' ').map(String::from).collect::<Vec<_>>()).into_iter().collect()
    }

    #[test]
    fn ports_are_found_as_commands_name_them() {
        assert_eq!(of("wrk -t1 -c4 http://10.77.0.2:8080/hello"), [8080]);
        assert_eq!(of("curl --proxy http://10.77.0.2:3128 http://10.77.0.2:8080/a?b=1"), [3128, 8080]);
        assert_eq!(of("redis-benchmark -h 127.0.0.1 -p 6379 -c 8"), [6379]);
        assert_eq!(of("client --port=99 --host=x"), [99]);
        assert_eq!(of("python3 client.py 10.77.0.2 4711 16000"), [4711]);
        assert_eq!(of("memcslap --servers=127.0.0.1:11211"), [11211]);
    }

    #[test]
    fn other_numbers_are_no_ports() {
        assert_eq!(of("ab -n 4000 -c 4 http://example.org/hello"), Vec::<u16>::new());
        assert_eq!(of("curl --resolve a:b:10.0.0.2 -o /dev/null 8080"), Vec::<u16>::new());
        assert_eq!(of("sleep 5"), Vec::<u16>::new());
        assert_eq!(of("date +12:70000 10:30:15Z"), Vec::<u16>::new());
    }
}
