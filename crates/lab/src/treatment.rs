//! What interventions ask of a trial: all machinery that can be attached to a subject from outside, in plain data.
//! An arm of an experiment is one treatment; the sham is the union of all treatments, made inert.

pub use record::SocketOptions;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;

/// One end of the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The command under study.
    Client,
    /// The command given by `--server`.
    Server,
}

impl End {
    /// Both ends.
    pub const BOTH: [End; 2] = [End::Client, End::Server];

    /// The end across the connection.
    #[must_use]
    pub fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }

    /// The word for it in a sentence and in names: `client` or `server`.
    pub fn word(self) -> &'static str {
        match self {
            End::Client => "client",
            End::Server => "server",
        }
    }
}

impl FromStr for End {
    type Err = String;

    fn from_str(text: &str) -> Result<End, String> {
        let named = End::BOTH.into_iter().find(|end| end.word() == text);
        named.ok_or_else(|| format!("`{text}` is not an end; use client or server"))
    }
}

/// A shim to be loaded into the subject's programs (at both ends) before their libraries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preload {
    /// The shim's name: that of its C file in `shims`.
    pub shim: &'static str,
    /// Its parameter: words of its own, documented in its C file. `inert` makes it pass everything through.
    pub parameter: String,
}

impl Preload {
    /// Adds to a parameter: words add up, each once; a number is a dose, and the later one counts.
    fn also(&mut self, parameter: &str) {
        if parameter.parse::<f64>().is_ok() {
            self.parameter = parameter.to_string();
            return;
        }
        for word in parameter.split_whitespace() {
            if !self.parameter.split_whitespace().any(|known| known == word) {
                self.parameter.push(' ');
                self.parameter.push_str(word);
            }
        }
    }
}

/// A file of ours to be seen in place of one of the host's, by the subject only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replacement {
    /// The path as the subject sees it.
    pub path: PathBuf,
    /// What is in it.
    pub content: Vec<u8>,
}

/// A change of the network that a link makes: of both ends' namespaces, or of the link itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkChange {
    /// A kernel setting at both ends.
    Setting {
        /// Its name: `net.ipv4.tcp_mtu_probing`.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// Words added to both ends' routes to each other, as `ip route change` takes them.
    Route(String),
    /// No packet gets lost on the link.
    NoLoss,
    /// The link's token bucket holds ten times as much.
    LargeBucket,
}

/// Everything that is attached to one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Treatment {
    /// Shims, each once.
    pub preloads: Vec<Preload>,
    /// Sockets of both ends; none attaches nothing.
    pub sockets: Option<SocketOptions>,
    /// Ends whose route to the other is set to acknowledge at once. Needs a link.
    pub quick_acknowledgements: BTreeSet<End>,
    /// Changes of the network. Needs a link.
    pub network: Vec<NetworkChange>,
    /// Files replaced.
    pub replacements: Vec<Replacement>,
    /// Variables of the environment of both ends that are set, or removed where there is no value.
    pub environment: Vec<(String, Option<String>)>,
    /// Whether the subject is taken out of the control groups that limit its CPU time.
    pub outside_quota: bool,
}

impl Treatment {
    /// The same machinery, doing nothing: shims pass through, sockets are looked at and left as they are. What costs a
    /// program nothing while it runs (files replaced, routes and settings, groups) is left out.
    #[must_use]
    pub fn inert(&self) -> Treatment {
        let preloads = self.preloads.iter().map(|one| Preload { shim: one.shim, parameter: "inert".to_string() });
        Treatment {
            preloads: preloads.collect(),
            sockets: self.sockets.as_ref().map(|_| SocketOptions::default()),
            ..Treatment::default()
        }
    }

    /// Adds the machinery of the other, doing nothing, where there is none of its kind yet.
    pub fn carry(&mut self, other: &Treatment) {
        let Treatment { preloads, sockets, .. } = other.inert();
        for preload in preloads {
            if self.preloads.iter().all(|one| one.shim != preload.shim) {
                self.preloads.push(preload);
            }
        }
        self.sockets = self.sockets.take().or(sockets);
    }

    /// Everything of both.
    pub fn join(&mut self, other: Treatment) {
        for preload in other.preloads {
            match self.preloads.iter_mut().find(|one| one.shim == preload.shim) {
                Some(one) => one.also(&preload.parameter),
                None => self.preloads.push(preload),
            }
        }
        if let Some(sockets) = other.sockets {
            let mine = self.sockets.get_or_insert_default();
            mine.nodelay |= sockets.nodelay;
            mine.delayed_ack_cap = sockets.delayed_ack_cap.or(mine.delayed_ack_cap);
            mine.unreachable.extend(sockets.unreachable);
        }
        self.quick_acknowledgements.extend(other.quick_acknowledgements);
        for change in other.network {
            if !self.network.contains(&change) {
                self.network.push(change);
            }
        }
        for replacement in other.replacements {
            self.replacements.retain(|one| one.path != replacement.path);
            self.replacements.push(replacement);
        }
        self.environment.extend(other.environment);
        self.outside_quota |= other.outside_quota;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parameters: &[&str]) -> String {
        let mut all = Treatment::default();
        for parameter in parameters {
            let preloads = vec![Preload { shim: "one", parameter: (*parameter).to_string() }];
            all.join(Treatment { preloads, ..Treatment::default() });
        }
        all.preloads.iter().map(|preload| preload.parameter.as_str()).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_shim_that_gets_several_words_keeps_all_of_them() {
        assert_eq!(joined(&["parse", "share", "parse share"]), "parse share");
    }

    #[test]
    fn of_two_doses_the_later_one_counts() {
        assert_eq!(joined(&["1", "10"]), "10");
    }
}
