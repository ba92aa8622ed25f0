//! Who asked, by family of agents; what claims to be a crawler whose addresses are known is told from what only says so.

use crate::agent::{AgentKind, family};
use crate::distinct::Distinct;
use crate::ranges::Ranges;
use crate::series::Series;
use crate::tally::Tally;
use rustc_hash::FxHashMap;

/// Agents that are remembered; others are looked at again whenever they come.
const MOST_AGENTS: usize = 50_000;
/// Longer agents are not remembered.
const LONGEST_AGENT: usize = 512;
/// Families beyond so many are one: nobody reads of a thousand, and each has its series.
const MOST_FAMILIES: usize = 1_000;
/// What those beyond are called.
const REST: &str = "other agents";

/// Whether a family is who it says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// No ranges of addresses were given for it.
    Unchecked,
    /// It comes from its ranges.
    Verified,
    /// It comes from elsewhere.
    Forged,
}

/// A family of agents.
#[derive(Clone)]
pub struct Family {
    /// Its name: `Googlebot`, `Firefox`, `curl`.
    pub name: String,
    /// What kind of program it says it is.
    pub kind: AgentKind,
    /// Whether it is that.
    pub claim: Claim,
    /// What it asked for, in all.
    pub tally: Tally,
    /// Answers by the first digit of their status; 0 for those without.
    pub statuses: [u64; 6],
    /// Over time.
    pub series: Series,
    addresses: Distinct,
}

impl Family {
    fn new(name: String, kind: AgentKind, claim: Claim) -> Family {
        let (tally, series, addresses) = (Tally::default(), Series::default(), Distinct::default());
        Family { name, kind, claim, tally, statuses: [0; 6], series, addresses }
    }

    /// How many addresses it came from, nearly; see [`Family::ADDRESSES_ERROR`].
    pub fn addresses(&self) -> u64 {
        self.addresses.count()
    }

    /// What the number of addresses is drawn from.
    pub(crate) fn sketch(&self) -> &Distinct {
        &self.addresses
    }

    /// Takes in addresses that somebody else has counted.
    pub(crate) fn add_addresses(&mut self, addresses: &Distinct) {
        self.addresses.merge(addresses);
    }

    /// The standard error of a count of addresses, as a share of it.
    pub const ADDRESSES_ERROR: f64 = Distinct::ERROR;

    /// Notes a request; whether its bucket is another than the last one's.
    pub fn add(&mut self, bucket: Option<i64>, address: u128, status: u16, tally: &Tally) -> bool {
        self.tally.add(tally);
        self.statuses[usize::from(status / 100).min(5)] += 1;
        self.addresses.note(address);
        bucket.is_some_and(|bucket| self.series.add(bucket, tally))
    }

    fn merge(&mut self, other: Family) {
        self.tally.add(&other.tally);
        let statuses = self.statuses.iter_mut().zip(other.statuses);
        statuses.for_each(|(mine, theirs)| *mine = mine.saturating_add(theirs));
        self.series.merge(other.series);
        self.addresses.merge(&other.addresses);
    }
}

/// All of them, each with a number.
#[derive(Clone, Default)]
pub struct Families {
    pub list: Vec<Family>,
    /// By agent, the number of the family and whether its addresses are known.
    agents: FxHashMap<Box<[u8]>, Known>,
    numbers: FxHashMap<(String, AgentKind, Claim), u16>,
}

/// What is remembered of an agent.
#[derive(Clone, Copy)]
struct Known {
    /// The family, or that of those whose addresses are right.
    family: u16,
    /// The family of those whose addresses are wrong, and which ranges are theirs; none where none are known.
    checked: Option<(u16, usize)>,
}

impl Families {
    /// The number of the family of an agent that comes from an address.
    pub fn of(&mut self, agent: &[u8], address: Option<u128>, ranges: &Ranges) -> u16 {
        let known = match self.agents.get(agent) {
            Some(known) => *known,
            None => self.learn(agent, ranges),
        };
        match (known.checked, address) {
            (Some((forged, which)), Some(address)) if !ranges.contains(which, address) => forged,
            _ => known.family,
        }
    }

    fn learn(&mut self, agent: &[u8], ranges: &Ranges) -> Known {
        let (name, kind) = family(agent);
        let known = match ranges.of(&name) {
            Some(which) => {
                let family = self.number(&name, kind, Claim::Verified);
                Known { family, checked: Some((self.number(&name, kind, Claim::Forged), which)) }
            }
            None => Known { family: self.number(&name, kind, Claim::Unchecked), checked: None },
        };
        if self.agents.len() < MOST_AGENTS && agent.len() <= LONGEST_AGENT {
            self.agents.insert(agent.into(), known);
        }
        known
    }

    /// The number of a family, which is made where it is new.
    pub fn number(&mut self, name: &str, kind: AgentKind, claim: Claim) -> u16 {
        let key = (name.to_string(), kind, claim);
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        if self.list.len() >= MOST_FAMILIES && (name, claim) != (REST, Claim::Unchecked) {
            return self.number(REST, AgentKind::Tool, Claim::Unchecked);
        }
        let number = self.list.len() as u16;
        self.list.push(Family::new(key.0.clone(), kind, claim));
        self.numbers.insert(key, number);
        number
    }

    /// Takes in another's: the numbers here of its families.
    pub fn merge(&mut self, other: Families) -> Vec<u16> {
        let take = |family: Family| {
            let number = self.number(&family.name, family.kind, family.claim);
            self.list[usize::from(number)].merge(family);
            number
        };
        other.list.into_iter().map(take).collect()
    }
}
