//! A command as one would type it, safe to show.

use crate::text::{clean, shorten};

/// A longer command fills the screen before the answer comes; the case has all of it.
const MOST_COLUMNS: usize = 300;

/// A command's words, those with blanks or signs that a shell would act on in quotes.
pub(crate) fn command(words: &[String]) -> String {
    let typed = words.iter().map(|word| quoted(&clean(word))).collect::<Vec<_>>().join(" ");
    shorten(&typed, MOST_COLUMNS)
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./:=,+@%{}".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_act_on_are_quoted() {
        let words = ["sh", "-c", "echo it's; ls", "{size}", ""].map(String::from);
        assert_eq!(command(&words), r"sh -c 'echo it'\''s; ls' {size} ''");
    }
}
