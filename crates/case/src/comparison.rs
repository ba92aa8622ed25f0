//! What a comparison of two commands or worlds says: kept in its case as `comparison.json`, printed with `--json`. Part of
//! the JSON contract: fields are only ever added.
//!
//! A is what was, B what is asked about. Every ratio here is B over A, so over 1 means that B takes more.

use crate::facts::{Account, Metric, Sameness};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The version of this format.
    pub schema: u32,
    /// The case's folder. The recorded runs are cases of their own in it: `a-1`, `b-1` and so on.
    pub case: String,
    /// The path of its page, one HTML file; empty if none was written.
    #[serde(default)]
    pub page: String,
    /// The side to compare with: what was there before.
    pub a: Side,
    /// The side in question.
    pub b: Side,
    /// What the first metric, which decides, says.
    pub outcome: Contrast,
    /// One or two sentences: which is faster, by how much, and where the difference comes from.
    pub summary: String,
    /// Every metric with its interval; the one that decides comes first.
    pub metrics: Vec<Compared>,
    /// What the figures below are per: `exchange` or `run`; empty if there are none.
    pub per: Per,
    /// Where the time went in both, largest difference first.
    pub ledger: Vec<AccountContrast>,
    /// CPU time by library, largest difference first; libc's time counts for its caller.
    pub libraries: Vec<CodeContrast>,
    /// CPU time by function, callees included, largest difference first.
    pub functions: Vec<CodeContrast>,
    /// The call chain that carries most of the difference in CPU time, outermost first; empty if there is no difference
    /// or there are no samples.
    pub chain: Vec<CodeContrast>,
    /// The functions whose own time makes up most of the difference, largest share first; small ones are left out.
    #[serde(default)]
    pub hot_spots: Vec<HotSpot>,
    /// System calls whose number or time differs, largest difference in time first.
    pub calls: Vec<CallContrast>,
    /// The conditions of `--fail-if`, and their results.
    pub gates: Vec<Gate>,
    /// Whether both wrote the same output: `same`, or why it was not compared.
    pub output: Sameness,
    /// Trials run, both sides together.
    pub trials: u32,
    /// Time spent on trials, in nanoseconds.
    pub spent_ns: u64,
    /// Time allowed, in nanoseconds.
    pub budget_ns: u64,
    /// What limits the comparison: another machine, few samples, an interrupt.
    pub warnings: Vec<String>,
}

/// What a figure is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Nothing: no two recordings were compared.
    #[default]
    #[serde(rename = "")]
    Nothing,
    /// An exchange, on average.
    Exchange,
    /// A whole run.
    Run,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The command of the client.
    pub command: Vec<String>,
    /// The command of the server; empty for none of ours.
    pub server: Vec<String>,
    /// What was changed on this side, as `KEY=VALUE`.
    pub changes: Vec<String>,
    /// The folders of its recorded runs; empty if the side was measured earlier.
    pub cases: Vec<String>,
    /// Exchanges in a recorded run, on average.
    pub exchanges: f64,
    /// The client's exit status.
    pub exit: Option<i32>,
}

/// How B compares with A in a metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Contrast {
    /// B takes more: the interval lies above 1.
    More,
    /// B takes less.
    Less,
    /// The interval includes 1 and is narrow: there is no difference larger than its ends.
    Same,
    /// The interval includes 1 and is wide.
    #[default]
    Open,
}

/// One metric, on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Its name.
    pub metric: Metric,
    /// The median of A's trials.
    pub a: f64,
    /// The median of B's trials.
    pub b: f64,
    /// B over A.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % interval.
    pub low: f64,
    /// Upper end of the ratio's 95 % interval.
    pub high: f64,
    /// The pairs of trials that it rests on; if a side was measured earlier, the trials of the smaller side.
    pub pairs: u32,
    /// The result.
    pub outcome: Contrast,
}

/// One account of both ledgers, in nanoseconds per exchange (or per run).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenContrast")]
pub struct AccountContrast {
    /// What the time went into: the account's name, or both names if the sides name it differently.
    pub name: String,
    /// In A.
    pub a_ns: u64,
    /// In B.
    pub b_ns: u64,
    /// What the time went into; A's account if the sides differ.
    pub account: Account,
}

/// The same as files have it: older ones have only the name.
#[derive(Deserialize, JsonSchema)]
struct WrittenContrast {
    name: String,
    a_ns: u64,
    b_ns: u64,
    account: Option<Account>,
}

impl From<WrittenContrast> for AccountContrast {
    fn from(WrittenContrast { name, a_ns, b_ns, account }: WrittenContrast) -> AccountContrast {
        let account = account.unwrap_or_else(|| Account::from_name(&name));
        AccountContrast { name, a_ns, b_ns, account }
    }
}

/// CPU time in some code on both sides, in nanoseconds per exchange (or per run).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CodeContrast {
    /// The function, or `module+0xoffset` if its name is not known; `module+0x...` for all such functions of a module
    /// if the sides ran different builds of it. Empty for a whole library.
    pub function: String,
    /// The file name of the library or program.
    pub module: String,
    /// In A.
    pub a_ns: u64,
    /// In B.
    pub b_ns: u64,
    /// The samples that it rests on, both sides together.
    pub samples: u64,
}

/// A function whose own CPU time, without callees, makes up a part of a difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotSpot {
    /// The function, with its own time over all callers.
    pub own: CodeContrast,
    /// Its share of the whole difference in CPU time, 0 to 1.
    pub share: f64,
    /// The call chain behind most of it, outermost first and the function itself last; each with that function's own
    /// time when called this way.
    pub chain: Vec<CodeContrast>,
}

/// One kind of system call on both sides, per exchange (or per run).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallContrast {
    /// Its name: `read`.
    pub call: String,
    /// What it was called on: `tcp socket`, `/etc/ssl/certs/ca-certificates.crt`; empty if not known.
    pub about: String,
    /// Calls in A.
    pub a_count: f64,
    /// Calls in B.
    pub b_count: f64,
    /// Time in it in A, in nanoseconds.
    pub a_ns: u64,
    /// Time in it in B, in nanoseconds.
    pub b_ns: u64,
}

/// A condition of `--fail-if`, which the comparison must not meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// The condition as typed: `wall > 1.05x`.
    pub condition: String,
    /// Its metric.
    pub metric: Metric,
    /// The limit, a ratio.
    pub limit: f64,
    /// The measured ratio, B over A.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// The result.
    pub state: GateState,
}

/// The result of a gate. The interval decides, not the point estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GateState {
    /// The whole interval is on the right side of the limit.
    Passed,
    /// The whole interval is beyond the limit.
    Failed,
    /// The limit lies within the interval.
    #[default]
    Open,
}
