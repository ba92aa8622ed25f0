//! Whether programs wrote the same.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether two runs, or two programs, wrote the same output. In JSON one string: `same`, `same but for figures`,
/// `different`, or why it was not compared; empty if nothing was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Sameness {
    /// Nothing was run.
    #[default]
    NothingRun,
    /// To the letter.
    Same,
    /// The words are the same, and figures differ.
    SameButForFigures,
    /// Words differ.
    Different,
    /// It was not compared, and why.
    NotCompared(String),
}

const SAME: &str = "same";
const SAME_BUT_FOR_FIGURES: &str = "same but for figures";
const DIFFERENT: &str = "different";

impl From<String> for Sameness {
    fn from(written: String) -> Sameness {
        match written.as_str() {
            "" => Sameness::NothingRun,
            SAME => Sameness::Same,
            SAME_BUT_FOR_FIGURES => Sameness::SameButForFigures,
            DIFFERENT => Sameness::Different,
            _ => Sameness::NotCompared(written),
        }
    }
}

impl From<&str> for Sameness {
    fn from(written: &str) -> Sameness {
        written.to_string().into()
    }
}

impl From<Sameness> for String {
    fn from(sameness: Sameness) -> String {
        match sameness {
            Sameness::NothingRun => String::new(),
            Sameness::Same => SAME.to_string(),
            Sameness::SameButForFigures => SAME_BUT_FOR_FIGURES.to_string(),
            Sameness::Different => DIFFERENT.to_string(),
            Sameness::NotCompared(why) => why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_string_in_json_as_it_always_was() {
        for written in ["", "same", "same but for figures", "different", "--check-output never"] {
            let json = serde_json::to_string(&Sameness::from(written)).expect("JSON");
            assert_eq!(json, format!("\"{written}\""));
            assert_eq!(serde_json::from_str::<Sameness>(&json).expect("sameness"), written.into());
        }
        assert_eq!(Sameness::from("A was measured earlier"), Sameness::NotCompared("A was measured earlier".into()));
    }
}
