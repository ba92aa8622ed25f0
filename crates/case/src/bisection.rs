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
    /// The version of this format.
    pub schema: u32,
    /// The case's folder. Recorded runs are cases of their own in it: `good-1`, `bad-1` and so on.
    pub case: String,
    /// The path of its page, one HTML file; empty if none was written.
    #[serde(default)]
    pub page: String,
    /// The command of the client.
    pub command: Vec<String>,
    /// The command of the server; empty for none of ours.
    pub server: Vec<String>,
    /// The world that is fast.
    pub good: WorldSummary,
    /// The world that is slow.
    pub bad: WorldSummary,
    /// The result.
    pub outcome: BisectionOutcome,
    /// A few sentences: what makes the difference, where the time goes, what fixes it.
    pub summary: String,
    /// Good (a) against bad (b); the metric that decides comes first.
    pub baseline: Vec<Compared>,
    /// The differences between the worlds that the subject uses, most suspected first.
    pub factors: Vec<Factor>,
    /// Every probe, in the order made.
    pub probes: Vec<Probe>,
    /// Probes of the search itself: those of the kinds up to `shrink`.
    pub trials: u32,
    /// Runs of the subject, controls included, of all probes and the baseline.
    pub runs: u32,
    /// What makes the difference; none if it was not found.
    pub culprit: Option<Culprit>,
    /// Along a line of commits: every step that was found, in their order; their parts add up to about the whole
    /// difference.
    #[serde(default)]
    pub stairs: Vec<Stair>,
    /// Commits that were built for the search.
    #[serde(default)]
    pub builds: u32,
    /// Those of them that were not run since they were built into the same as one that was.
    #[serde(default)]
    pub same_builds: u32,
    /// Where CPU time is spent in the bad world, which need not be what was swapped; none if CPU time plays no part.
    pub burner: Option<Burner>,
    /// What would fix the bad world without a downgrade: the findings of a run in it, with what was tried.
    pub cures: Vec<Finding>,
    /// Another command in both worlds, as a control; empty if none was given.
    pub control: Vec<Compared>,
    /// What was not tried and why, one sentence each.
    pub not_tried: Vec<String>,
    /// What limits the result.
    pub warnings: Vec<String>,
    /// The seed from which the order of probes was drawn.
    pub seed: u64,
    /// Time spent on preparing the worlds, in nanoseconds.
    pub preparing_ns: u64,
    /// Time spent on measuring and searching, in nanoseconds.
    pub spent_ns: u64,
}

/// A world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorldSummary {
    /// Its name, as given: `debian:bookworm`.
    pub name: String,
    /// What it is: `Debian 12 (bookworm), 113 packages`.
    pub title: String,
    /// How many packages it has; 0 if it is not made of packages.
    pub packages: u32,
    /// How many of its packages the subject opens files of.
    pub used: u32,
}

/// The result of a bisection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BisectionOutcome {
    /// What makes the difference was found, and switching it both ways confirms it.
    Confirmed,
    /// It was found, but one direction could not be tried or is unclear.
    Found,
    /// The worlds do not differ for this subject.
    NoEffect,
    /// They differ, but nothing that can be switched makes the difference; what is left is named (libc, ...).
    NotSeparable,
    /// The budget ran out, or the user interrupted it.
    #[default]
    Undecided,
}

/// A difference between the worlds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Factor {
    /// Its name: a source package, a path, a variable or a commit.
    pub name: String,
    /// What kind of thing it is.
    pub kind: FactorKind,
    /// Its version (or value, or size) in the good world; empty if it is not there.
    pub good: String,
    /// The same in the bad world.
    pub bad: String,
    /// Its binary packages (or files) that the subject uses.
    pub members: Vec<String>,
    /// Its share of the difference in CPU and blocked time between the recorded worlds, 0 to 1.
    pub suspicion: f64,
    /// The factors that have to be switched with it for programs to start.
    pub needs: Vec<String>,
    /// Why it cannot be tried alone; empty if it can.
    pub untestable: String,
}

