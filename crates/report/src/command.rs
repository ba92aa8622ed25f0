//! A command as one would type it, safe to show.

use crate::text::{clean, shorten};

/// A longer command fills the screen before the answer comes; the case has all of it.
const MOST_COLUMNS: usize = 300;

/// A command's words, those with blanks or signs that a shell would act on in quotes.
pub(crate) fn command(words: &[String]) -> String {
    let typed = words.iter().map(|word| quoted(&clean(word))).collect::<Vec<_>>().join(" ");
    shorten(&typed, MOST_COLUMNS)
}

/// A command in full, for copying: what [`command`] would replace or cut is written so that a shell reads it back.
pub(crate) fn typed(words: &[String]) -> String {
    let word = |word: &String| if clean(word) == *word { quoted(word) } else { in_escapes(word) };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./:=,+@%{}".contains(letter);
    // Braces around a comma or a range are several words to a shell.
    let is_expanded = word.contains('{') && (word.contains(',') || word.contains(".."));
    if !word.is_empty() && word.chars().all(plain) && !is_expanded {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word with characters that cannot be shown, as bash, zsh and ksh read it: `$'a\nb'`.
fn in_escapes(word: &str) -> String {
    let letter = |letter: char| match letter {
        '\n' => r"\n".to_string(),
        '\t' => r"\t".to_string(),
        '\\' | '\'' => format!("\\{letter}"),
        letter if clean(letter.encode_utf8(&mut [0; 4])) == letter.to_string() => letter.to_string(),
        letter => format!("\\u{:04x}", u32::from(letter)),
    };
    format!("$'{}'", word.chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_act_on_are_quoted() {
        let words = ["sh", "-c", "echo it's; ls", "{size}", ""].map(String::from);
        assert_eq!(command(&words), r"sh -c 'echo it'\''s; ls' {size} ''");
        assert_eq!(command(&["{a,b}".into(), "{1..9}".into()]), "'{a,b}' '{1..9}'");
    }

    #[test]
    fn what_is_typed_is_whole_and_a_shell_reads_it_back() {
        let script = "import os\nprint('\u{1b}[31m\\\u{202e}')".to_string();
        let words = ["python3".to_string(), "-c".into(), script, "a".repeat(4_000)];
        let said = typed(&words);
        assert!(said.starts_with(r"python3 -c $'import os\nprint(\'\u001b[31m\\\u202e\')' aaa"), "{said}");
        assert!(said.len() > 4_000 && !said.contains("..."), "{said}");
        assert!(command(&words).len() < 400);
    }
}
