//! Which feeds there are, under which names, and what is wrong with some.

use fastrand::Rng;
use std::fmt::Write;
use std::net::Ipv4Addr;

/// What is special about a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing.
    Sound,
    /// Its answers take a while.
    Slow,
    /// It has moved for good, to a sound one beside it.
    Moved,
    /// It is gone for good.
    Gone,
    /// It is not found.
    Missing,
    /// Its server fails.
    Failing,
    /// Its server asks to come back in an hour.
    Busy,
    /// Its XML is wrong.
    Malformed,
    /// It is a page.
    Html,
    /// Its connection is closed in the middle of it.
    Truncated,
    /// Its gzip unfolds to too much.
    Bomb,
    /// It declares entities within entities.
    Entities,
    /// It redirects to itself.
    Loop,
}

impl Kind {
    /// Those that are broken.
    pub const BROKEN: [Kind; 11] = [
        Kind::Moved,
        Kind::Gone,
        Kind::Missing,
        Kind::Failing,
        Kind::Busy,
        Kind::Malformed,
        Kind::Html,
        Kind::Truncated,
        Kind::Bomb,
        Kind::Entities,
        Kind::Loop,
    ];
}

/// Feeds and names.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Names.
    pub names: usize,
    /// What is special about each feed.
    pub kinds: Vec<Kind>,
    /// Which name each feed is on.
    pub homes: Vec<usize>,
}

/// One name in ten is slow, but for those that have very many feeds: large hosters are not.
const SLOW: f64 = 0.1;
const HOSTERS: usize = 50;
/// A few in a hundred are broken.
const BROKEN: f64 = 0.02;

impl Layout {
    /// So many feeds on so many names: one on each, and the rest the more on a name the smaller its number; a few names
    /// have very many, as large hosters have.
    pub fn seeded(feeds: usize, names: usize, seed: u64) -> Layout {
        let mut random = Rng::with_seed(seed);
        let names = names.clamp(1, feeds.max(1));
        let home = |feed: usize, random: &mut Rng| {
            if feed < names { feed } else { (names as f64 * random.f64().powi(3)) as usize }
        };
        let homes = (0..feeds).map(|feed| home(feed, &mut random)).collect::<Vec<_>>();
        let slow = (0..names).map(|name| random.f64() < SLOW && name >= HOSTERS).collect::<Vec<_>>();
        let kind = |home: &usize| match random.f64() {
            part if part < BROKEN => Kind::BROKEN[random.usize(..Kind::BROKEN.len())],
            _ if slow[*home] => Kind::Slow,
            _ => Kind::Sound,
        };
        let kinds = homes.iter().map(kind).collect();
        Layout { names, kinds, homes }
    }

    /// A name.
    pub fn name(number: usize) -> String {
        format!("site{number}.feeds.test")
    }

    /// Its address, one of the loopback network; 4,096 of them, which names share as on a hoster.
    pub fn address(number: usize) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 10, 0, 1)) + (number % 4096) as u32)
    }

    /// How many feeds are of a kind.
    pub fn count(&self, kind: Kind) -> u64 {
        self.kinds.iter().filter(|one| **one == kind).count() as u64
    }

    /// The list of all feeds, an address a line.
    pub fn list(&self, port: u16) -> String {
        let mut text = String::new();
        for (feed, home) in self.homes.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(text, "https://{}:{port}/feed/{feed}", Layout::name(*home));
        }
        text
    }

    /// The names with their addresses, as in `/etc/hosts`.
    pub fn hosts(&self) -> String {
        let one = |number: usize| format!("{} {}\n", Layout::address(number), Layout::name(number));
        (0..self.names).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_everything_and_every_name_has_a_feed() {
        let layout = Layout::seeded(5_000, 1_000, 1);
        let other = Layout::seeded(5_000, 1_000, 1);
        assert!(layout.kinds == other.kinds && layout.homes == other.homes);
        assert!((0..1_000).all(|name| layout.homes.contains(&name)));
        let slow = layout.count(Kind::Slow);
        assert!((250..450).contains(&slow), "{slow}");
        let broken = Kind::BROKEN.iter().map(|kind| layout.count(*kind)).sum::<u64>();
        assert!((60..140).contains(&broken), "{broken}");
        assert_eq!((layout.list(7).lines().count(), layout.hosts().lines().count()), (5_000, 1_000));
    }
}
