//! What a case means: findings, the ledger, the verdict. This is the JSON contract (schema 1): fields are only ever
//! added, never renamed or removed.

mod heaviest;
mod queue;
mod trouble;
mod waits;

pub use heaviest::Heaviest;
pub use queue::{Queue, RequestKind, ServedKind};
pub use trouble::Trouble;
pub use waits::{Ended, RequestWaits, WaitNode, WaitTree};

use crate::facts::{Account, Blind, Metric, NotLookedFor, NotTried, Observation, Reconciled, Sameness, WholeRun, Work};
use crate::live::Switched;
use crate::stopped::Stopped;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole answer of a run, as `--json` prints it and `answer.json` keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The version of this format.
    pub schema: u32,
    /// The subject's command line.
    pub command: Vec<String>,
    /// The case's folder.
    pub case: String,
    /// The path of its page, one HTML file; empty if none was written.
    #[serde(default)]
    pub page: String,
    /// How long the recording is, in nanoseconds.
    pub wall_ns: u64,
    /// How many exchanges were seen. Where both ends were recorded, each counts once, at its client's end.
    pub exchanges: u64,
    /// The subject's exit status; 128 + the signal if one killed it, none if it was still running.
    pub subject_exit: Option<i32>,
    /// The strongest status among the findings.
    pub verdict: Verdict,
    /// One or two sentences on where the time went, with findings or without.
    pub summary: String,
    /// What the user waits for most; null where no time was recorded, or if the file is too old to say.
    #[serde(default)]
    pub heaviest: Option<Heaviest>,
    /// Who waits for whom; null if nothing can be said, or if the file is too old to say.
    #[serde(default)]
    pub waits: Option<WaitTree>,
    /// The same of one exchange, the typical one that the page shows step by step; null where there were no exchanges, or if the
    /// file is too old to say.
    #[serde(default)]
    pub request: Option<RequestWaits>,
    /// Which requests the server's threads deal with, and which wait in line; null where no server was recorded, or if the file is
    /// too old to say.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// What went wrong again and again, whether or not anybody waited for it.
    #[serde(default)]
    pub troubles: Vec<Trouble>,
    /// The findings, most expensive first.
    pub findings: Vec<Finding>,
    /// Interventions tried together, after each alone, in the order tried. A step builds on the one before if its
    /// interventions include that one's.
    #[serde(default)]
    pub together: Vec<Together>,
    /// How the findings were tried; none if nothing was tried.
    #[serde(default)]
    pub proof: Option<Proof>,
    /// Interventions switched on and off in a running program, in the order tried.
    #[serde(default)]
    pub live: Vec<Switched>,
    /// Where the wall time went.
    pub ledger: Ledger,
    /// What was counted of the whole run, where rows end before it does; null where they do not.
    #[serde(default)]
    pub whole_run: Option<WholeRun>,
    /// What was lost while recording.
    pub losses: LossTotals,
    /// What could not be recorded, and why.
    pub missing: Vec<String>,
    /// What was not looked for, and why: pathologies that nothing looks for, and those that this run does not show.
    #[serde(default)]
    pub not_looked_for: Vec<NotLookedFor>,
}

/// The answer in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A cause was proved by interleaved trials.
    Confirmed,
    /// A cause is suspected, but not proved.
    Suspected,
    /// No cause was found.
    #[default]
    None,
}

/// The status of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Proved by interleaved trials.
    Confirmed,
    /// The evidence supports it, but it was not tried.
    #[default]
    Suspected,
    /// Tried, and switching it off changed nothing.
    Refuted,
    /// Tried, but the interval is too wide to decide.
    Undecided,
}

/// What a finding names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A mechanism that makes the program slow.
    #[default]
    Cause,
    /// Where the time goes, and not why.
    Observation,
}

