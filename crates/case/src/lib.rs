//! A case is the folder that a run leaves behind: what was recorded (tables), about what (manifest), and what it
//! means (answer). Everything else in whyslow either fills a case or reads one.
//!
//! Promises: a case never changes after it is closed; a crash while recording loses at most the last batch of rows;
//! a case can be read on another machine, without the binaries that were recorded.

mod answer;
mod beneath;
mod bisection;
mod calendar;
mod caller;
mod comparison;
mod cube;
mod documents;
mod error;
pub mod facts;
mod folder;
mod folder_name;
mod format;
#[doc(hidden)]
pub mod fuzz;
mod history;
mod live;
mod manifest;
mod matrix;
mod names;
mod pathologies;
mod recording;
mod redact;
mod row;
mod schemas;
mod steps;
mod stopped;
mod sweep;
pub mod switches;
pub mod syscall;
pub mod tables;
mod traffic;
mod units;
pub mod views;
mod watched;

pub use answer::{
    AccountTime, Answer, Cost, Effect, Ended, Evidence, Few, Finding, Heaviest, Kind, Ledger, LossTotals, Measured,
    Moment, Place, PlaceShare, Proof, Purpose, Queue, RequestKind, RequestWaits, ServedKind, Status, Tail, Together,
    Trend, Tried, Trouble, Verdict, WaitNode, WaitTree, standing,
};
pub use bisection::{
    Bisection, BisectionOutcome, Bond, Burner, Cleared, Culprit, Factor, FactorKind, Probe, ProbeKind, ProbeResult,
    Stair, Untested, WorldSummary,
};
pub use calendar::date;
pub use caller::{Caller, act_for, as_caller, as_user, caller};
pub use comparison::{
    AccountContrast, CallContrast, CodeContrast, Compared, Comparison, Contrast, Gate, GateState, HotSpot, Per, Side,
};
pub use cube::{TrafficRow, read_cube, write_cube};
pub use documents::{
    Check, Checks, ContentFault, Document, FeedCost, FeedError, FeedFault, FeedHistory, FeedOutcomes, FeedPhase,
    FeedRefresh, FeedRound, Latency, Load, LoadArrival, LoadCourse, LoadError, LoadFault, LoadMoment, LoadPercentile,
    LoadPhase, LoadStep, PAGE, PastRound, Phase, PortUse, RoundStep, Selected, SelectedCell, SlowOrigin, StatusCount,
    Stories, StoryAspect, StoryCheck, StoryEntry, StoryList, StoryOutcome, StoryProving, StoryResult, StoryResults,
    StoryState, StoryVariant, TrialFigures, Undone, WorldEntry, Worlds,
};
pub use error::CaseError;
pub use facts::{Account, AccountGroup, Activity, End, Ender, Function, Metric};
pub use folder::{Case, CaseWriter, GivenUp, OfThread, is_damage_found};
pub use folder_name::new_folder;
pub use format::format;
pub use history::{HistoryWriter, Resolution, ServiceSample, read_history};
pub use live::{Switched, Thing, Window};
pub use manifest::{Counted, Detail, Host, Manifest, SCHEMA, Source, Subject};
pub use matrix::{Figures, Matrix, TriedOn, Version, VersionState};
pub use names::{NameKind, Names, Pseudonyms};
pub use pathologies::Pathology;
pub use recording::Recording;
pub use redact::{redact_arguments, redact_target};
pub use row::{Cell, Column, Row, Value};
pub use schemas::{CommandSchema, SCHEMAS, all_schemas};
pub use steps::{
    Bucket, Driven, DrivenKind, DrivenTrial, Level, Quantity, RateLimit, Sample as SeriesSample, Step, Steps,
};
pub use stopped::Stopped;
pub use sweep::{Cliff, Growing, Growth, KneePoint, Point, Regime, SegmentTie, Sweep, ValueKind};
pub use traffic::{
    AgentFamily, AgentKind, Claim, Demand, LiveTraffic, MalformedLine, Onset, Ranked, RouteCost, Rule, RuleFor,
    SavedCpu, Suspect, Traffic, TrafficCost, TrafficDay, TrafficFile, TrafficSeries,
};
pub use units::{Bytes, Nanos, Share};
pub use watched::{Deviation, OutOfLineWith, Watched, WatchedMetric, WatchedPoint, WatchedRecording, WatchedService};
