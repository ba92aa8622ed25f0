//! Which member of a bundle it is, where programs do not start when its members are switched apart: by other versions of one
//! member alone in the bad world, and by where the time goes.
//!
//! How to use it: make a [`Member`] of each factor of a culprit whose bond is [`case::Bond::Bundle`], list the [`ways`]
//! there are (suites from [`other_suites`], builds that are cached), and hand both to [`split()`] with a closure that tries one
//! way. For a suite it fetches the packages and lays them over the bad world as one layer; for a build it puts the
//! prefix's folders of libraries in front of the loader's. It then asks the loaders whether programs start and whether what
//! was laid is what they load; if not the answer is untestable. Else it runs a probe of the kind `Split`.
//!
//! What a member is accused of must be seen: another version of it alone cures, or all others are cleared and the profile says
//! the same. Members are cleared by a run with another version of them alone that stays bad, unless the profile says
//! otherwise: another version can be slow in the same way. Whoever was not run so is untested, however small its share.

mod judge;

use crate::error::LabError;
use crate::matrix::Prefix;
use case::{Cleared, ProbeResult, Untested};
pub use judge::judge;

/// Debian's releases, the oldest first: what `sid` becomes is last.
const RELEASES: [&str; 8] = ["stretch", "buster", "bullseye", "bookworm", "trixie", "forky", "duke", "sid"];
/// So many ways are tried at most: each takes a download or the start of a build, and a probe.
const MOST_WAYS: usize = 6;

/// A member of a bundle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// The factor's name.
    pub name: String,
    /// Its version in the bad world.
    pub version: String,
    /// The binary packages of it that the subject uses in the bad world; empty where it is not made of packages.
    pub packages: Vec<String>,
    /// The SONAMEs of its libraries that the subject loads in the bad world.
    pub sonames: Vec<String>,
    /// The part of the bad world's CPU time that its libraries take; none where there is no profile, or it has no libraries.
    pub cpu_share: Option<f64>,
    /// Their part of the difference of processor and blocked time; none as above.
    pub difference: Option<f64>,
}

/// A way to run another version of one member, all else being as in the bad world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Its packages of another suite.
    OtherSuite {
        /// The suite: `bookworm-backports`.
        suite: String,
        /// The member's place in the bundle.
        factor: usize,
        /// The binary packages to fetch.
        packages: Vec<String>,
    },
    /// A build of its libraries under the same SONAMEs.
    DropIn {
        /// The member's place in the bundle.
        factor: usize,
        /// The build.
        prefix: Prefix,
    },
}

impl Way {
    /// The place in the bundle of the member that is replaced.
    pub fn factor(&self) -> usize {
        match self {
            Way::OtherSuite { factor, .. } | Way::DropIn { factor, .. } => *factor,
        }
    }
}

/// A way that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Which.
    pub way: Way,
    /// The version that was run; empty where it is not known.
    pub version: String,
    /// What the probe says.
    pub result: ProbeResult,
    /// Its place from bad (0) to good (1).
    pub place: Option<f64>,
}

/// What became of a bundle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split {
    /// The member that it is; empty where that cannot be said.
    pub split: String,
    /// What speaks for it: one sentence each.
    pub reasons: Vec<String>,
    /// Members that it is not.
    pub cleared: Vec<Cleared>,
    /// Members of which that is not known.
    pub untested: Vec<Untested>,
}

/// Suites that may have other versions of what is in the bad one, the most useful first: its backports, the releases between it
/// and the good one, those after it. Of a suite that is no release of Debian's only the backports are known.
pub fn other_suites(good: &str, bad: &str) -> Vec<String> {
    let place = |suite: &str| RELEASES.iter().position(|release| *release == suite);
    let backports = (bad != "sid").then(|| format!("{bad}-backports"));
    let Some(bad_place) = place(bad) else { return backports.into_iter().collect() };
    let good_place = place(good).unwrap_or(bad_place);
    let (low, high) = (good_place.min(bad_place), good_place.max(bad_place));
    let between = (low + 1..high).rev();
    let after = (bad_place + 1..RELEASES.len()).filter(|other| *other > high);
    let others = between.chain(after).map(|other| RELEASES[other].to_string());
    backports.into_iter().chain(others).collect()
}

/// What can be tried, the most promising first: builds that have all SONAMEs that the subject loads of a member, then other suites;
/// the most suspected member first, in turns.
pub fn ways(bundle: &[Member], suites: &[String], builds: &[Prefix]) -> Vec<Way> {
    let mut order = (0..bundle.len()).collect::<Vec<_>>();
    order.sort_by(|one, other| suspicion(&bundle[*other]).total_cmp(&suspicion(&bundle[*one])));
    let mut each = order.iter().map(|&factor| ways_of(factor, &bundle[factor], suites, builds)).collect::<Vec<_>>();
    let mut ways = Vec::new();
    while each.iter().any(|left| !left.is_empty()) {
        ways.extend(each.iter_mut().filter(|left| !left.is_empty()).map(|left| left.remove(0)));
    }
    ways
}

fn suspicion(member: &Member) -> f64 {
    member.difference.unwrap_or_default().max(member.cpu_share.unwrap_or_default())
}

fn ways_of(factor: usize, member: &Member, suites: &[String], builds: &[Prefix]) -> Vec<Way> {
    if member.sonames.is_empty() {
        return Vec::new();
    }
    let fits = |prefix: &&Prefix| {
        let sonames = prefix.sonames();
        member.sonames.iter().all(|soname| sonames.contains(soname)) && !member.version.contains(&prefix.version)
    };
    let drop_ins = builds.iter().filter(fits).map(|prefix| Way::DropIn { factor, prefix: prefix.clone() });
    let suites = suites.iter().filter(|_| !member.packages.is_empty());
    let others =
        suites.map(|suite| Way::OtherSuite { suite: suite.clone(), factor, packages: member.packages.clone() });
    drop_ins.chain(others).collect()
}

/// Tries ways until the bundle is split and all other members are cleared, or nothing is left to try. `attempt` is none where
/// a way cannot be had (no such package, no connection).
///
/// # Errors
/// As the closure: where the laboratory fails, or the user wants an end.
pub fn split(
    bundle: &[Member],
    ways: &[Way],
    attempt: &mut dyn FnMut(&Way) -> Result<Option<Tried>, LabError>,
) -> Result<(Split, Vec<Tried>), LabError> {
    let mut tried: Vec<Tried> = Vec::new();
    for way in ways {
        let so_far = judge(bundle, &tried);
        let ran = tried.iter().filter(|tried| tried.result != ProbeResult::Untestable).count();
        let is_split = !so_far.split.is_empty() && so_far.cleared.len() + 1 >= bundle.len();
        if ran >= MOST_WAYS || is_split {
            break;
        }
        // A member that another version has decided need not be tried again.
        let is_cleared = so_far.cleared.iter().any(|one| one.factor == bundle[way.factor()].name);
        if !is_cleared && !is_decided(&tried, way.factor()) {
            tried.extend(attempt(way)?);
        }
    }
    Ok((judge(bundle, &tried), tried))
}

/// Whether another version of a member is known to make it good.
fn is_decided(tried: &[Tried], factor: usize) -> bool {
    tried.iter().any(|tried| tried.way.factor() == factor && tried.result == ProbeResult::Good)
}

#[cfg(test)]
mod tests;
