//! What a matrix says: one command on several versions of a library, built from source. Kept in its case as `matrix.json`,
//! printed with `--json`. Part of the JSON contract: fields are only ever added.
//!
//! Every ratio is of a version over the first one, so over 1 means that the version takes more.

use crate::comparison::{CodeContrast, Compared, HotSpot};
use crate::facts::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// The version of this format.
    pub schema: u32,
    /// The case's folder. The recorded runs are cases of their own in it, named by version.
    pub case: String,
    /// The path of its page, one HTML file; empty if none was written.
    #[serde(default)]
    pub page: String,
    /// The command of the client.
    pub command: Vec<String>,
    /// The command of the server; empty for none of ours.
    pub server: Vec<String>,
    /// The library: `openssl`.
    pub library: String,
    /// What else is built on each version, as `NAME=VERSION`.
    pub with: Vec<String>,
    /// The metrics that are compared; the one that decides comes first.
    pub metrics: Vec<Metric>,
    /// The versions in the order given. The first one that runs is what the others are compared with.
    pub versions: Vec<Version>,
    /// A few sentences: which version is slower, by how much, why, and which one to use.
    pub summary: String,
    /// The newest drop-in version (same SONAME) that is not measurably slower; empty if there is none.
    pub advice: String,
    /// Rounds of trials; each version that runs has one trial in each.
    pub rounds: u32,
    /// What limits the result.
    pub warnings: Vec<String>,
    /// Time spent on fetching and building, in nanoseconds.
    pub preparing_ns: u64,
    /// Time spent on trials and recordings, in nanoseconds.
    pub spent_ns: u64,
}

/// One version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Version {
    /// The version as given: `3.0.2`.
    pub version: String,
    /// Its state.
    pub state: VersionState,
    /// Where it is installed; empty if it was not built.
    pub prefix: String,
    /// The SONAMEs of its libraries.
    pub sonames: Vec<String>,
    /// The paths of its libraries that the subject had mapped while it ran.
    pub mapped: Vec<String>,
    /// A note: why it failed, or what else to know about its state; else empty.
    pub problem: String,
    /// The last lines of a failed build.
    pub last_lines: Vec<String>,
    /// The build's log; empty if it was built earlier.
    pub log: String,
    /// How long the build took, in nanoseconds; 0 if it was built earlier.
    pub built_ns: u64,
    /// Each metric's distribution, in the order of the matrix's metrics.
    pub figures: Vec<Figures>,
    /// Each metric against the first version (a), this one being b; empty for the first.
    pub ratios: Vec<Compared>,
    /// CPU time by library that differs from the first version, largest difference first.
    pub libraries: Vec<CodeContrast>,
    /// CPU time by function that differs from the first version, largest difference first.
    pub functions: Vec<CodeContrast>,
    /// The call chain that carries most of the difference, outermost first.
    pub chain: Vec<CodeContrast>,
    /// The functions whose own time makes up most of the difference, largest share first; small ones are left out.
    #[serde(default)]
    pub hot_spots: Vec<HotSpot>,
    /// Interventions tried on it, in runs of their own, in the order given.
    #[serde(default)]
    pub tried: Vec<TriedOn>,
}

/// An intervention on a version, in runs that alternate with those without it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriedOn {
    /// The intervention as given: `share-ssl-context`, `delayed-ack-cap=8`.
    pub intervention: String,
    /// Whether it took effect. If not, nothing was measured, and it says nothing about what it would change.
    pub applied: bool,
    /// Why it did not take effect, or why some runs with it do not count; else empty.
    pub problem: String,
    /// How often it changed something in a run: the median of the runs in which it took effect.
    pub changes: u64,
    /// Each metric's distribution with it, in the order of the matrix's metrics.
    pub figures: Vec<Figures>,
    /// Each metric of this version without it (b) against with it (a): above 1 it helps, or below 1 for a rate, where
    /// more is better. Without it, its machinery is attached but inert.
    pub gain: Vec<Compared>,
    /// What remains: each metric of this version with it (b) against the first version with it (a), b over a; `b - a`
    /// is the difference that remains. Empty for the first version.
    pub remains: Vec<Compared>,
}

/// The state of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VersionState {
    /// It was built, the program was seen to load it, and it was measured.
    #[default]
    Measured,
    /// Its source was not found, or could not be fetched.
    NotFetched,
    /// Its build failed.
    NotBuilt,
    /// The subject does not start on it, or does not load it.
    NotLoaded,
}

/// A metric's distribution over all values of all runs, without warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// The metric.
    pub metric: Metric,
    /// How many values.
    pub n: u64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The sample standard deviation (divided by n - 1).
    pub stdev: f64,
    /// The sum.
    pub sum: f64,
}
