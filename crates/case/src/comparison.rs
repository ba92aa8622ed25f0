//! What a comparison of two commands or worlds says: kept in its case as `comparison.json`, printed with `--json`. Part of
//! the JSON contract: fields are only ever added.
//!
//! A is what was, B what is asked about. Every ratio here is B over A, so over 1 means that B takes more.

use crate::facts::{Account, Sameness};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The contract's version.
    pub schema: u32,
    /// The case's folder. The recorded runs are cases of their own in it: `a-1`, `b-1` and so on.
    pub case: String,
    /// Its page, one HTML file; empty where none was written.
    #[serde(default)]
    pub page: String,
    /// What was.
    pub a: Side,
    /// What is asked about.
    pub b: Side,
    /// What the first metric says.
    pub outcome: Contrast,
    /// In one or two sentences: which is faster, by how much, and where that comes from.
    pub summary: String,
    /// Every metric with its interval, the one that decides first.
    pub metrics: Vec<Compared>,
    /// What the figures below are of: `exchange` or `run`.
    pub per: String,
    /// Where the time went in both, largest difference first.
    pub ledger: Vec<AccountContrast>,
    /// Processor time by library, largest difference first; libc's time charged to its caller.
    pub libraries: Vec<CodeContrast>,
    /// Processor time by function, callees included, largest difference first.
    pub functions: Vec<CodeContrast>,
    /// The call chain that carries most of the difference in processor time, outermost first; empty where there is no
    /// difference or no samples.
    pub chain: Vec<CodeContrast>,
    /// The functions that burn most of the difference by themselves, largest part first; few parts are worth telling.
    #[serde(default)]
    pub hot_spots: Vec<HotSpot>,
    /// System calls whose number or time differs, largest difference in time first.
    pub calls: Vec<CallContrast>,
    /// What `--fail-if` asked, and the answer.
    pub gates: Vec<Gate>,
    /// Whether both wrote the same: `same`, or why it was not compared.
    pub output: Sameness,
    /// Trials run, both sides together.
    pub trials: u32,
    /// Time spent on trials, in nanoseconds.
    pub spent_ns: u64,
    /// Time allowed, in nanoseconds.
    pub budget_ns: u64,
    /// What makes the comparison worth less: another machine, few samples, an early end.
    pub warnings: Vec<String>,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The command of the client.
    pub command: Vec<String>,
    /// The command of the server; empty for none of ours.
    pub server: Vec<String>,
    /// What else is particular to this side's world, as `KEY=VALUE`.
    pub changes: Vec<String>,
    /// The folders of its recorded runs; empty where the side was measured earlier.
    pub cases: Vec<String>,
    /// Exchanges in a recorded run, on average.
    pub exchanges: f64,
    /// The client's exit status.
    pub exit: Option<i32>,
}

/// What a metric says of B against A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Contrast {
    /// B takes more: the interval lies above 1.
    More,
    /// B takes less.
    Less,
    /// The interval holds 1 and is narrow: no difference larger than its ends.
    Same,
    /// The interval holds 1 and is wide.
    #[default]
    Open,
}

/// A metric of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Its name.
    pub metric: String,
    /// The middle of A's trials.
    pub a: f64,
    /// The middle of B's trials.
    pub b: f64,
    /// B over A.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % interval.
    pub low: f64,
    /// Upper end of the ratio's 95 % interval.
    pub high: f64,
    /// Pairs of trials it rests on; where a side was measured earlier, the trials of the smaller side.
    pub pairs: u32,
    /// What it says.
    pub outcome: Contrast,
}

/// One account of both ledgers, in nanoseconds an exchange (or a run).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenContrast")]
pub struct AccountContrast {
    /// What the time went into: the account's name, without mention of exchanges where there were none; both names where
    /// the sides name it differently.
    pub name: String,
    /// In A.
    pub a_ns: u64,
    /// In B.
    pub b_ns: u64,
    /// What the time went into; A's account where the sides name it differently.
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

/// Processor time in some code, of both sides, in nanoseconds an exchange (or a run).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CodeContrast {
    /// The function, or `module+0xoffset` where no name is known; `module+0x...` for all such functions of a module of which the
    /// sides ran different builds. Empty where it is a whole library.
    pub function: String,
    /// The library or program, without its folder.
    pub module: String,
    /// In A.
    pub a_ns: u64,
    /// In B.
    pub b_ns: u64,
    /// Samples that it rests on, both sides together.
    pub samples: u64,
}

/// A function that burns a part of a difference in processor time by itself, callees left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotSpot {
    /// The function, with its own time however it is called.
    pub own: CodeContrast,
    /// Its part of the whole difference in processor time, from 0 to 1.
    pub share: f64,
    /// The calls by which most of that comes about, outermost first, the function itself last; each with that function's
    /// own time so far as it is called this way.
    pub chain: Vec<CodeContrast>,
}

/// One kind of system call of both sides, an exchange (or a run).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallContrast {
    /// Its name: `read`.
    pub call: String,
    /// What it is about: `tcp socket`, `/etc/ssl/certs/ca-certificates.crt`, empty where that is not known.
    pub about: String,
    /// How often in A.
    pub a_count: f64,
    /// How often in B.
    pub b_count: f64,
    /// Time in it in A, in nanoseconds.
    pub a_ns: u64,
    /// Time in it in B, in nanoseconds.
    pub b_ns: u64,
}

/// A condition that a comparison must not meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// As it was typed: `wall > 1.05x`.
    pub condition: String,
    /// What it is about.
    pub metric: String,
    /// The ratio that is the limit.
    pub limit: f64,
    /// The ratio measured, B over A.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// What came of it.
    pub state: GateState,
}

/// What came of a gate. The interval decides, not the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GateState {
    /// The whole interval is on the right side of the limit.
    Passed,
    /// The whole interval is beyond the limit.
    Failed,
    /// The limit is within the interval.
    #[default]
    Open,
}
