//! What a bisection says: which of the things that differ between a good and a bad world makes the difference. Kept in its
//! case as `bisection.json`, printed with `--json`. Part of the JSON contract: fields are only ever added.
//!
//! Places are on the axis from bad (0) to good (1): the logarithm of the gain over that of the whole gain. Ratios are bad
//! over good, so over 1 means that the bad world takes more.

use crate::answer::Finding;
use crate::comparison::{CodeContrast, Compared, HotSpot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole bisection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bisection {
    /// The contract's version.
    pub schema: u32,
    /// The case's folder. Recorded runs are cases of their own in it: `good-1`, `bad-1` and so on.
    pub case: String,
    /// Its page, one HTML file; empty where none was written.
    #[serde(default)]
    pub page: String,
    /// The command of the client.
    pub command: Vec<String>,
    /// The command of the server; empty for none of ours.
    pub server: Vec<String>,
    /// The world that is fast.
    pub good: WorldTold,
    /// The world that is slow.
    pub bad: WorldTold,
    /// What came of it.
    pub outcome: BisectionOutcome,
    /// In a few sentences: what makes the difference, who burns the time, what cures it.
    pub summary: String,
    /// Good (a) against bad (b), the metric that decides first.
    pub baseline: Vec<Compared>,
    /// What differs between the worlds and the subject uses, most suspected first.
    pub factors: Vec<Factor>,
    /// Every probe, in the order made.
    pub probes: Vec<Probe>,
    /// Probes of the search itself: those of the kinds up to `shrink`.
    pub trials: u32,
    /// Runs of the subject, controls included, of all probes and the baseline.
    pub runs: u32,
    /// What makes the difference; none where that was not found.
    pub culprit: Option<Culprit>,
    /// Who burns the time in the bad world, as distinct from what was swapped; none where processor time is no part of it.
    pub burner: Option<Burner>,
    /// What cures the bad world without a downgrade: the findings of a run in it, with what was tried.
    pub cures: Vec<Finding>,
    /// Another command in both worlds, as a control; empty where none was given.
    pub control: Vec<Compared>,
    /// What was not tried, and why: one sentence each.
    pub not_tried: Vec<String>,
    /// What makes it worth less.
    pub warnings: Vec<String>,
    /// What the order of probes was drawn from.
    pub seed: u64,
    /// Time spent, in nanoseconds: on worlds, and on the rest.
    pub preparing_ns: u64,
    /// Time spent on measuring and searching, in nanoseconds.
    pub spent_ns: u64,
}

/// A world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorldTold {
    /// As it was asked for: `debian:bookworm`.
    pub name: String,
    /// What it is: `Debian 12 (bookworm), 113 packages`.
    pub title: String,
    /// How many packages it has; 0 where it is not made of packages.
    pub packages: u32,
    /// Of how many of them the subject opens files.
    pub used: u32,
}

/// What came of a bisection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BisectionOutcome {
    /// What makes the difference was found, and switching it both ways confirms it.
    Confirmed,
    /// It was found, and one of the ways could not be tried or is not clear.
    Found,
    /// The worlds do not differ for this subject.
    NoEffect,
    /// They differ, and nothing that could be switched makes the difference: what is left is named as such (libc, ...).
    NotSeparable,
    /// Time was up, or the user ended it.
    #[default]
    Undecided,
}

/// One thing that differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Factor {
    /// Its name: a source package's, a path, a variable's, a commit.
    pub name: String,
    /// What kind of thing it is.
    pub kind: FactorKind,
    /// Its version (or value, or size) in the good world; empty where it is not there.
    pub good: String,
    /// The same in the bad world.
    pub bad: String,
    /// Binary packages (or files) of it that the subject uses.
    pub members: Vec<String>,
    /// Its part of the difference of processor and blocked time between the recorded worlds, from 0 to 1.
    pub suspicion: f64,
    /// What has to be switched with it, so that programs start: names of factors.
    pub needs: Vec<String>,
    /// Why it cannot be tried alone; empty where it can.
    pub untestable: String,
}

/// What kind of thing a factor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FactorKind {
    /// The packages built from one source package.
    #[default]
    Package,
    /// A library of a folder of libraries.
    Library,
    /// A file that belongs to no package: a bundle of certificates, a configuration.
    Data,
    /// A variable of the environment.
    Environment,
    /// The C library with its loader: only as a whole world.
    Libc,
    /// A commit.
    Commit,
}

/// One probe: some factors taken from the good world, the others from the bad one, against the bad world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// What it was for.
    pub kind: ProbeKind,
    /// The factors that were asked about.
    pub asked: Vec<String>,
    /// All that were taken from the good world: those, and what they need. For a drop-in, empty.
    pub taken: Vec<String>,
    /// Where it lies from bad (0) to good (1); not a number is written as null.
    pub place: Option<f64>,
    /// Lower end of the place's interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What that means.
    pub result: ProbeResult,
    /// Pairs of runs.
    pub pairs: u32,
    /// What else is to be said: why it could not be tried, what was really loaded.
    pub note: String,
}

/// What a probe was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// Everything that can be switched, from the good world: is the difference among it?
    All,
    /// One that the profile suspects.
    Suspect,
    /// A part of what is left.
    #[default]
    Part,
    /// A found set without one of its members.
    Shrink,
    /// Everything but what was found: its removal has to make good bad.
    Removal,
    /// Another version of one member of a set that cannot be separated.
    Split,
    /// The packages, installed by apt over the bad world.
    Apt,
}

/// What a probe says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeResult {
    /// As fast as the good world, or nearer to it than to the bad one.
    Good,
    /// As slow as the bad one, or nearer to it.
    Bad,
    /// The runs do not tell.
    #[default]
    Unclear,
    /// Programs do not start so.
    Untestable,
}

/// What makes the difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Culprit {
    /// Factors that make bad good when they alone are taken from the good world.
    pub cure: Vec<String>,
    /// Factors that make good bad when they alone are taken from the bad world; empty where that was not tried.
    pub cause: Vec<String>,
    /// How they belong together.
    pub bond: Bond,
    /// The member that a bundle was split down to; empty where it was not.
    pub split: String,
    /// What speaks for the split: one sentence each.
    pub reasons: Vec<String>,
    /// Members that are cleared, and what clears them.
    pub cleared: Vec<Cleared>,
    /// Bad over cured, of the metric that decides.
    pub gain: Compared,
    /// The command that brings it about on the bad world; empty where there is none.
    pub command: String,
    /// Whether that was run over the bad world and measured.
    pub command_confirmed: bool,
}

/// How the factors of a culprit belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bond {
    /// It is one.
    #[default]
    Single,
    /// They cannot be switched apart: programs do not start otherwise.
    Bundle,
    /// They are slow only together: switching either cures.
    Together,
    /// Each is slow by itself: only switching all cures.
    Each,
}

/// A factor that is not to blame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cleared {
    /// Its name.
    pub factor: String,
    /// Why.
    pub why: String,
    /// Its part of the processor time in the bad world, from 0 to 1.
    pub share: f64,
}

/// Who burns the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Burner {
    /// The library, without its folder.
    pub library: String,
    /// The factor that it belongs to; empty where to none.
    pub factor: String,
    /// Its part of the processor time in the bad world, from 0 to 1; libc's time charged to its caller.
    pub share: f64,
    /// The call chain that carries most of the difference, outermost first.
    pub chain: Vec<CodeContrast>,
    /// The functions that burn most of the difference by themselves, largest part first; few parts are worth telling.
    #[serde(default)]
    pub hot_spots: Vec<HotSpot>,
}
