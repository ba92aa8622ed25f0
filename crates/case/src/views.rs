//! What a recording shows: everything that the page draws, aggregated to a bounded size and never without the worst.
//! Made by `diagnose`, drawn by `report`. Derived from the tables at any time, and so not kept in the case.
//!
//! All times named `at`, `from` and `to` are nanoseconds since recording began (`Manifest::start`); in a ladder, since
//! its exchange began. Strings are as recorded: hostile until escaped.

mod exchange;
mod flame;
mod ladder;
mod lengths;
mod page;
mod pairs;
mod sheets;
mod trial_dots;

pub use exchange::{AccountView, ExchangeView, TopExchange};
pub use flame::{Flame, FlameNode};
pub use ladder::{EventKind, Ladder, LadderEvent, Lane, SegmentKind, Stretch, Why};
pub use lengths::{Bin, Lengths, Moment, Outlier, Quantile};
pub use page::{Difference, PageViews, SideViews};
pub use pairs::{MOST_PAIRS, Pairs};
pub use sheets::{CallView, Caller, ConnectionView, EvidenceRow, EvidenceView, Fact, HandshakeState, LossView, Rest};
pub use trial_dots::{ArmDots, Dot};

use serde::{Deserialize, Serialize};

/// What one recording shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Views {
    /// How long the recording is, in nanoseconds.
    pub wall_ns: u64,
    /// Exchanges that are shown one by one, in order of their numbers: those of the ladders, the worst, and the top ones
    /// of each account.
    pub exchanges: Vec<ExchangeView>,
    /// How long exchanges took: how they are distributed, and over time.
    pub lengths: Lengths,
    /// The accounts of all exchanges together, largest first; names are those of the answer's ledger.
    pub accounts: Vec<AccountView>,
    /// A typical, a worst and a best exchange, step by step, in this order; then the top ones of large accounts.
    pub ladders: Vec<Ladder>,
    /// Where threads were on a processor.
    pub processor: Flame,
    /// Where threads were blocked.
    pub blocked: Flame,
    /// Connections, those with most of the time first.
    pub connections: Vec<ConnectionView>,
    /// Connections that found no place.
    pub connections_left_out: Rest,
    /// System calls by kind, those with most time first.
    pub calls: Vec<CallView>,
    /// The rows behind each finding, in the order of the answer's findings.
    pub evidence: Vec<EvidenceView>,
    /// The machine, the programs and their versions.
    pub environment: Vec<Fact>,
    /// What was lost, by table and reason.
    pub losses: Vec<LossView>,
    /// What was not looked for, and why.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Whether recording ended before it was done: the last rows, and the counts of what was lost, may be missing.
    #[serde(default)]
    pub cut_short: bool,
    /// The server that was started first, word by word; empty for none.
    #[serde(default)]
    pub server: Vec<String>,
}