/// What kind of thing a factor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FactorKind {
    /// The packages built from one source package.
    #[default]
    Package,
    /// A library in a folder of libraries.
    Library,
    /// A file that belongs to no package: a bundle of certificates, a configuration.
    Data,
    /// A variable of the environment.
    Environment,
    /// The C library with its loader, which can only be switched with the whole world.
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
    /// All factors taken from the good world: those asked about and what they need. Empty for a drop-in.
    pub taken: Vec<String>,
    /// Where it lies between bad (0) and good (1); null if unknown.
    pub place: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What that means.
    pub result: ProbeResult,
    /// Pairs of runs.
    pub pairs: u32,
    /// A note: why it could not be tried, or what was actually loaded.
    pub note: String,
}

/// What a probe was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// Everything that can be switched, taken from the good world: is the cause among it?
    All,
    /// A factor that the profile suspects.
    Suspect,
    /// A part of what is still in question.
    #[default]
    Part,
    /// The set that was found, without one of its members.
    Shrink,
    /// Everything except what was found: without it, the good world has to turn bad.
    Removal,
    /// Another version of one member of a set that cannot be split.
    Split,
    /// The packages, installed with apt over the bad world.
    Apt,
}

/// What a probe says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeResult {
    /// As fast as the good world, or closer to it than to the bad one.
    Good,
    /// As slow as the bad world, or closer to it.
    Bad,
    /// The runs do not decide; along a line of commits, it is neither as fast as the good world nor as slow as the bad one.
    #[default]
    Unclear,
    /// Programs do not start in it.
    Untestable,
}

/// What makes the difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Culprit {
    /// The factors that make the bad world fast when they alone are taken from the good one.
    pub cure: Vec<String>,
    /// The factors that make the good world slow when they alone are taken from the bad one; empty if that was not
    /// tried.
    pub cause: Vec<String>,
    /// How they belong together.
    pub bond: Bond,
    /// The one member to blame in a bundle; empty if it could not be singled out.
    pub split: String,
    /// The reasons for blaming that member, one sentence each.
    pub reasons: Vec<String>,
    /// Members that are cleared, and why.
    pub cleared: Vec<Cleared>,
    /// Members that were not cleared by being switched alone, and why.
    #[serde(default)]
    pub untested: Vec<Untested>,
    /// Bad (b) over fixed (a), in the metric that decides.
    pub gain: Compared,
    /// The command that applies the fix to the bad world; empty if there is none.
    pub command: String,
    /// Whether that command was run on top of the bad world and measured.
    pub command_confirmed: bool,
}

/// How the factors of a culprit belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bond {
    /// It is a single factor.
    #[default]
    Single,
    /// They can only be switched together: programs do not start otherwise.
    Bundle,
    /// They are slow only in combination: switching either fixes it.
    Together,
    /// Each is slow by itself: only switching all of them fixes it.
    Each,
}

/// A factor that is not to blame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cleared {
    /// Its name.
    pub factor: String,
    /// Why.
    pub why: String,
    /// Its share of the CPU time in the bad world, 0 to 1.
    pub share: f64,
}

/// A factor of which is not known whether it is to blame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Untested {
    /// Its name.
    pub factor: String,
    /// Why.
    pub why: String,
    /// Its share of the CPU time in the bad world, 0 to 1.
    pub share: f64,
}

/// A step along a line of commits: where it takes longer from then on, or less long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stair {
    /// The commits that can have brought it, the oldest first, named as their factors are: one if it was found. Of several,
    /// those before the last do not build or run, or were not tried.
    pub commits: Vec<String>,
    /// Whether some of them were not tried, as the search was ended.
    pub is_open: bool,
    /// How many times as much it takes from then on; below 1 if it takes less.
    pub times: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Its part of the whole difference, by logarithms: so parts add up. Negative if it takes less from then on.
    pub part: f64,
    /// Lower end of its 95 % interval.
    pub part_low: f64,
    /// Upper end.
    pub part_high: f64,
}

/// Where the CPU time is spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Burner {
    /// The library's file name.
    pub library: String,
    /// The factor that it belongs to; empty if it belongs to none.
    pub factor: String,
    /// Its share of the CPU time in the bad world, 0 to 1; libc's time counts for its caller.
    pub share: f64,
    /// The call chain that carries most of the difference, outermost first.
    pub chain: Vec<CodeContrast>,
    /// The functions whose own time makes up most of the difference, largest share first; small ones are left out.
    #[serde(default)]
    pub hot_spots: Vec<HotSpot>,
}
