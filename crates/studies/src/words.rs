//! A command typed as one argument.

use std::ops::Deref;
use std::str::FromStr;

/// A command's words, split as a shell splits them: one at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl FromStr for Words {
    type Err = String;

    fn from_str(text: &str) -> Result<Words, String> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        words.map(Words).ok_or_else(|| format!("`{text}` is empty or has an unclosed quote"))
    }
}

impl Deref for Words {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_splits_it() {
        let words = "sh -c 'listen {server}:80'".parse::<Words>().expect("words");
        assert_eq!(*words, ["sh", "-c", "listen {server}:80"]);
    }

    #[test]
    fn an_open_quote_and_nothing_at_all_are_refused() {
        assert!("sh -c 'x".parse::<Words>().is_err_and(|why| why.contains("quote")));
        assert!("  ".parse::<Words>().is_err());
    }
}
