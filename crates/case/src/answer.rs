//! What a case means: findings, the ledger, the verdict. This is the JSON contract (schema 1): fields are only ever
//! added, never renamed or removed.

mod cpu_use;
mod heaviest;
mod ledger;
mod network_path;
mod proof;
mod queue;
mod tail;
mod trouble;
mod waits;

pub use cpu_use::CpuUse;
pub use heaviest::{Heaviest, KernelPart};
pub use ledger::{AccountTime, Ledger};
pub use network_path::NetworkPath;
pub use proof::{Effect, Measured, Proof, Purpose, Together, Trend, Tried};
pub use queue::{Queue, ServedKind};
pub use tail::{FewConnections, Tail};
pub use trouble::Trouble;
pub use waits::{Ended, RequestWaits, WaitNode, WaitTree};

use crate::facts::{Blind, Metric, NotLookedFor, Observation, WholeRun};
use crate::live::Switched;
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
    /// What the user waits for most after that; null where there is nothing else, or if the file is too old to say.
    #[serde(default)]
    pub next_heaviest: Option<Heaviest>,
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
    /// The few requests that take many times as long as most, for another reason; null where there are none, or if the file is too
    /// old to say.
    #[serde(default)]
    pub tail: Option<Tail>,
    /// How many CPUs the programs used while there were requests; null where there were none, or if the file is too old to say.
    #[serde(default)]
    pub cpu_use: Option<CpuUse>,
    /// What went wrong again and again, whether or not anybody waited for it.
    #[serde(default)]
    pub troubles: Vec<Trouble>,
    /// The findings: those that are proved first, then by cost, the highest first. What only says where the time goes counts half
    /// beside a cause.
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

/// Puts what is proved before all else; otherwise the order stays.
pub fn put_proved_first(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| finding.status != Status::Confirmed);
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
        ((Status::Undecided, None), "undecided"),
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

/// Where one part in so many of a cost passes between exchanges, the time from one to the next shows more of it than their own.
const PART_BETWEEN: u64 = 3;

impl Cost {
    /// The metric in which a finding's cost would fall, were it removed. `exchanges` is how many there were.
    pub fn metric(&self, exchanges: u64) -> Metric {
        let is_wall = self.share_of_wall >= self.share_of_cpu;
        let shows_between = self.between_ns_per_exchange * PART_BETWEEN > self.ns_per_exchange;
        match (exchanges > 0, is_wall) {
            (true, true) if shows_between => Metric::ElapsedPerExchange,
            (true, true) => Metric::WallPerExchange,
            (true, false) => Metric::CpuPerExchange,
            (false, true) => Metric::Wall,
            (false, false) => Metric::Cpu,
        }
    }

    /// Whether most of it lies outside requests, between one and the next.
    pub fn is_between_requests(&self) -> bool {
        self.between_ns_per_exchange * 2 > self.ns_per_exchange
    }
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
