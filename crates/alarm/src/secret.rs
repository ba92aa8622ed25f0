//! A secret: named by the variable or the file that holds it, read when rules are, never shown.

use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;

/// Where a secret is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum From {
    /// In a variable of the environment.
    Env(String),
    /// In a file: its first line.
    File(PathBuf),
}

/// A secret's text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl From {
    /// Reads it.
    ///
    /// # Errors
    /// Where it is not there, or empty; in words without it.
    pub fn read(&self) -> Result<Secret, String> {
        let text = match self {
            From::Env(name) => {
                std::env::var(name).map_err(|_| format!("the variable {name}, which holds a secret, is not set"))?
            }
            From::File(path) => {
                let text = std::fs::read_to_string(path);
                text.map_err(|error| format!("{}, which holds a secret: {error}", path.display()))?
            }
        };
        match text.lines().next().map(str::trim) {
            Some(line) if !line.is_empty() => Ok(Secret(line.to_string())),
            _ => Err(match self {
                From::Env(name) => format!("the variable {name}, which holds a secret, is empty"),
                From::File(path) => format!("{}, which holds a secret, is empty", path.display()),
            }),
        }
    }
}

impl Secret {
    /// One that stands in the rules themselves, and is none.
    pub fn open(text: &str) -> Secret {
        Secret(text.to_string())
    }

    /// The text, for who sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_from_a_file_and_never_shown() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(&file, "hunter2\n").expect("written");
        let secret = From::File(file.path().to_path_buf()).read().expect("a secret");
        assert_eq!((secret.expose(), format!("{secret:?}").as_str()), ("hunter2", "(secret)"));
        std::fs::write(&file, "\n").expect("written");
        assert!(From::File(file.path().to_path_buf()).read().is_err());
        assert!(From::Env("WHYSLOW_NO_SUCH_VARIABLE".into()).read().is_err());
    }
}
