//! What a case means: findings, the ledger, the verdict. This is the JSON contract (schema 1): fields are only ever
//! added, never renamed or removed.

use crate::facts::{Account, Metric, NotTried, Sameness};
use crate::live::Switched;
use crate::stopped::Stopped;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole answer of a run, as `--json` prints it and `answer.json` keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The contract's version.
    pub schema: u32,
    /// The subject's command line.
    pub command: Vec<String>,
    /// The case's folder.
    pub case: String,
    /// Its page, one HTML file; empty where none was written.
    #[serde(default)]
    pub page: String,
    /// How long was recorded, in nanoseconds.
    pub wall_ns: u64,
    /// How many exchanges were seen (each once, at its client's end where both ends were recorded).
    pub exchanges: u64,
    /// The subject's exit status; 128 + the signal where one ended it, none where it was still running.
    pub subject_exit: Option<i32>,
    /// The strongest status among the findings.
    pub verdict: Verdict,
    /// In one or two sentences, where the time went: said with findings and without.
    pub summary: String,
    /// Ranked by cost, most expensive first.
    pub findings: Vec<Finding>,
    /// What was tried together, after each alone: in the order tried, each step standing on the one before where its
    /// interventions include that one's.
    #[serde(default)]
    pub together: Vec<Together>,
    /// How the findings were tried; none where nothing was.
    #[serde(default)]
    pub proof: Option<Proof>,
    /// What was switched on and off in a running program, in the order tried.
    #[serde(default)]
    pub live: Vec<Switched>,
    /// Where the wall time went.
    pub ledger: Ledger,
    /// What was lost while recording.
    pub losses: LossTotals,
    /// What was not looked for, and why.
    pub missing: Vec<String>,
}

/// The answer in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A cause was proved by interleaved trials.
    Confirmed,
    /// A cause is suspected; nothing was switched off yet.
    Suspected,
    /// No cause was found.
    None,
}

/// How far a finding has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Proved by interleaved trials.
    Confirmed,
    /// The evidence speaks for it; not tried.
    Suspected,
    /// Tried, and switching it off changed nothing.
    Refuted,
    /// Tried, and the interval left it open.
    Undecided,
}

/// What a detector says about one pathology.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The stable identifier, `P01`.
    pub id: String,
    /// The name, `nagle-delayed-ack`.
    pub name: String,
    /// How far it has got.
    pub status: Status,
    /// One sentence for the head: what is wrong and what it costs.
    pub title: String,
    /// How it comes about, a sentence each, in the order in which it happens, with the numbers measured.
    pub mechanism: Vec<String>,
    /// What its removal could save at most.
    pub cost: Cost,
    /// What the winning intervention did; none before the lab has tried one.
    pub effect: Option<Effect>,
    /// Every intervention tried.
    pub tried: Vec<Tried>,
    /// Where in the code, the best place first.
    pub place: Vec<Place>,
    /// What to change.
    pub remedy: String,
    /// The rows it rests on.
    pub evidence: Evidence,
    /// What was lost or not seen in the interval it speaks of; empty where nothing was.
    pub caveats: Vec<String>,
}

/// How the findings stand, in a sentence with a blank behind it; empty where there are none.
pub fn standing(findings: &[Finding]) -> String {
    let names = |status: Status| {
        let of_status = findings.iter().filter(|finding| finding.status == status);
        let mut names = of_status.map(|finding| finding.name.as_str()).collect::<Vec<_>>();
        // Two of one pathology, a second behind the first, are named once.
        let mut named = std::collections::BTreeSet::new();
        names.retain(|name| named.insert(*name));
        names
    };
    let words = [
        (Status::Confirmed, "confirmed"),
        (Status::Suspected, "suspected"),
        (Status::Undecided, "left open"),
        (Status::Refuted, "refuted"),
    ];
    let clauses = words.into_iter().filter_map(|(status, word)| match names(status).as_slice() {
        [] => None,
        [one] => Some(format!("{one} is {word}")),
        [first, rest @ ..] => Some(format!("{first} is {word}, and {} besides", rest.join(", "))),
    });
    let clauses = clauses.collect::<Vec<_>>();
    if clauses.is_empty() { String::new() } else { clauses.join("; ") + ". " }
}

/// The most that removing the mechanism could save: an upper bound read off the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Wall time of the mean exchange (of the whole run where there are no exchanges), in nanoseconds.
    pub ns_per_exchange: u64,
    /// Of that, what lies between exchanges: before a connection is there, say.
    #[serde(default)]
    pub between_ns_per_exchange: u64,
    /// The whole, as a share of the exchanges' (or the run's) wall time, 0 to 1.
    pub share_of_wall: f64,
    /// CPU time of the mean exchange, in nanoseconds.
    pub cpu_ns_per_exchange: u64,
    /// That, as a share of the recorded CPU time, 0 to 1.
    pub share_of_cpu: f64,
    /// How many exchanges (or events, where there are no exchanges) it touched.
    pub affected: u64,
}

impl Cost {
    /// The metric in which a finding's cost would fall, were it removed. `exchanges` is how many there were.
    pub fn metric(&self, exchanges: u64) -> Metric {
        let is_wall = self.share_of_wall >= self.share_of_cpu;
        match (exchanges > 0, is_wall) {
            (true, true) if self.between_ns_per_exchange * 2 > self.ns_per_exchange => Metric::ElapsedPerExchange,
            (true, true) => Metric::WallPerExchange,
            (true, false) => Metric::CpuPerExchange,
            (false, true) => Metric::Wall,
            (false, false) => Metric::Cpu,
        }
    }
}

