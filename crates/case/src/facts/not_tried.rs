//! What was not tried, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that was not tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written")]
pub struct NotTried {
    /// Why.
    pub why: WhyNot,
    /// The identifier of the finding that it would have been tried for; empty if it concerns no single one.
    pub finding: String,
    /// The intervention or the arm; empty if it concerns no single one.
    pub intervention: String,
    /// All of it in a sentence, with what is particular to this run.
    pub sentence: String,
}

/// Why something was not tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNot {
    /// The program cannot be run again here, or not with this intervention.
    NotHere,
    /// There is no known way to switch the cause off from outside.
    NothingKnown,
    /// The budget has no room for it.
    Budget,
    /// Ctrl-C or a signal ended the trials.
    Interrupted,
    /// Even without an intervention, the program does not do what it did when it was recorded.
    NotRepeatable,
    /// Only the sentence is known.
    #[default]
    #[serde(other)]
    Other,
}

/// The same as files have it: older ones have only the sentence.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Sentence(String),
    Typed { why: WhyNot, finding: String, intervention: String, sentence: String },
}

impl From<Written> for NotTried {
    fn from(written: Written) -> NotTried {
        match written {
            Written::Sentence(sentence) => NotTried { sentence, ..NotTried::default() },
            Written::Typed { why, finding, intervention, sentence } => {
                NotTried { why, finding, intervention, sentence }
            }
        }
    }
}

impl NotTried {
    /// Of no single finding or intervention.
    pub fn of_all(why: WhyNot, sentence: impl Into<String>) -> NotTried {
        NotTried { why, sentence: sentence.into(), ..NotTried::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_only_sentences_is_read() {
        let read = serde_json::from_str::<Vec<NotTried>>(
            r#"["the rest: no time", {"why": "budget", "finding": "P01",
            "intervention": "tcp-nodelay", "sentence": "a trial takes 3 s"}]"#,
        );
        let [old, new] = &read.expect("both")[..] else { panic!("two") };
        assert_eq!((old.why, old.sentence.as_str()), (WhyNot::Other, "the rest: no time"));
        assert_eq!((new.why, new.finding.as_str()), (WhyNot::Budget, "P01"));
    }
}