/// What a detector says about one pathology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The stable identifier, `P01`.
    pub id: String,
    /// The name, `nagle-delayed-ack`.
    pub name: String,
    /// Whether it names a cause, or only where the time goes.
    #[serde(default)]
    pub kind: Kind,
    /// Its status.
    pub status: Status,
    /// One sentence: what is wrong and what it costs. Once the finding is confirmed, the cost is the one measured.
    pub title: String,
    /// What is wrong, without the cost and the place; empty if the file is too old to say.
    #[serde(default)]
    pub what: String,
    /// How it happens, step by step, one sentence each, with the measured numbers.
    pub mechanism: Vec<String>,
    /// What the claim rests on, as typed measurements; reports put them into sentences after `mechanism`.
    #[serde(default)]
    pub observed: Vec<Observation>,
    /// The most that removing it could save.
    pub cost: Cost,
    /// What the intervention did that counts: of those that have the same result the first that removes the cause and nothing
    /// else, in a fixed order, and not the luckiest. None if none was tried.
    pub effect: Option<Effect>,
    /// Every intervention tried.
    pub tried: Vec<Tried>,
    /// How the cost follows the dose of what scales the cause; none if no doses were tried.
    #[serde(default)]
    pub trend: Option<Trend>,
    /// Where in the code: the place that carries most of the cost, its most specific frame first.
    pub place: Vec<Place>,
    /// How much of the cost is at that place; null if that is not known.
    #[serde(default)]
    pub place_share: Option<PlaceShare>,
    /// What to do about it.
    pub remedy: String,
    /// The recorded rows that it rests on.
    pub evidence: Evidence,
    /// What limits it: losses in its interval, things not seen, doubts; empty if nothing does.
    pub caveats: Vec<String>,
}

/// How the findings stand, in a sentence with a blank behind it; empty where there are none.
pub fn standing(findings: &[Finding]) -> String {
    let names = |(status, kind): (Status, Option<Kind>)| {
        let is_it = |finding: &&Finding| finding.status == status && kind.is_none_or(|kind| finding.kind == kind);
        let of_status = findings.iter().filter(is_it);
        let mut names = of_status.map(|finding| finding.name.as_str()).collect::<Vec<_>>();
        // Two of one pathology, a second behind the first, are named once.
        let mut named = std::collections::BTreeSet::new();
        names.retain(|name| named.insert(*name));
        names
    };
    let words = [
        ((Status::Confirmed, None), "confirmed"),
        ((Status::Suspected, Some(Kind::Cause)), "suspected"),
        ((Status::Suspected, Some(Kind::Observation)), "observed"),
        ((Status::Undecided, None), "left open"),
        ((Status::Refuted, None), "refuted"),
    ];
    let clauses = words.into_iter().filter_map(|(which, word)| match names(which).as_slice() {
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
    /// The part of that which lies between exchanges, such as connection set-up.
    #[serde(default)]
    pub between_ns_per_exchange: u64,
    /// `ns_per_exchange` as a share of the exchanges' (or the run's) wall time, 0 to 1.
    pub share_of_wall: f64,
    /// CPU time of the mean exchange, in nanoseconds.
    pub cpu_ns_per_exchange: u64,
    /// `cpu_ns_per_exchange` as a share of the recorded CPU time, 0 to 1.
    pub share_of_cpu: f64,
    /// How many exchanges (or events, where there are no exchanges) it affects.
    pub affected: u64,
    /// What happens, where it happens to so few exchanges that a mean over all says nothing; null otherwise.
    #[serde(default)]
    pub few: Option<Few>,
}

/// Something that happens to few exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Few {
    /// How many times.
    pub count: u64,
    /// How long it took each time: the median, in nanoseconds.
    pub ns: u64,
    /// When.
    pub when: Moment,
}

/// When in a run something happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// In the first tenth of the exchanges alone.
    Start,
    /// In the last tenth alone.
    End,
    /// At other times.
    #[default]
    Throughout,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// Its name.
    pub intervention: String,
    /// The metric.
    pub metric: Metric,
    /// The metric without it.
    pub before: f64,
    /// The metric with it.
    pub after: f64,
    /// before / after; above 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// Trials run, both arms together.
    pub trials: u32,
    /// The same ratio for the sham: nothing attached / the machinery attached, inert.
    pub sham_ratio: f64,
    /// What the same trials say about other metrics, changed or not.
    #[serde(default)]
    pub also: Vec<Measured>,
}

/// The ratio before / after of one metric, with its 95 % interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// The metric.
    pub metric: Metric,
    /// before / after; above 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
}

/// An intervention that was tried, whatever the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Its name.
    pub intervention: String,
    /// before / after.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// Whether it took effect; one that did not reach the subject proves nothing.
    pub applied: bool,
    /// The result: confirmed (it removes the cost), refuted (it makes no difference that matters) or undecided.
    #[serde(default = "undecided")]
    pub status: Status,
    /// The metric.
    #[serde(default)]
    pub metric: Metric,
    /// Its purpose.
    #[serde(default)]
    pub purpose: Purpose,
    /// The dose, if it has one: `8 ms`, `1 certificate`; else empty.
    #[serde(default)]
    pub dose: String,
    /// The metric without it.
    #[serde(default)]
    pub before: f64,
    /// The metric with it.
    #[serde(default)]
    pub after: f64,
    /// Trials of it and of its sham.
    #[serde(default)]
    pub trials: u32,
    /// Why it did not take effect, or what it broke; empty if nothing went wrong.
    #[serde(default)]
    pub problem: String,
    /// Whether the program did the same work with it.
    #[serde(default)]
    pub work: Work,
    /// The arm that it is compared with, as the trials name it.
    #[serde(default)]
    pub reference: String,
}

