//! Strings from outside made harmless, and sentences made to fit.

/// A string from the subject with everything that could steer a terminal made visible: control characters (escape
/// sequences begin with one) and marks that turn the direction of writing become `\u{fffd}`.
pub fn clean(text: &str) -> String {
    text.chars().map(|letter| if steers(letter) { char::REPLACEMENT_CHARACTER } else { letter }).collect()
}

/// Whether a character acts on the terminal or on its neighbours instead of being shown.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Units that stay on the line of their number.
const UNITS: [&str; 9] = ["%", "ns", "us", "ms", "s", "B", "kB", "MB", "GB"];

/// Text broken at blanks into lines of at most `columns`, each after `indent`, the first after `first` instead. A word
/// that is longer than a line stays whole, so that it can be copied, and so does a number with its unit.
pub fn wrap(text: &str, columns: usize, first: &str, indent: &str) -> String {
    let mut done = String::new();
    let mut line = first.to_string();
    let mut gap = "";
    for word in unbroken(text) {
        if !gap.is_empty() && line.chars().count() + 1 + word.chars().count() > columns {
            done += &line;
            done.push('\n');
            line = indent.to_string();
            gap = "";
        }
        line += gap;
        line += &word;
        gap = " ";
    }
    done + &line + "\n"
}

/// What of a text stays on one line: its words, numbers with their units.
fn unbroken(text: &str) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_unit = UNITS.contains(&word.trim_end_matches(|letter: char| ",.;:)".contains(letter)));
        match whole.last_mut().filter(|before| is_unit && before.ends_with(|letter: char| letter.is_ascii_digit())) {
            Some(number) => *number += &format!(" {word}"),
            None => whole.push(word.to_string()),
        }
    }
    whole
}

/// A name cut to at most `columns`, so that a table keeps its shape.
pub(crate) fn shorten(name: &str, columns: usize) -> String {
    if name.chars().count() <= columns {
        return name.to_string();
    }
    name.chars().take(columns.saturating_sub(3)).chain("...".chars()).collect()
}

/// A sentence's first letter as a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Words in a list, the last after an 'and'.
pub(crate) fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A count with its thousands set apart: `3,204`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// A count with its noun, in the plural where it is not one.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_made_visible() {
        assert_eq!(clean("a\u{1b}[31mb\u{9b}2Jc\u{7}\r\nd\u{202e}e"), "a�[31mb�2Jc���d�e");
        assert_eq!(clean("/tmp/naïve 名.py"), "/tmp/naïve 名.py");
    }

    #[test]
    fn lines_break_at_blanks_and_long_words_stay_whole() {
        assert_eq!(wrap("one two three", 9, "> ", "  "), "> one two\n  three\n");
        assert_eq!(wrap("a /a/very/long/path b", 8, "", ""), "a\n/a/very/long/path\nb\n");
        assert_eq!(wrap("burns 15 %, in 3 ms of 7 runs", 8, "", ""), "burns\n15 %, in\n3 ms of\n7 runs\n");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(counted(1_203_204, "event"), "1,203,204 events");
        assert_eq!(counted(1, "event"), "1 event");
    }
}
