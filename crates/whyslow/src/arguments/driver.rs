//! A load in the place of a client: `--load URL[,OPTION...]`.

use super::LoadArguments;
use clap::Args;
use lab::Metric;
use std::str::FromStr;

/// Every trial makes so many requests where nothing else is said.
const REQUESTS: &str = "1000";
/// What says where a load ends.
const ENDS: [&str; 3] = ["requests", "duration", "replay"];
/// What a trial has no use for: it reads what the load prints, and keeps it.
const NOT_TAKEN: [&str; 4] = ["json", "output", "merge", "histogram"];

/// A load in the place of a client: a URL and options of `whyslow load`, without their dashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    url: String,
    /// Names and values; none for options that take no value.
    options: Vec<(String, Option<String>)>,
}

/// In which form the load says what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// In words.
    Words,
    /// As a document that figures can be read from.
    Document,
}

impl Says {
    /// The form in which a figure that is asked for can be found.
    pub fn for_metric(metric: Option<&Metric>) -> Says {
        if matches!(metric, Some(Metric::Load { .. })) { Says::Document } else { Says::Words }
    }
}

impl FromStr for Driver {
    type Err = String;

    fn from_str(text: &str) -> Result<Driver, String> {
        let mut parts = text.split(',');
        let url = parts.next().unwrap_or_default().to_string();
        let options = parts.map(option).collect::<Result<Vec<_>, _>>()?;
        let driver = Driver { url, options };
        // Values that are still to be filled in are checked when they are.
        driver.check(|text| text.contains('{')).map(|()| driver)
    }
}

impl Driver {
    /// The command of the client: this very program. An option of the load that is `varied`, and has no place yet, gets one.
    ///
    /// # Errors
    /// Where nobody knows where this program lies.
    pub fn command(&self, says: Says) -> std::io::Result<Vec<String>> {
        let own = std::env::current_exe()?.display().to_string();
        Ok([own].into_iter().chain(self.words(says)).collect())
    }

    /// The same with a placeholder as the value of an option, where the load has such an option.
    #[must_use]
    pub fn varying(mut self, name: &str) -> Driver {
        let placeholder = format!("{{{name}}}");
        let has_place = |text: &String| text.contains(&placeholder);
        let is_placed =
            has_place(&self.url) || self.options.iter().filter_map(|(_, value)| value.as_ref()).any(has_place);
        if !is_placed && takes_value(name) == Some(true) {
            self.options.retain(|(known, _)| known != name);
            self.options.push((name.to_string(), Some(placeholder)));
        }
        self
    }

    /// Whether the load can be made once placeholders are filled in.
    ///
    /// # Errors
    /// As the command line of `load` words them, in one sentence.
    pub fn check_filled(&self, fill: impl Fn(&str) -> String) -> Result<(), String> {
        let value = |value: &Option<String>| value.as_deref().map(&fill);
        let options = self.options.iter().map(|(name, one)| (name.clone(), value(one))).collect();
        Driver { url: fill(&self.url), options }.check(|_| false)
    }

    fn check(&self, is_left_out: impl Fn(&str) -> bool) -> Result<(), String> {
        let given = |(_, value): &&(String, Option<String>)| !value.as_deref().is_some_and(&is_left_out);
        let url = if is_left_out(&self.url) { "http://127.0.0.1/".to_string() } else { self.url.clone() };
        let options = self.options.iter().filter(given).cloned().collect();
        let words = Driver { url, options }.words(Says::Words);
        let typed = ["whyslow".to_string()].into_iter().chain(words);
        match <super::Arguments as clap::Parser>::try_parse_from(typed) {
            Ok(_) => Ok(()),
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                Err(first.trim_start_matches("error: ").replace("'--", "'"))
            }
        }
    }

    fn words(&self, says: Says) -> Vec<String> {
        let has_end = self.options.iter().any(|(name, _)| ENDS.contains(&name.as_str()));
        let end = (!has_end).then(|| format!("--requests={REQUESTS}"));
        let document = (says == Says::Document).then(|| "--json".to_string());
        let options = self.options.iter().map(|(name, value)| match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        });
        ["load".to_string(), self.url.clone()].into_iter().chain(options).chain(end).chain(document).collect()
    }
}

/// Whether an option of a load takes a value; none where there is no such option.
fn takes_value(name: &str) -> Option<bool> {
    let load = LoadArguments::augment_args(clap::Command::new("load"));
    let known = load.get_arguments().find(|known| known.get_long() == Some(name) && !NOT_TAKEN.contains(&name));
    known.map(|known| known.get_action().takes_values())
}

fn option(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_string())));
    match (takes_value(name), &value) {
        (None, _) => Err(format!(
            "a load has no option `{name}`; a comma in the URL is written %2C (options: whyslow load --help)"
        )),
        (Some(true), None) => Err(format!("`{name}` needs a value, as in {name}=...")),
        (Some(false), Some(_)) => Err(format!("`{name}` takes no value")),
        _ => Ok((name.to_string(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        text.parse::<Driver>().expect("a driver").words(Says::Words).join(" ")
    }

    #[test]
    fn a_load_ends_after_a_fixed_number_of_requests_unless_it_says_otherwise() {
        assert_eq!(words("http://{server}:80/"), "load http://{server}:80/ --requests=1000");
        assert_eq!(words("http://h/,rate=5,poisson,requests=7"), "load http://h/ --rate=5 --poisson --requests=7");
        assert_eq!(words("http://h/,duration=2s"), "load http://h/ --duration=2s");
    }

    #[test]
    fn what_is_varied_gets_its_place_where_a_load_has_one() {
        let varied =
            |text: &str, name: &str| text.parse::<Driver>().expect("a driver").varying(name).words(Says::Words);
        assert!(varied("http://h/,rate=5", "rate").contains(&"--rate={rate}".to_string()));
        assert_eq!(varied("http://h/,rate=5", "rate").len(), 4);
        assert!(varied("http://h/{rate}", "rate").iter().all(|word| !word.starts_with("--rate")));
        assert_eq!(varied("http://h/", "size").len(), 3);
        assert_eq!(varied("http://h/", "poisson").len(), 3);
    }

    #[test]
    fn what_a_load_would_refuse_is_refused_at_once() {
        let refused = |text: &str| text.parse::<Driver>().expect_err(text);
        assert!(refused("ftp://h/").contains("not known"));
        assert!(refused("http://h/,rte=5").contains("no option `rte`"));
        assert!(refused("http://h/,json").contains("no option `json`"));
        assert!(refused("http://h/,rate=fast").contains("fast"));
        assert!(refused("http://h/,rate").contains("needs a value"));
        assert!(refused("http://h/,poisson=1,rate=1").contains("takes no value"));
        let later = "http://h/,rate={rate}".parse::<Driver>().expect("a driver");
        assert!(later.check_filled(|text| text.replace("{rate}", "many")).is_err());
        assert_eq!(later.check_filled(|text| text.replace("{rate}", "5")), Ok(()));
    }
}
