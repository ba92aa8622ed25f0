//! What a matrix says: one command on several versions of a library, built from source. Kept in its case as `matrix.json`,
//! printed with `--json`. Part of the JSON contract: fields are only ever added.
//!
//! Every ratio is of a version over the first one, so over 1 means that the version takes more.

use crate::comparison::{CodeContrast, Compared, HotSpot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// The contract's version.
    pub schema: u32,
    /// The case's folder. The recorded runs are cases of their own in it, named by version.
    pub case: String,
    /// Its page, one HTML file; empty where none was written.
    #[serde(default)]
    pub page: String,
    /// The command of the client.
    pub command: Vec<String>,
    /// The command of the server; empty for none of ours.
    pub server: Vec<String>,
    /// The library: `openssl`.
    pub library: String,
    /// What is built on each version beside it, as `NAME=VERSION`.
    pub with: Vec<String>,
    /// What is compared, the metric that decides first.
    pub metrics: Vec<String>,
    /// Each version, in the order asked for; the first one that runs is what the others are compared with.
    pub versions: Vec<Version>,
    /// In a few sentences: which version is slower, by how much, where that comes from, what to take.
    pub summary: String,
    /// The newest version that can be dropped in (same SONAME) and loses nothing that is significant; empty for none.
    pub advice: String,
    /// Rounds of trials: each version that runs was run once in each.
    pub rounds: u32,
    /// What makes it worth less.
    pub warnings: Vec<String>,
    /// Time spent on fetching and building, in nanoseconds.
    pub preparing_ns: u64,
    /// Time spent on trials and recordings, in nanoseconds.
    pub spent_ns: u64,
}

/// One version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Version {
    /// As it was asked for: `3.0.2`.
    pub version: String,
    /// What became of it.
    pub state: VersionState,
    /// Where it is installed; empty where it was not built.
    pub prefix: String,
    /// The SONAMEs of its libraries.
    pub sonames: Vec<String>,
    /// The libraries of ours that the subject had mapped while it ran, as paths.
    pub mapped: Vec<String>,
    /// Why it failed, or its state is otherwise worth a sentence; empty for nothing to say.
    pub problem: String,
    /// The last lines of the build that failed.
    pub last_lines: Vec<String>,
    /// The build's log; empty where it was made earlier.
    pub log: String,
    /// Time that building took, in nanoseconds; 0 where it was there.
    pub built_ns: u64,
    /// Each metric's distribution, in the order of the matrix's metrics.
    pub figures: Vec<Figures>,
    /// Each metric against the first version (a), this one being b; empty for the first.
    pub ratios: Vec<Compared>,
    /// Processor time by library that differs from the first version, largest difference first.
    pub libraries: Vec<CodeContrast>,
    /// Processor time by function that differs from the first version, largest difference first.
    pub functions: Vec<CodeContrast>,
    /// The call chain that carries most of the difference, outermost first.
    pub chain: Vec<CodeContrast>,
    /// The functions that burn most of the difference by themselves, largest part first; few parts are worth telling.
    #[serde(default)]
    pub hot_spots: Vec<HotSpot>,
    /// What was attached from outside besides, in runs of their own, in the order asked for.
    #[serde(default)]
    pub tried: Vec<TriedOn>,
}

/// An intervention on a version, in runs that alternate with those without it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriedOn {
    /// As it was asked for: `share-ssl-context`, `delayed-ack-cap=8`.
    pub intervention: String,
    /// Whether it took hold. What did not is not measured, and says nothing of what it would change.
    pub applied: bool,
    /// Why it did not take hold, or why some runs with it do not count; empty for nothing to say.
    pub problem: String,
    /// How often it changed something in a run: the middle of the runs in which it took hold.
    pub changes: u64,
    /// Each metric's distribution with it, in the order of the matrix's metrics.
    pub figures: Vec<Figures>,
    /// Each metric of this version without it (b) against with it (a): b over a, so over 1 means that it gains; of a rate,
    /// which is better the more it is, under 1 does. Without it, its machinery is attached and does nothing.
    pub gain: Vec<Compared>,
    /// What remains: each metric of this version with it (b) against the first version with it (a), b over a; `b - a` is
    /// what remains in absolute terms. Empty for the first version.
    pub remains: Vec<Compared>,
}

/// What became of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VersionState {
    /// It was built, linkage was proved, and it was measured.
    #[default]
    Measured,
    /// Its source was not found or not fetched.
    NotFetched,
    /// It did not build.
    NotBuilt,
    /// The subject does not start on it, or does not load it.
    NotLoaded,
}

/// The distribution of a metric: of all values in all runs, warm-up excluded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// The metric.
    pub metric: String,
    /// How many values.
    pub n: u64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The middle.
    pub median: f64,
    /// What 95 % stay below.
    pub p95: f64,
    /// What 99 % stay below.
    pub p99: f64,
    /// The sample standard deviation (divided by n - 1).
    pub stdev: f64,
    /// The sum.
    pub sum: f64,
}
