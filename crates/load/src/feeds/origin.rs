//! An origin (scheme, host and port), and what is to be asked of it.

use super::job::{Job, Purpose};
use super::robots::Rule;
use super::state::OriginState;
use crate::address::Url;
use crate::connection::Peer;
use case::{FeedFault, SlowOrigin};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// As long as fewer requests than this wait for each connection, another connection costs more than it saves.
const WORTH_ANOTHER: usize = 16;
/// So many connections that could not be opened, one after another, and the other feeds of the origin are not tried.
const MOST_REFUSALS: u32 = 3;

/// Where connections to it go.
pub(crate) enum Address {
    Unknown,
    Asked,
    Known(Peer),
}

/// What is known of its robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Robots {
    /// Nobody asks for it.
    Ignored,
    Unknown,
    Asked,
    Known(Vec<Rule>),
}

/// An origin.
pub(crate) struct Origin {
    pub name: String,
    pub host: String,
    port: u16,
    is_secured: bool,
    pub address: Address,
    pub queue: VecDeque<Job>,
    /// Connections to it.
    pub open: usize,
    /// Whether it is in the line of those that have something to do.
    pub is_in_line: bool,
    pub state: OriginState,
    pub robots: Robots,
    /// Connections that could not be opened, one after another.
    pub refusals: u32,
    feeds: u64,
    longest: Duration,
    all: Duration,
}

impl Origin {
    pub(crate) fn of(name: String, url: &Url, state: OriginState, robots: Robots) -> Origin {
        Origin {
            name,
            host: url.host.clone(),
            port: url.port,
            is_secured: url.scheme.is_secured(),
            address: Address::Unknown,
            queue: VecDeque::new(),
            open: 0,
            is_in_line: false,
            state,
            robots,
            refusals: 0,
            feeds: 0,
            longest: Duration::ZERO,
            all: Duration::ZERO,
        }
    }

    /// Its address is found. False where no certificate can be for its name.
    pub(crate) fn found(&mut self, address: IpAddr, settings: &Arc<ClientConfig>) -> bool {
        let tls = if self.is_secured {
            let Ok(name) = ServerName::try_from(self.host.clone()) else { return false };
            Some((settings.clone(), name))
        } else {
            None
        };
        self.address = Address::Known(Peer { address: SocketAddr::new(address, self.port), tls });
        true
    }

    /// Whether another connection is worth its cost now.
    pub(crate) fn wants_connection(&self, most: usize) -> bool {
        let asks_robots = self.queue.front().is_some_and(|job| job.purpose == Purpose::Robots);
        matches!(self.address, Address::Known(_))
            && !self.queue.is_empty()
            && (self.robots != Robots::Asked || asks_robots)
            && self.open < (1 + self.queue.len() / WORTH_ANOTHER).min(most)
    }

    /// Whether its server wants to be left alone.
    pub(crate) fn rests(&self, now_s: i64) -> bool {
        self.state.not_before_s > now_s
    }

    /// No connection could be opened. All that waits is returned where it is to fail likewise.
    pub(crate) fn refuse(&mut self, fault: FeedFault) -> Vec<(Job, FeedFault)> {
        self.refusals += 1;
        if self.refusals < MOST_REFUSALS {
            return Vec::new();
        }
        self.queue.drain(..).map(|job| (job, fault)).collect()
    }

    /// A feed of it is seen to.
    pub(crate) fn took(&mut self, time: Duration) {
        self.feeds += 1;
        self.longest = self.longest.max(time);
        self.all += time;
    }

    /// How slow it was; none where it was never asked.
    pub(crate) fn slowness(&self) -> Option<SlowOrigin> {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        (self.feeds > 0).then(|| SlowOrigin {
            origin: self.name.clone(),
            feeds: self.feeds,
            longest_ns: nanos(self.longest),
            all_ns: nanos(self.all),
        })
    }
}
