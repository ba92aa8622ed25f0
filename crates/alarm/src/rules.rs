//! The file of rules.
//!
//! ```toml
//! [[rule]]
//! name = "dear requests"
//! when = "CPU per request changed"
//! service = "gopher*"            # all, where it is not said
//! to = ["team"]                  # all channels, where it is not said
//!
//! [[channel]]
//! name = "team"
//! slack = { env = "SLACK_URL" }
//! ```

use crate::channel::{Channel, Typed};
use crate::condition::Condition;
use crate::error::RulesError;
use serde::Deserialize;
use std::path::Path;

/// Larger than any file of rules that people write.
const LARGEST: u64 = 1 << 20;

/// Rules and channels.
#[derive(Debug)]
pub struct Rules {
    pub(crate) rules: Vec<Rule>,
    pub(crate) channels: Vec<Channel>,
}

/// One rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub name: String,
    pub when: Condition,
    /// As it was typed.
    pub words: String,
    /// Which services: `*` stands for anything.
    pub service: String,
    /// The places of its channels.
    pub to: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<TypedRule>,
    #[serde(default)]
    channel: Vec<Typed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedRule {
    name: Option<String>,
    when: String,
    /// Of a log it is the agent's name.
    #[serde(alias = "agent")]
    service: Option<String>,
    to: Option<Vec<String>>,
}

impl Rules {
    /// Reads a file, and the secrets that it names.
    ///
    /// # Errors
    /// Where it cannot be read, or anything in it is not understood.
    pub fn read(path: &Path) -> Result<Rules, RulesError> {
        let file = || path.to_path_buf();
        let unread = |error| RulesError::Unread { file: file(), error };
        if path.metadata().map_err(unread)?.len() > LARGEST {
            return Err(RulesError::Invalid { file: file(), why: "it is too large for a file of rules".into() });
        }
        let text = std::fs::read_to_string(path).map_err(unread)?;
        Rules::parse(&text).map_err(|why| RulesError::Invalid { file: file(), why })
    }

    /// Reads a file of rules about a log, in which agents are what services are elsewhere.
    ///
    /// # Errors
    /// As [`Rules::read`], and where a rule asks what a log does not say.
    pub fn read_for_log(path: &Path) -> Result<Rules, RulesError> {
        let rules = Rules::read(path)?;
        rules.of_log().map_err(|why| RulesError::Invalid { file: path.to_path_buf(), why })
    }

    fn of_log(mut self) -> Result<Rules, String> {
        for rule in &mut self.rules {
            let refused = || {
                let asked = "share, requests, answer-time and failures can be asked of a log";
                format!("`{}` is not said in a log: {asked}", rule.words)
            };
            rule.when = rule.when.of_log().ok_or_else(refused)?;
        }
        Ok(self)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// In words, without secrets.
    pub fn parse(text: &str) -> Result<Rules, String> {
        let file: File = toml::from_str(text).map_err(|error| said(&error, text))?;
        let channels = file.channel.into_iter().map(Typed::channel).collect::<Result<Vec<_>, _>>()?;
        let rules = file.rule.into_iter().map(|rule| read_rule(rule, &channels)).collect::<Result<Vec<_>, _>>()?;
        if rules.is_empty() || channels.is_empty() {
            return Err("it needs a [[rule]] and a [[channel]]".into());
        }
        let names = rules.iter().map(|rule| &rule.name).collect::<std::collections::BTreeSet<_>>();
        if names.len() < rules.len() {
            return Err("two rules have the same name".into());
        }
        Ok(Rules { rules, channels })
    }
}

/// What is wrong, and in which line. What stands there in the place of something else is not repeated: it may be a secret.
fn said(error: &toml::de::Error, text: &str) -> String {
    let line =
        error.span().map_or(0, |span| text.get(..span.start).map_or(0, |before| before.matches('\n').count())) + 1;
    let message = error.message();
    let repeats = ["invalid type", "invalid value", "unknown variant"].iter().any(|what| message.contains(what));
    let why = if repeats {
        "a value of another form is wanted; a secret is { env = \"NAME\" } or { file = \"PATH\" }"
    } else {
        message
    };
    format!("line {line}: {why}")
}

fn read_rule(typed: TypedRule, channels: &[Channel]) -> Result<Rule, String> {
    let when = typed.when.parse::<Condition>()?;
    let place = |name: &String| {
        channels.iter().position(|channel| channel.name == *name).ok_or_else(|| format!("there is no channel `{name}`"))
    };
    let to = match &typed.to {
        Some(names) => names.iter().map(place).collect::<Result<_, _>>()?,
        None => (0..channels.len()).collect(),
    };
    let name = typed.name.unwrap_or_else(|| typed.when.clone());
    Ok(Rule { name, when, words: typed.when, service: typed.service.unwrap_or_else(|| "*".into()), to })
}

impl Rule {
    /// Whether it asks about a service.
    pub fn is_about(&self, service: &str) -> bool {
        matches(&self.service, service)
    }
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(first) else { return false };
    (0..=name.len()).filter(|at| name.is_char_boundary(*at)).any(|at| matches(rest, &name[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches("*", "nginx") && matches("ng*x", "nginx") && matches("nginx", "nginx"));
        assert!(!matches("ng*y", "nginx") && !matches("nginx", "nginx2"));
    }

    #[test]
    fn what_a_log_does_not_say_is_refused() {
        let channel = "[[channel]]\nname = 'a'\nwebhook = { url = 'http://127.0.0.1:9/' }\n";
        let of_log = |when: &str| {
            let text = format!("[[rule]]\nwhen = '{when}'\nagent = '*Bot'\n{channel}");
            Rules::parse(&text).and_then(Rules::of_log).map(|rules| rules.rules[0].when.clone())
        };
        let share = of_log("share > 30 % for 10 min").expect("a share of requests");
        assert!(matches!(share, Condition::Limit { figure: crate::condition::Figure::ShareOfRequests, .. }));
        for when in ["cpu > 30 %", "memory > 1 GB", "gone for 1 min", "finding any", "cpu changed"] {
            assert!(of_log(when).is_err_and(|why| why.contains("is not said in a log")), "{when}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let channel = "[[channel]]\nname = 'a'\nwebhook = { url = 'http://127.0.0.1:9/' }\n";
        assert!(Rules::parse(&format!("[[rule]]\nwhen = 'cpu > 30 %'\n{channel}")).is_ok());
        for (text, word) in [
            ("[[rule]]\nwhen = 'cpu > 30 %'\n".to_string(), "[[channel]]"),
            (format!("[[rule]]\nwhen = 'cpu > 30 %'\nto = ['b']\n{channel}"), "`b`"),
            (format!("[[rule]]\nwhen = 'x > 30 %'\n{channel}"), "`x`"),
            (format!("[[rule]]\nwhen = 'cpu > 30 %'\nwhat = 1\n{channel}"), "what"),
            ("[[channel]]\nname = 'a'\n".to_string(), "slack"),
            ("[[channel]]\nname = 'a'\nslack = { env = 'WHYSLOW_NO_SUCH' }\n".to_string(), "WHYSLOW_NO_SUCH"),
            ("[[channel]]\nname = 'a'\nslack = 'https://hooks.example/secret'\n".to_string(), "env"),
            ("[[channel]]\nname = 'a'\nwebhook = 'https://hooks.example/secret'\n".to_string(), "line 3"),
        ] {
            let why = Rules::parse(&text).expect_err("wrong");
            assert!(why.contains(word) && !why.contains("hooks.example"), "{text}: {why}");
        }
    }
}
