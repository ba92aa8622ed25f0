//! A server's own format string as a parser: nginx's `$variables` and Apache's `%` directives become fields, each ended by the
//! text that follows it.

use crate::entry::{Entry, Field};
use crate::names;
use memchr::memmem::Finder;
use thiserror::Error;

/// Why a format string cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PatternError {
    /// It has neither `$variables` nor `%` directives.
    #[error("it holds neither $variables (nginx) nor %-directives (Apache)")]
    NoFields,
    /// A directive does not end.
    #[error("{0} does not end")]
    Unfinished(String),
    /// Nothing tells where one field ends and the next begins.
    #[error("nothing stands between two fields, after {0:?}")]
    NothingBetween(String),
    /// Neither who, nor what, nor when.
    #[error("none of its fields says who asked, when, or for what")]
    NothingUseful,
}

/// A compiled format.
#[derive(Clone, Debug)]
pub struct Pattern {
    prefix: Vec<u8>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    field: Field,
    end: End,
}

/// What ends a field.
#[derive(Clone, Debug)]
enum End {
    /// The end of the line.
    Line,
    /// A blank or the end of the line: what follows was added by somebody.
    Word,
    /// A byte.
    Byte(u8),
    /// Several bytes.
    Text(Box<Finder<'static>>),
}

/// A part of a format string.
enum Part {
    Field(Field),
    Text(Vec<u8>),
}

impl Pattern {
    /// Compiles a format string.
    ///
    /// # Errors
    /// Where it is none, or its lines could not be taken apart.
    pub fn compile(format: &str) -> Result<Pattern, PatternError> {
        let is_nginx = format
            .match_indices('$')
            .any(|(at, _)| format[at + 1..].starts_with(|letter: char| letter == '{' || letter.is_ascii_lowercase()));
        let parts = if is_nginx { of_nginx(format)? } else { of_apache(format)? };
        let useful = |part: &Part| matches!(part, Part::Field(field) if *field != Field::Other);
        if !parts.iter().any(|part| matches!(part, Part::Field(_))) {
            return Err(PatternError::NoFields);
        }
        if !parts.iter().any(useful) {
            return Err(PatternError::NothingUseful);
        }
        assemble(parts)
    }

    /// Takes a line apart; none where it is of another format. What follows the last field is ignored.
    pub fn parse<'l>(&self, line: &'l [u8]) -> Option<Entry<'l>> {
        let mut rest = line.strip_prefix(&self.prefix[..])?;
        let mut entry = Entry::default();
        for step in &self.steps {
            let (value, after) = step.end.divide(rest)?;
            entry.take(step.field, value)?;
            rest = after;
        }
        Some(entry)
    }
}

impl End {
    fn divide<'l>(&self, rest: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
        match self {
            End::Line => Some((rest, &[])),
            End::Word => {
                let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
                Some((&rest[..end], &rest[end..]))
            }
            End::Byte(b'"') => {
                let end = memchr::memchr_iter(b'"', rest).find(|at| !is_escaped(rest, *at))?;
                Some((&rest[..end], &rest[end + 1..]))
            }
            End::Byte(byte) => {
                let end = memchr::memchr(*byte, rest)?;
                Some((&rest[..end], &rest[end + 1..]))
            }
            End::Text(finder) => {
                let length = finder.needle().len();
                let is_quote = finder.needle()[0] == b'"';
                let mut from = 0;
                loop {
                    let end = from + finder.find(&rest[from..])?;
                    if !is_quote || !is_escaped(rest, end) {
                        return Some((&rest[..end], &rest[end + length..]));
                    }
                    from = end + 1;
                }
            }
        }
    }
}

/// Whether a quotation mark stands for itself: an odd number of backslashes before it, as Apache writes it.
fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn assemble(parts: Vec<Part>) -> Result<Pattern, PatternError> {
    let mut pattern = Pattern { prefix: Vec::new(), steps: Vec::new() };
    let mut open: Option<Field> = None;
    let mut before = Vec::new();
    for part in parts {
        match (part, open) {
            (Part::Text(text), None) => {
                pattern.prefix.extend_from_slice(&text);
                before = text;
            }
            (Part::Text(text), Some(field)) => {
                let end = if let [byte] = text[..] {
                    End::Byte(byte)
                } else {
                    End::Text(Box::new(Finder::new(&text).into_owned()))
                };
                pattern.steps.push(Step { field, end });
                open = None;
                before = text;
            }
            (Part::Field(field), None) => open = Some(field),
            // %U%q: what follows the target's path is its query, and stands in no other place.
            (Part::Field(Field::Other), Some(Field::Target)) => {}
            (Part::Field(_), Some(_)) => {
                return Err(PatternError::NothingBetween(String::from_utf8_lossy(&before).into_owned()));
            }
        }
    }
    if let Some(field) = open {
        let is_word = !matches!(field, Field::Agent | Field::Request | Field::Other | Field::Time);
        pattern.steps.push(Step { field, end: if is_word { End::Word } else { End::Line } });
    }
    Ok(pattern)
}

