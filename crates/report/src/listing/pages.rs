//! Pages of explanation, filled to a terminal's width, and the list of them.

use super::COLUMNS;
use crate::text::wrap;

/// Where the sentences of the list begin.
const SENTENCE_COLUMN: usize = 30;

/// A page in the list: its identifier, where it has one, its name, and a sentence.
pub fn page_entry(id: &str, name: &str, sentence: &str) -> String {
    wrap(sentence, COLUMNS, &format!("{id:<5}{name:<24} "), &" ".repeat(SENTENCE_COLUMN))
}

/// A page's text in lines that fit a terminal: paragraphs are filled anew, headings and what is indented stay.
pub fn page_text(page: &str) -> String {
    let mut text = String::new();
    let mut paragraph = String::new();
    for line in page.lines().chain([""]) {
        let is_prose = !line.is_empty() && !line.starts_with(['#', ' ', '|']);
        if is_prose && !line.starts_with("- ") {
            paragraph = paragraph + line + " ";
            continue;
        }
        text += &filled(&paragraph);
        paragraph.clear();
        match line {
            bullet if is_prose => paragraph = format!("{bullet} "),
            _ => text = text + line + "\n",
        }
    }
    text.trim_end().to_string() + "\n"
}

/// A paragraph in lines; the lines of an item stand below its words.
fn filled(paragraph: &str) -> String {
    match paragraph.strip_prefix("- ") {
        _ if paragraph.is_empty() => String::new(),
        Some(words) => item(words),
        None => wrap(paragraph, COLUMNS, "", ""),
    }
}

fn item(words: &str) -> String {
    wrap(words, COLUMNS, "- ", "  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_filled_and_headings_items_and_code_stay() {
        let text = page_text("# a\n\nOne\ntwo.\n- first\n  more\n- second\n\n    code   here\n");
        assert_eq!(text, "# a\n\nOne two.\n- first\n  more\n- second\n\n    code   here\n");
    }
}
