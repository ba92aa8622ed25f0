//! Words that programs are called and given: names of programs and threads, command lines, and what HTTP requests ask for.

use super::Pseudonyms;
use std::net::IpAddr;
use std::path::Path;

/// Where programs lie that anybody has.
const PROGRAMS: [&str; 4] = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
/// How runtimes call threads of their own.
const THREADS: [&str; 14] = [
    ".NET ",
    "C1 Compiler",
    "C2 Compiler",
    "Common-Cleaner",
    "G1 ",
    "GC Thread",
    "Gang worker",
    "ParGC Thread",
    "Reference Handl",
    "Shenandoah",
    "Signal Dispatch",
    "VM ",
    "ZDriver",
    "ZWorker",
];
/// Longer numbers in a command line can be somebody's.
const MOST_DIGITS: usize = 6;

impl Pseudonyms {
    /// What a program or a thread is called.
    pub(super) fn program(&self, name: &str) -> String {
        let is_runtimes = THREADS.iter().any(|thread| name.starts_with(thread));
        if is_runtimes || is_system_program(name) { name.to_string() } else { self.file_name(name) }
    }

    /// A command line, word by word.
    pub(super) fn command(&self, line: &str) -> String {
        line.split(' ').map(|word| self.argument(word)).collect::<Vec<_>>().join(" ")
    }

    /// One word of a command line: what it is for (a path, a URL, an option) can still be seen.
    pub(super) fn argument(&self, word: &str) -> String {
        let is_number = word.len() <= MOST_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if word.is_empty() || is_number || word.chars().all(|letter| !letter.is_alphanumeric()) {
            return word.to_string();
        }
        if word.contains(char::is_whitespace) {
            return word.split_inclusive(char::is_whitespace).map(|part| self.with_its_end(part)).collect();
        }
        let option = word.trim_start_matches('-');
        if option.len() < word.len() {
            let dashes = &word[..word.len() - option.len()];
            let is_letter = option.chars().count() == 1;
            return format!("{dashes}{}", if is_letter { option.to_string() } else { self.argument(option) });
        }
        if let Some((scheme, rest)) = word.split_once("://") {
            let (host, target) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
            let (user, host) = host.rsplit_once('@').map_or((None, host), |(user, host)| (Some(user), host));
            let user = user.map_or(String::new(), |user| format!("{}@", self.argument(user)));
            let scheme = if is_scheme(scheme) { scheme.to_string() } else { self.argument(scheme) };
            return format!("{scheme}://{user}{}{}", self.host(host), self.target(target));
        }
        if let Some((name, value)) = word.split_once('=') {
            return format!("{}={}", self.argument(name), self.argument(value));
        }
        if word.contains('/') {
            return self.path(word);
        }
        if word.parse::<IpAddr>().is_ok() || word == "localhost" {
            return self.host(word);
        }
        match word.rsplit_once(':') {
            Some((name, rest)) => format!("{}:{}", self.argument(name), self.argument(rest)),
            None => self.program(word),
        }
    }

    /// A word and the blank behind it.
    fn with_its_end(&self, part: &str) -> String {
        let word = part.trim_end();
        self.argument(word) + &part[word.len()..]
    }

    /// What an HTTP request asks for: parts of its path, and the names in its query. The values are gone already.
    pub(super) fn target(&self, target: &str) -> String {
        if target.contains("://") || (!target.starts_with(['/', '?', '*']) && !target.is_empty()) {
            return match target.split_once("://") {
                Some((scheme, rest)) => {
                    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
                    format!("{scheme}://{}{}", self.host(host), self.target(path))
                }
                None => self.host(target),
            };
        }
        let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        let parts = path.split('/').map(|part| self.part(part)).collect::<Vec<_>>().join("/");
        let pairs = |query: &str| {
            let pairs = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, value)) => format!("{}={}", self.part(name), self.part(value)),
                None => self.part(pair),
            });
            pairs.collect::<Vec<_>>().join("&")
        };
        query.map_or(parts.clone(), |query| format!("{parts}?{}", pairs(query)))
    }

    fn part(&self, part: &str) -> String {
        match part {
            "" | "*" | "." | ".." => part.to_string(),
            // Routes are told by where numbers stand.
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => self.number(number),
            name => self.file_name(name),
        }
    }
}

fn is_scheme(scheme: &str) -> bool {
    ["http", "https", "ws", "wss", "ftp", "tcp", "unix", "postgres", "postgresql", "mysql", "redis"].contains(&scheme)
}

/// Whether it is the name of a program that comes with a system.
fn is_system_program(name: &str) -> bool {
    let is_plain = !name.contains('/') && name != "." && name != "..";
    is_plain && PROGRAMS.iter().any(|folder| Path::new(folder).join(name).is_file())
}
