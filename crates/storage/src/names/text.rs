//! Sentences and documents in which names stand that were seen elsewhere: what a trial complained of, what was not tried and why.

use super::{NameKind, Pseudonyms};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::net::IpAddr;

/// Shorter words are in sentences of ours.
const SHORTEST: usize = 3;
/// Words of our own sentences that programs and arguments are called, too.
const OURS: [&str; 16] = [
    "and", "are", "client", "for", "host", "name", "not", "plain", "program", "request", "requests", "run", "server",
    "the", "time", "was",
];

/// Fields of documents that hold words of ours: a dose, `1 certificate`, is one.
const OWN_FIELDS: [&str; 6] = ["arm", "dose", "intervention", "interventions", "reference", "upon"];

/// Fields that hold the words of a command, or what was changed for it.
const COMMANDS: [&str; 3] = ["command", "server", "changes"];

impl Pseudonyms {
    /// Names that were replaced before are replaced here; so is whatever is a path, an address or a URL.
    pub(super) fn sentence(&self, sentence: &str) -> String {
        let belongs = |letter: char| letter.is_alphanumeric() || "._-/:@%+~?&=[]*".contains(letter);
        let mut shown = String::with_capacity(sentence.len());
        let mut rest = sentence;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|letter| belongs(letter) != belongs(first)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            shown += &if belongs(first) { self.run(run) } else { run.to_string() };
            rest = after;
        }
        shown
    }

    /// A run of letters without a blank, perhaps with a stop behind it.
    fn run(&self, run: &str) -> String {
        let word = run.trim_end_matches(['.', ':', '?']);
        let stop = &run[word.len()..];
        if let Some(known) = self.if_known(word) {
            return known + stop;
        }
        if word.contains("://") {
            return self.argument(word) + stop;
        }
        if word.parse::<IpAddr>().is_ok() {
            return self.host(word) + stop;
        }
        // A file and its line, a host and its port, a variable and its value.
        if let Some(at) = word.find([':', '=']) {
            let (name, rest) = word.split_at(at);
            return format!("{}{}{}{stop}", self.run(name), &rest[..1], self.run(&rest[1..]));
        }
        if word.starts_with('/') && word.len() > 1 {
            return self.path(word) + stop;
        }
        match word.rsplit_once('/') {
            // An address and its port, as rules of firewalls have them.
            Some((address, port)) if address.parse::<IpAddr>().is_ok() => {
                format!("{}/{port}{stop}", self.host(address))
            }
            Some(_) => word.split('/').map(|part| self.run(part)).collect::<Vec<_>>().join("/") + stop,
            None => run.to_string(),
        }
    }

    fn if_known(&self, word: &str) -> Option<String> {
        if word.len() < SHORTEST || OURS.contains(&word) {
            return None;
        }
        self.known().whole.get(word).cloned()
    }

    /// One word of a command in a document.
    fn document_word(&self, word: &mut Value) {
        match word {
            Value::String(text) => *text = self.argument(text),
            other => self.document(other),
        }
    }

    /// The same document without names.
    pub fn without_names<T: Serialize + DeserializeOwned + Default>(&self, document: &T) -> T {
        // Should it not come back from its own form, nothing of it is shown.
        let written = serde_json::to_value(document).map(|mut value| {
            self.document(&mut value);
            value.to_string()
        });
        // By way of text, as documents are read anyway: to read all their types from a second form as well takes long to build.
        written.and_then(|text| serde_json::from_str(&text)).unwrap_or_default()
    }

    /// Replaces names in a document: where fields hold names, by the fields; and in all sentences.
    pub(crate) fn document(&self, document: &mut Value) {
        match document {
            Value::Array(all) => all.iter_mut().for_each(|one| self.document(one)),
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut().filter(|(name, _)| !OWN_FIELDS.contains(&name.as_str())) {
                    let kind = match name.as_str() {
                        "module" | "file" | "executable" | "path" => Some(NameKind::File),
                        "host" => Some(NameKind::Host),
                        "program" => Some(NameKind::Program),
                        _ => None,
                    };
                    match (kind, value) {
                        (Some(kind), Value::String(text)) => self.replace(kind, text),
                        (_, Value::Array(words)) if COMMANDS.contains(&name.as_str()) => {
                            for word in words {
                                self.document_word(word);
                            }
                        }
                        (_, value) => self.document(value),
                    }
                }
            }
            // What is one word is one of ours, unless it can be nothing but a path or an address.
            Value::String(text) if text.contains([' ', '/', ':']) => *text = self.sentence(text),
            _ => {}
        }
    }
}