fn of_nginx(format: &str) -> Result<Vec<Part>, PatternError> {
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('$') {
        push_text(&mut parts, &rest.as_bytes()[..at]);
        let after = &rest[at + 1..];
        let (name, behind) = if let Some(braced) = after.strip_prefix('{') {
            braced.split_once('}').ok_or_else(|| PatternError::Unfinished(rest[at..].into()))?
        } else {
            let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            after.split_at(end.unwrap_or(after.len()))
        };
        parts.push(Part::Field(names::of_nginx(name)));
        rest = behind;
    }
    push_text(&mut parts, rest.as_bytes());
    Ok(parts)
}

fn of_apache(format: &str) -> Result<Vec<Part>, PatternError> {
    let mut parts = Vec::new();
    let mut letters = format.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            // As in httpd.conf: \" and \\, \t and \n.
            '\\' => match letters.next() {
                Some('t') => text.push('\t'),
                Some('n') | None => {}
                Some(other) => text.push(other),
            },
            '%' => {
                let whole = letters.as_str().to_string();
                let directive = directive(&mut letters).ok_or_else(|| PatternError::Unfinished(format!("%{whole}")))?;
                let Some((name, letter)) = directive else {
                    text.push('%');
                    continue;
                };
                // Apache writes the brackets itself.
                let is_bracketed = letter == 't' && name.is_empty();
                text.push_str(if is_bracketed { "[" } else { "" });
                push_text(&mut parts, text.as_bytes());
                text = if is_bracketed { "]".into() } else { String::new() };
                parts.push(Part::Field(names::of_apache(&name, letter)));
            }
            other => text.push(other),
        }
    }
    push_text(&mut parts, text.as_bytes());
    Ok(parts)
}

/// What follows a `%`: the name in braces and the letter; none inside for a percent sign.
#[expect(clippy::option_option, reason = "a sign of its own is something else than an end too early")]
fn directive(letters: &mut std::str::Chars) -> Option<Option<(String, char)>> {
    let mut name = String::new();
    loop {
        match letters.next()? {
            '%' => return Some(None),
            // Only for these answers, the first or the last of an internal redirect.
            '!' | ',' | '<' | '>' | '0'..='9' => {}
            '{' => name = letters.by_ref().take_while(|letter| *letter != '}').collect(),
            '^' => {
                // ^ti and ^to have two letters.
                letters.nth(1)?;
                return Some(Some((name, '^')));
            }
            letter => return Some(Some((name, letter))),
        }
    }
}

/// Text after text is one.
fn push_text(parts: &mut Vec<Part>, text: &[u8]) {
    if text.is_empty() {
        return;
    }
    match parts.last_mut() {
        Some(Part::Text(before)) => before.extend_from_slice(text),
        _ => parts.push(Part::Text(text.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APACHE: &str = r#"%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\" %D"#;
    const NGINX: &str =
        r#"${remote_addr} [$time_iso8601] "$request" $status/$bytes_sent "$http_user_agent" rt=$request_time"#;

    #[test]
    fn apaches_format_string_takes_its_lines_apart() {
        let pattern = Pattern::compile(APACHE).unwrap();
        let line =
            br#"203.0.113.9 - ann [10/Oct/2000:13:55:36 -0700] "GET /a?b=1 HTTP/1.1" 200 2326 "-" "say \"hi\"" 1500"#;
        let entry = pattern.parse(line).unwrap();
        assert_eq!(
            (entry.client, entry.target, entry.agent),
            (&b"203.0.113.9"[..], &b"/a?b=1"[..], &br#"say \"hi\""#[..])
        );
        assert_eq!((entry.status, entry.bytes, entry.took_ns), (200, 2_326, Some(1_500_000)));
        assert_eq!(entry.time, Some(971_211_336));
    }

    #[test]
    fn nginxs_format_string_takes_its_lines_apart() {
        let pattern = Pattern::compile(NGINX).unwrap();
        let line = br#"2001:db8::1 [2000-10-10T20:55:36+00:00] "GET / HTTP/2.0" 304/190 "curl/8.1" rt=0.250"#;
        let entry = pattern.parse(line).unwrap();
        assert_eq!((entry.client, entry.status, entry.bytes), (&b"2001:db8::1"[..], 304, 190));
        assert_eq!(entry.took_ns, Some(250_000_000));
        assert_eq!(pattern.parse(b"something else"), None);
        assert_eq!(pattern.parse(&line[..60]), None);
    }

    #[test]
    fn formats_that_cannot_be_used_say_why() {
        let why = |format: &str| Pattern::compile(format).unwrap_err();
        assert_eq!(why("combined log"), PatternError::NoFields);
        assert_eq!(why("$remote_addr$status"), PatternError::NothingBetween(String::new()));
        assert_eq!(why("%{Referer"), PatternError::Unfinished("%{Referer".into()));
        assert_eq!(why("$server_name $pid"), PatternError::NothingUseful);
        assert!(Pattern::compile("%h %t %m %U%q %>s").is_ok());
    }
}
