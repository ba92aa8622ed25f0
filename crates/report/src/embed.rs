//! Data for scripts: JSON in an element that the browser does not execute, with everything escaped that could end it.

use serde::Serialize;

/// An element that holds data for a script, to be read with `JSON.parse(document.getElementById(id).textContent)`. The
/// id is ours, never from outside.
pub(super) fn data<T: Serialize>(id: &str, value: &T) -> String {
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_string());
    format!("<script type=\"application/json\" id=\"{id}\">{}</script>\n", harmless(&json))
}

/// JSON in which no character means anything to HTML; a string stays the same string.
fn harmless(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe += &format!("\\u{:04x}", letter as u32);
            }
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element_and_the_string_stays_the_same() {
        let hostile = "</script><script>alert(1)</script>&\u{2028}";
        let element = data("names", &vec![hostile]);
        assert_eq!(element.matches('<').count(), 2);
        let inner = element.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</script>")).expect("an element").0;
        assert_eq!(serde_json::from_str::<Vec<String>>(inner).expect("JSON"), [hostile]);
    }
}
