//! A case is the folder that a run leaves behind: what was recorded (tables), about what (manifest), and what it
//! means (answer). Everything else in whyslow either fills a case or reads one.
//!
//! How it is kept is `storage`'s, of which all is here under one name; what it means is here: facts, documents of `--json`, views.

mod answer;
mod bisection;
mod comparison;
mod documents;
pub mod facts;
#[doc(hidden)]
pub mod fuzz;
mod live;
mod matrix;
mod pathologies;
mod schemas;
mod steps;
mod stopped;
mod sweep;
mod traffic;
pub mod views;
mod watched;

pub use answer::{
    AccountTime, Answer, Cost, CpuUse, Effect, Ended, Evidence, Few, FewConnections, Finding, Heaviest, KernelPart,
    Kind, Ledger, LossTotals, Measured, Moment, NetworkPath, Place, PlaceShare, Proof, Purpose, Queue, RequestWaits,
    ServedKind, Status, Tail, Together, Trend, Tried, Trouble, Verdict, WaitNode, WaitTree, put_proved_first, standing,
};
pub use bisection::{
    Bisection, BisectionOutcome, Bond, Burner, Cleared, Culprit, Factor, FactorKind, Probe, ProbeKind, ProbeResult,
    Stair, Untested, WorldSummary,
};
pub use comparison::{
    AccountContrast, CallContrast, CodeContrast, Compared, Comparison, Contrast, Gate, GateState, HotSpot, Per, Side,
};
pub use documents::{
    Check, Checks, ContentFault, Document, FeedCost, FeedError, FeedFault, FeedHistory, FeedOutcomes, FeedPhase,
    FeedRefresh, FeedRound, Latency, Load, LoadArrival, LoadCourse, LoadError, LoadFault, LoadMoment, LoadPercentile,
    LoadPhase, LoadStep, PAGE, PastRound, Phase, PortUse, RoundStep, Selected, SelectedCell, SlowOrigin, StatusCount,
    Stories, StoryAspect, StoryCheck, StoryEntry, StoryList, StoryOutcome, StoryProving, StoryResult, StoryResults,
    StoryState, StoryVariant, TrialFigures, Undone, WorldEntry, Worlds,
};
pub use facts::{Account, AccountGroup, Activity, End, Ender, Function, KernelWork, Metric, RequestKind};
pub use live::{Switched, Thing, Window};
pub use matrix::{Figures, Matrix, TriedOn, Version, VersionState};
pub use pathologies::Pathology;
pub use schemas::{CommandSchema, SCHEMAS, all_schemas};
pub use steps::{
    Bucket, Driven, DrivenKind, DrivenTrial, Level, Quantity, RateLimit, Sample as SeriesSample, Step, Steps,
};
pub use stopped::Stopped;
pub use storage::{
    Bytes, Caller, Case, CaseError, CaseWriter, Cell, Column, Counted, Detail, GivenUp, HistoryWriter, Host, Manifest,
    NameKind, Names, Nanos, OfThread, Pseudonyms, Recording, Resolution, Row, SCHEMA, ServiceSample, Share, Source,
    Subject, TrafficRow, Value, act_for, as_caller, as_user, caller, date, format, is_damage_found, new_folder,
    read_cube, read_history, redact_arguments, redact_target, switches, syscall, tables, write_cube,
};
pub use sweep::{Cliff, Growing, Growth, KneePoint, Point, Regime, SegmentTie, Sweep, ValueKind};
pub use traffic::{
    AgentFamily, AgentKind, Claim, Demand, LiveTraffic, MalformedLine, Onset, Ranked, RouteCost, Rule, RuleFor,
    SavedCpu, Suspect, Traffic, TrafficCost, TrafficDay, TrafficFile, TrafficSeries,
};
pub use watched::{Deviation, OutOfLineWith, Watched, WatchedMetric, WatchedPoint, WatchedRecording, WatchedService};
