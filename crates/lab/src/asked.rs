//! An intervention as a user asks for it: by its name, with its dose or its target.

use crate::error::LabError;
use crate::interventions::{self, Intervention};
use std::str::FromStr;

/// What a name of an arm may hold besides letters and digits: it becomes a file's name, and `+` joins two.
const PLAIN: &[u8] = b"-_.,:=!@~^";

/// An intervention with its argument. As text: `tcp-nodelay`, `delayed-ack-cap=8`, `delayed-ack-cap=8ms`,
/// `switch-off=work`.
#[derive(Clone)]
pub struct Asked {
    /// The intervention.
    pub intervention: &'static Intervention,
    /// Its dose.
    pub dose: Option<f64>,
    /// Its target: a function, say.
    pub about: Option<String>,
}

impl Asked {
    /// Without a dose or a target.
    pub fn simply(intervention: &'static Intervention) -> Asked {
        Asked { intervention, dose: None, about: None }
    }

    /// A text as a part of an arm's name: what could not stand in it is written as `%` and two hexadecimal digits.
    pub(crate) fn escaped(text: &str) -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || PLAIN.contains(&byte);
        let letter = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
        text.bytes().map(letter).collect()
    }

    /// The text that was escaped so.
    pub(crate) fn unescaped(name: &str) -> String {
        let mut bytes = Vec::with_capacity(name.len());
        let mut rest = name.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            let code = after.get(..2).filter(|_| byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
            match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
                Some(code) => (bytes.push(code), rest = &after[2..]),
                None => (bytes.push(byte), rest = after),
            };
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl FromStr for Asked {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Asked, LabError> {
        let (name, argument) =
            text.split_once('=').map_or((text, None), |(name, argument)| (name, Some(argument.trim())));
        let Some(intervention) = interventions::find(name) else {
            return Err(LabError::World(format!("`{name}` is not an intervention; `whyslow explain` lists them")));
        };
        let usual = Asked::simply(intervention);
        let wrong = |why: String| Err(LabError::World(why));
        let about = intervention.about;
        match argument {
            None | Some("") if !about.is_empty() => wrong(format!("`{name}` needs a name: {name}={about}")),
            Some(argument) if !about.is_empty() => Ok(Asked { about: Some(argument.to_string()), ..usual }),
            None => Ok(usual),
            Some(_) if intervention.unit.is_empty() => wrong(format!("`{name}` takes no dose")),
            Some(dose) => {
                let number = dose.strip_suffix(intervention.unit).unwrap_or(dose).trim().parse::<f64>().ok();
                match number.filter(|number| number.is_finite() && *number > 0.0) {
                    Some(number) => Ok(Asked { dose: Some(number), ..usual }),
                    None => wrong(format!("`{dose}` is not a dose of {name}; use a number of {}", intervention.unit)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_behind_the_intervention_that_takes_one() {
        let asked = "switch-off=gta!find_dup".parse::<Asked>().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((asked.intervention.name, asked.about.as_deref()), ("switch-off", Some("gta!find_dup")));
        let why = |text: &str| text.parse::<Asked>().map(|_| ()).expect_err("refused").to_string();
        assert!(why("switch-off").contains("switch-off=FUNCTION"));
        assert!(why("switch-off=").contains("switch-off=FUNCTION"));
        assert!(why("tcp-nodelay=work").contains("no dose"));
    }

    #[test]
    fn any_function_makes_a_name_of_a_file_and_of_one_arm_only() {
        for name in ["switch-off=find_dup", "switch-off=a::b<int>::operator+(x*, ../y) const", "switch-off=50%'"] {
            let escaped = Asked::escaped(name);
            assert!(!escaped.contains(['/', '+', ' ', '\'']), "{escaped}");
            assert_eq!(Asked::unescaped(&escaped), name);
        }
        assert_eq!(Asked::escaped("delayed-ack-cap=8ms"), "delayed-ack-cap=8ms");
    }
}
