//! Outside strings made harmless in Markdown: no markup, no HTML, no links, no broken tables.

use crate::text::clean;

/// Text that may begin a line, with everything escaped that Markdown, or HTML in it, would act on.
pub(super) fn escape(text: &str) -> String {
    let escaped = cell(text);
    let number = escaped.chars().take_while(char::is_ascii_digit).count();
    let rest = &escaped[number..];
    match rest.chars().next() {
        // A list, a rule, or what underlines a heading.
        Some('-' | '+' | '=') if number == 0 => format!("\\{escaped}"),
        // A numbered list.
        Some('.' | ')') if number > 0 && rest[1..].trim_start() != &rest[1..] => {
            format!("{}\\{rest}", &escaped[..number])
        }
        _ => escaped,
    }
}

/// The same for text that begins no line: in a table, say.
pub(super) fn cell(text: &str) -> String {
    let letters = clean(text).chars().collect::<Vec<_>>();
    let mut escaped = String::with_capacity(text.len() + 8);
    for (place, letter) in letters.iter().copied().enumerate() {
        let before = place.checked_sub(1).and_then(|before| letters.get(before)).copied();
        let after = letters.get(place + 1).copied();
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            _ if acts(letter, before, after) => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Whether a letter would be markup where it stands.
fn acts(letter: char, before: Option<char>, after: Option<char>) -> bool {
    let inside_word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    match letter {
        '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '#' | '$' | '@' => true,
        // Within a word it stands for itself.
        '_' => !(inside_word(before) && inside_word(after)),
        // An image, and an address that would become a link.
        '!' => after == Some('['),
        ':' => after == Some('/'),
        '.' => before.is_some_and(|before| before.eq_ignore_ascii_case(&'w')),
        _ => false,
    }
}

/// Text as code: as it is, in a fence that nothing in it can close.
pub(super) mod code {
    use crate::text::clean;

    /// Within a line. Not for tables, whose bars would be read first.
    pub(in super::super) fn span(text: &str) -> String {
        let text = clean(text);
        let fence = "`".repeat(longest_run(&text) + 1);
        let gap = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() { " " } else { "" };
        format!("{fence}{gap}{text}{gap}{fence}")
    }

    /// On lines of its own.
    pub(in super::super) fn block(text: &str) -> String {
        let lines = text.lines().map(clean).collect::<Vec<_>>().join("\n");
        let fence = "`".repeat((longest_run(&lines) + 1).max(3));
        format!("{fence}sh\n{lines}\n{fence}\n")
    }

    fn longest_run(text: &str) -> usize {
        text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_html_and_links_become_what_they_look_like() {
        assert_eq!(escape("<script>a & b</script>"), "&lt;script&gt;a &amp; b&lt;/script&gt;");
        assert_eq!(escape("![x](http://evil.test) www.evil.test"), "\\!\\[x\\](http\\://evil.test) www\\.evil.test");
        assert_eq!(escape("a|b `c` *d* _e_ f_g #1 @you"), "a\\|b \\`c\\` \\*d\\* \\_e\\_ f_g \\#1 \\@you");
        assert_eq!(escape("- x\n# y"), "\\- x\u{fffd}\\# y");
        assert_eq!(
            (escape("1. x"), escape("12) x"), cell("-3 ms")),
            ("1\\. x".into(), "12\\) x".into(), "-3 ms".into())
        );
    }

    #[test]
    fn code_cannot_close_its_fence() {
        assert_eq!(code::span("a `` b"), "```a `` b```");
        assert_eq!(code::span("`a`"), "`` `a` ``");
        assert_eq!(code::block("echo '```'"), "````sh\necho '```'\n````\n");
    }

    #[test]
    fn a_sentence_of_ours_stays_readable() {
        let sentence = "44.4 ms of every 45.4 ms request (95 % interval 2,120 to 2,450), TCP_NODELAY is off.";
        assert_eq!(escape(sentence), sentence);
    }
}
