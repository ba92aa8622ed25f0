//! The documents: what `--json` prints. Answers, comparisons, bisections, matrices and sweeps have modules of their own.

mod checks;
mod document;
mod feeds;
mod load;
mod selected;
mod story;
mod trial;
mod undone;
mod unnamed;
mod worlds;

pub use checks::{Check, Checks};
pub use document::{Document, PAGE};
pub use feeds::{
    ContentFault, FeedCost, FeedError, FeedFault, FeedHistory, FeedOutcomes, FeedPhase, FeedRefresh, FeedRound,
    PastRound, PortUse, RoundStep, SlowOrigin,
};
pub use load::{
    Latency, Load, LoadArrival, LoadCourse, LoadError, LoadFault, LoadMoment, LoadPercentile, LoadPhase, LoadStep,
    Phase, StatusCount,
};
pub use selected::{Selected, SelectedCell};
pub use story::{
    Stories, StoryAspect, StoryCheck, StoryEntry, StoryList, StoryOutcome, StoryProving, StoryResult, StoryResults,
    StoryState, StoryVariant,
};
pub use trial::TrialFigures;
pub use undone::Undone;
pub use worlds::{WorldEntry, Worlds};
