//! What an answer holds, by JSON pointers: values, bounds of figures, and names that occur.

use super::declaration::Variant;
use serde_json::Value;

/// Whether it holds, and what was seen.
pub type Said = (bool, String);

/// All that a variant declares of an answer.
pub fn all(variant: &Variant, document: &Value) -> Vec<Said> {
    let at = |pointer: &str| document.pointer(pointer).unwrap_or(&Value::Null);
    let values = variant.says.iter().map(|(pointer, wanted)| is(pointer, wanted, at(pointer)));
    let least = variant.at_least.iter().map(|(pointer, bound)| {
        bounded(pointer, at(pointer), &format!("less than {bound}"), |figure| figure >= *bound)
    });
    let most = variant.at_most.iter().map(|(pointer, bound)| {
        bounded(pointer, at(pointer), &format!("more than {bound}"), |figure| figure <= *bound)
    });
    let names = variant.mentions.iter().map(|(pointer, words)| mentioned(pointer, words, at(pointer)));
    values.chain(least).chain(most).chain(names).collect()
}

/// A value; of a list, the order is of no account.
fn is(pointer: &str, wanted: &toml::Value, found: &Value) -> Said {
    let wanted = serde_json::to_value(wanted).unwrap_or_default();
    let holds = in_order(&wanted) == in_order(found);
    let but = if holds { String::new() } else { format!(", not {wanted}") };
    (holds, format!("{}: {found}{but}", in_words(pointer)))
}

fn in_order(value: &Value) -> Value {
    let Value::Array(items) = value else { return value.clone() };
    let mut items = items.clone();
    items.sort_by_key(ToString::to_string);
    Value::Array(items)
}

/// A figure within a bound.
fn bounded(pointer: &str, found: &Value, otherwise: &str, is_within: impl Fn(f64) -> bool) -> Said {
    let holds = found.as_f64().is_some_and(is_within);
    let shown = match found.as_f64() {
        Some(figure) if figure.fract() != 0.0 => format!("{figure:.2}"),
        _ => found.to_string(),
    };
    let but = if holds { String::new() } else { format!(", {otherwise}") };
    (holds, format!("{}: {shown}{but}", in_words(pointer)))
}

/// Names that occur in the texts below a pointer.
fn mentioned(pointer: &str, words: &[String], found: &Value) -> Said {
    let mut texts = Vec::new();
    gather(found, &mut texts);
    let missing = words.iter().filter(|word| !texts.iter().any(|text| text.contains(word.as_str())));
    let missing = missing.map(String::as_str).collect::<Vec<_>>();
    let name = in_words(pointer);
    if missing.is_empty() {
        (true, format!("{name}: {}", words.join(", ")))
    } else {
        (false, format!("{name}: no {} in it", missing.join(", no ")))
    }
}

fn gather<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, texts)),
        _ => {}
    }
}

/// A pointer as people read it.
fn in_words(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace(['/', '_'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_hold_in_any_order_and_with_nothing_besides() {
        let wanted = toml::Value::from(vec!["curl", "openssl"]);
        assert_eq!(
            is("/a/cure", &wanted, &json!(["openssl", "curl"])),
            (true, "a cure: [\"openssl\",\"curl\"]".to_string())
        );
        for other in [json!(["openssl"]), json!(["curl", "openssl", "zlib"]), json!("curl"), Value::Null] {
            assert!(!is("/a", &wanted, &other).0, "{other}");
        }
    }

    #[test]
    fn figures_keep_within_bounds_and_what_is_no_figure_does_not() {
        let at_least = |found: Value| bounded("/gain/ratio", &found, "less than 3", |figure| figure >= 3.0);
        assert_eq!(at_least(json!(5.125)), (true, "gain ratio: 5.12".to_string()));
        assert_eq!(at_least(json!(2)), (false, "gain ratio: 2, less than 3".to_string()));
        assert!(!at_least(Value::Null).0 && !at_least(json!("5")).0);
    }

    #[test]
    fn names_are_looked_for_in_all_texts_below() {
        let chain = json!([{ "name": "SSL_CTX_new_ex", "share": 0.5 }, { "name": "ossl_sa_doall_arg" }]);
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(mentioned("/chain", &words(&["SSL_CTX_new", "sa_doall"]), &chain).0);
        let (holds, seen) = mentioned("/chain", &words(&["SSL_CTX_new", "memcpy"]), &chain);
        assert_eq!((holds, seen.as_str()), (false, "chain: no memcpy in it"));
    }
}
