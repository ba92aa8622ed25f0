//! What interventions ask of a trial: all machinery that can be attached to a subject from outside, in plain data.
//! An arm of an experiment is one treatment; the sham is the union of all treatments, made inert.

pub use record::SocketOptions;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
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

/// What a proxy does beside passing on what comes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProxyTask {
    /// Keeps its own connections to the server, whatever becomes of its clients'.
    KeepConnections,
    /// Reads each answer to its end, also where its client has gone.
    ReadAnswers,
    /// Compresses text for clients that ask for that.
    Compress,
    /// Asks for compressed text, and unpacks it for clients that did not.
    AskForCompressed,
    /// Keeps the answer to one address: a path, without a query.
    Cache(String),
    /// Answers requests of one kind itself, with nothing, and at once.
    Answer {
        /// Their method.
        method: String,
        /// What their path matches, as a regular expression that nginx takes.
        path: String,
    },
}

/// An HTTP proxy between programs of the subject's and a server that they ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The end whose network it is in.
    pub end: End,
    /// The address there that it listens on, on a port of its own.
    pub listens_on: IpAddr,
    /// The server: connects for it reach the proxy.
    pub before: SocketAddr,
    /// What it does.
    pub tasks: BTreeSet<ProxyTask>,
    /// Whether it opens a connection to the server for each request, as the programs do that it stands for; a proxy that is there
    /// to keep connections does not.
    pub closes: bool,
    /// Whether it does nothing of the kind, and passes all on.
    pub is_inert: bool,
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
    /// Proxies between the subject's programs and servers. At most one at each end before each server.
    pub proxies: Vec<Proxy>,
}

impl Treatment {
    /// The same machinery, doing nothing: shims and proxies pass through, sockets are looked at and left as they are. What costs
    /// a program nothing while it runs (files replaced, routes and settings, groups) is left out.
    #[must_use]
    pub fn inert(&self) -> Treatment {
        let preloads = self.preloads.iter().map(|one| Preload { shim: one.shim, parameter: "inert".to_string() });
        Treatment {
            preloads: preloads.collect(),
            sockets: self.sockets.as_ref().map(|_| SocketOptions::default()),
            proxies: self.proxies.iter().map(|one| Proxy { is_inert: true, ..one.clone() }).collect(),
            ..Treatment::default()
        }
    }

    /// Adds the machinery of the other, doing nothing, where there is none of its kind yet.
    pub fn carry(&mut self, other: &Treatment) {
        let Treatment { preloads, sockets, proxies, .. } = other.inert();
        for preload in preloads {
            if self.preloads.iter().all(|one| one.shim != preload.shim) {
                self.preloads.push(preload);
            }
        }
        self.sockets = self.sockets.take().or(sockets);
        for proxy in proxies {
            if self.proxies.iter().all(|one| !one.is_at_the_place_of(&proxy)) {
                self.proxies.push(proxy);
            }
        }
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
            mine.redirected.extend(sockets.redirected);
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
        for proxy in other.proxies {
            match self.proxies.iter_mut().find(|one| one.is_at_the_place_of(&proxy)) {
                Some(one) if one.is_inert && !proxy.is_inert => *one = proxy,
                Some(one) if one.is_inert == proxy.is_inert => one.tasks.extend(proxy.tasks),
                Some(_) => {}
                None => self.proxies.push(proxy),
            }
        }
    }
}

impl Proxy {
    /// Whether another one would stand at the same end before the same server.
    fn is_at_the_place_of(&self, other: &Proxy) -> bool {
        (self.end, self.before) == (other.end, other.before)
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
    fn proxies_at_one_place_become_one_that_does_both() {
        let treatment = |task, is_inert| {
            let (before, tasks) = ("10.0.0.1:80".parse().expect("an address"), [task].into());
            let listens_on = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
            let proxies = vec![Proxy { end: End::Client, listens_on, before, tasks, closes: false, is_inert }];
            Treatment { proxies, ..Treatment::default() }
        };
        let mut both = treatment(ProxyTask::Compress, false);
        both.join(treatment(ProxyTask::KeepConnections, false));
        assert_eq!((both.proxies.len(), both.proxies[0].tasks.len()), (1, 2));
        let mut carried = treatment(ProxyTask::Compress, false);
        carried.carry(&both);
        assert_eq!(carried, treatment(ProxyTask::Compress, false), "it has one there");
        let mut bare = Treatment::default();
        bare.carry(&carried);
        assert_eq!(bare, treatment(ProxyTask::Compress, true));
    }

    #[test]
    fn of_two_doses_the_later_one_counts() {
        assert_eq!(joined(&["1", "10"]), "10");
    }
}