fn undecided() -> Status {
    Status::Undecided
}

/// How a cost follows the dose of an intervention that scales its cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// The intervention.
    pub intervention: String,
    /// The metric.
    pub metric: Metric,
    /// By how much the metric rises with each unit of the dose: the median of the slopes between all trials (Theil 1950).
    pub slope: f64,
    /// Lower end of the slope's 95 % interval (Sen 1968).
    pub low: f64,
    /// Upper end of the slope's interval.
    pub high: f64,
    /// Trials that it rests on.
    pub points: u32,
}

/// What an intervention is tried for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// It removes the suspected cause.
    #[default]
    Cause,
    /// A control: it is close to the cause and must have no effect.
    Control,
    /// It scales the cause; the cost must scale with it.
    Dose,
    /// It builds on another, and shows what more can be gained.
    #[serde(rename = "ladder")]
    Incremental,
    /// The user asked for it; its result says nothing about the finding.
    Asked,
}

/// Interventions tried together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Together {
    /// Their names.
    pub interventions: Vec<String>,
    /// The metric.
    pub metric: Metric,
    /// The metric without them.
    pub before: f64,
    /// The metric with them.
    pub after: f64,
    /// before / after; above 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// What the last of them adds to the others: the step before / this one.
    pub step: Option<Measured>,
    /// Trials of them and of their sham.
    pub trials: u32,
    /// Whether all of them took effect at the same time.
    pub applied: bool,
}

/// How the findings of a run were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Trials run, all arms together.
    pub trials: u32,
    /// Rounds: the most trials of any one arm.
    pub rounds: u32,
    /// Time spent on trials, in nanoseconds.
    pub spent_ns: u64,
    /// The part of it after which what the recording shows had its verdicts, in nanoseconds; the rest went into what shows
    /// only once that is cured. 0 in files that do not say.
    #[serde(default)]
    pub to_verdict_ns: u64,
    /// The budget for trials, in nanoseconds.
    pub budget_ns: u64,
    /// Nothing attached / the sham, in the first finding's metric: the overhead of the machinery itself.
    pub sham: Option<Measured>,
    /// Whether the program's output stayed the same: `same`, `same but for figures`, `different`, or why it was not
    /// compared.
    pub output: Sameness,
    /// Why the trials stopped; null if there were none, or if the file is too old to say.
    #[serde(default)]
    pub stopped: Option<Stopped>,
    /// What was not tried and why, one sentence each.
    pub not_tried: Vec<String>,
    /// The same as typed facts, in the same order; empty in files that have only the sentences.
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

/// How much of a cost lies at the place that is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceShare {
    /// The named place's share of the cost, 0 to 1.
    pub share: f64,
    /// How many other places carry a part of it that matters.
    pub others: u32,
}

/// The rows a finding rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The table.
    pub table: String,
    /// Row numbers in that table, in its order: a handful that show the mechanism, not all of them.
    pub rows: Vec<u64>,
}

/// Where time went. The accounts add up to the total; unexplained time is an account of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Always `ns`.
    pub unit: String,
    /// The sum of all accounts.
    pub total: u64,
    /// The accounts, largest first.
    pub accounts: Vec<AccountTime>,
    /// Time that no account explains: that of the account `unexplained` again, for those who look for one figure.
    pub unexplained: u64,
    /// Time that was booked twice: by so much the accounts add up to more than the total. An error of whyslow's.
    #[serde(default)]
    pub overbooked: u64,
    /// How the threads' time compares with what the scheduler counted; none in cases without its sums, and in ledgers that
    /// are not a whole run's.
    #[serde(default)]
    pub reconciled: Option<Reconciled>,
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

/// One account of a ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenTime")]
pub struct AccountTime {
    /// What the time went into, as people read it: the name of `account`.
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
    /// Events dropped because a buffer was full or a limit was reached.
    pub events: u64,
    /// Stacks that could not be copied, or not unwound to their root.
    pub stacks: u64,
}
impl Answer {
    /// Whether it is drawn from a capture of packets, in which nothing of processes is.
    pub fn is_of_capture(&self) -> bool {
        self.not_looked_for.iter().any(|one| one.why == Blind::WireOnly)
    }
}
