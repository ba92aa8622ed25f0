//! A case is the folder that a run leaves behind: what was recorded (tables), about what (manifest), and what it
//! means (answer). Everything else in whyslow either fills a case or reads one.
//!
//! Promises: a case never changes after it is closed; a crash while recording loses at most the last batch of rows;
//! a case can be read on another machine, without the binaries that were recorded.

mod answer;
mod bisection;
mod calendar;
mod comparison;
mod error;
pub mod facts;
mod folder;
mod live;
mod manifest;
mod matrix;
mod recording;
mod redact;
mod row;
mod stopped;
mod sweep;
pub mod syscall;
pub mod tables;
mod units;
pub mod views;

pub use answer::{
    AccountTime, Answer, Cost, Effect, Evidence, Finding, Ledger, LossTotals, Measured, Place, Proof, Purpose, Status,
    Together, Tried, Verdict, standing,
};
pub use bisection::{
    Bisection, BisectionOutcome, Bond, Burner, Cleared, Culprit, Factor, FactorKind, Probe, ProbeKind, ProbeResult,
    WorldTold,
};
pub use calendar::date;
pub use comparison::{
    AccountContrast, CallContrast, CodeContrast, Compared, Comparison, Contrast, Gate, GateState, HotSpot, Side,
};
pub use error::CaseError;
pub use facts::{Account, End};
pub use folder::{Case, CaseWriter};
pub use live::{Switched, Window};
pub use manifest::{Host, Manifest, SCHEMA, Subject};
pub use matrix::{Figures, Matrix, TriedOn, Version, VersionState};
pub use recording::Recording;
pub use redact::{redact_arguments, redact_target};
pub use row::{Cell, Column, Row, Value};
pub use stopped::Stopped;
pub use sweep::{Cliff, Growing, Growth, KneePoint, Point, Regime, SegmentTie, Sweep};
pub use units::{Bytes, Nanos, Share};