/// What an intervention did, with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// Its name.
    pub intervention: String,
    /// What was measured.
    pub metric: String,
    /// Without it.
    pub before: f64,
    /// With it.
    pub after: f64,
    /// before / after; over 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// Trials run, both arms together.
    pub trials: u32,
    /// The same ratio for the inert twin of the intervention (nothing attached / machinery attached, inert).
    pub sham_ratio: f64,
    /// What the same trials say of other metrics, changed or not.
    #[serde(default)]
    pub also: Vec<Measured>,
}

/// A ratio of one metric, before / after, with its 95 % interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// What was measured.
    pub metric: String,
    /// before / after; over 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
}

/// An intervention that was tried, whatever came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Its name.
    pub intervention: String,
    /// before / after.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// Whether it really took hold; an intervention that did not reach the subject proves nothing.
    pub applied: bool,
    /// What came of it: confirmed (it removes the cost), refuted (it changes nothing that matters), undecided.
    #[serde(default = "undecided")]
    pub status: Status,
    /// What was measured.
    #[serde(default)]
    pub metric: String,
    /// What it was tried for.
    #[serde(default)]
    pub purpose: Purpose,
    /// The dose, where it has one: `8 ms`, `1 certificate`. Empty for none.
    #[serde(default)]
    pub dose: String,
    /// Without it.
    #[serde(default)]
    pub before: f64,
    /// With it.
    #[serde(default)]
    pub after: f64,
    /// Trials of it and of its sham.
    #[serde(default)]
    pub trials: u32,
    /// Why it did not take hold, or what it broke; empty where all is well.
    #[serde(default)]
    pub problem: String,
}

fn undecided() -> Status {
    Status::Undecided
}

/// What an intervention is tried for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// It switches the suspected cause off.
    #[default]
    Cause,
    /// It is near the cause and must do nothing: a negative prediction.
    Control,
    /// It scales the cause: the cost must follow.
    Dose,
    /// It stands on another, and shows what more can be had.
    Ladder,
    /// The user wanted to know; whatever comes of it says nothing of the finding.
    Asked,
}

/// Interventions tried together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Together {
    /// Their names.
    pub interventions: Vec<String>,
    /// What was measured.
    pub metric: String,
    /// Without them.
    pub before: f64,
    /// With them.
    pub after: f64,
    /// before / after; over 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// What the last of them added to the others: the step before / this.
    pub step: Option<Measured>,
    /// Trials of them and of their sham.
    pub trials: u32,
    /// Whether all of them took hold.
    pub applied: bool,
}

/// How the findings of a run were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Trials run, of all arms.
    pub trials: u32,
    /// Rounds: how often each arm had its turn at most.
    pub rounds: u32,
    /// Time spent on trials, in nanoseconds.
    pub spent_ns: u64,
    /// What was allowed, in nanoseconds.
    pub budget_ns: u64,
    /// Nothing attached / the sham, for the metric of the first finding: what the machinery itself costs.
    pub sham: Option<Measured>,
    /// Whether the program's output stayed the same: `same`, `same but for figures`, `different`, or why it was not
    /// compared.
    pub output: Sameness,
    /// Why trials went no further; null where there were none, or nobody kept it.
    #[serde(default)]
    pub stopped: Option<Stopped>,
    /// What was not tried, and why: one sentence each.
    pub not_tried: Vec<String>,
    /// The same as facts, in the same order; empty where a file has only the sentences.
    #[serde(default)]
    pub untried: Vec<NotTried>,
}

/// A place in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The function, or `module+0xoffset` where no name is known.
    pub function: String,
    /// The executable, library or interpreter it belongs to.
    pub module: String,
    /// The source file; empty where not known.
    pub file: String,
    /// The line; 0 where not known.
    pub line: u32,
}

/// The rows a finding rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The table.
    pub table: String,
    /// Row numbers in it, in the table's order: a handful that show the mechanism, not all of them.
    pub rows: Vec<u64>,
}

/// Where time went. The accounts add up to the total; what no account explains is one of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Always `ns`.
    pub unit: String,
    /// What the accounts add up to.
    pub total: u64,
    /// The accounts, largest first.
    pub accounts: Vec<AccountTime>,
    /// Time that no account explains.
    pub unexplained: u64,
}

impl Ledger {
    /// The accounts that have time and explain it, largest first.
    pub fn explained(&self) -> Vec<&AccountTime> {
        let explains = |one: &&AccountTime| one.ns > 0 && one.account != Account::Unexplained;
        let mut accounts = self.accounts.iter().filter(explains).collect::<Vec<_>>();
        accounts.sort_by_key(|one| std::cmp::Reverse(one.ns));
        accounts
    }
}

/// What one account has of a ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenTime")]
pub struct AccountTime {
    /// What the time went into, in words a user knows: the name of `account`.
    pub name: String,
    /// How much, in nanoseconds.
    pub ns: u64,
    /// What the time went into.
    pub account: Account,
}

impl AccountTime {
    /// An account's time, under the account's name.
    pub fn new(account: Account, ns: u64) -> AccountTime {
        AccountTime { name: account.name(), ns, account }
    }
}

/// The same as files have it: older ones have only the name.
#[derive(Deserialize, JsonSchema)]
struct WrittenTime {
    name: String,
    ns: u64,
    account: Option<Account>,
}

impl From<WrittenTime> for AccountTime {
    fn from(WrittenTime { name, ns, account }: WrittenTime) -> AccountTime {
        let account = account.unwrap_or_else(|| Account::from_name(&name));
        AccountTime { name, ns, account }
    }
}

/// What was lost while recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossTotals {
    /// Events that found no room, or came over a limit.
    pub events: u64,
    /// Stacks that could not be copied or unwound to their root.
    pub stacks: u64,
}
