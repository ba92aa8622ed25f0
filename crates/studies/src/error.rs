//! What keeps a study from coming to its document.

mod building;

pub use building::MatrixError;

use case::CaseError;
use import::ImportError;
use lab::compare::{Unlike, Which};
use lab::worlds::WorldName;
use lab::{LabError, Metric};
use record::RecordError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Why there is no document, or why it says less than it could.
#[derive(Debug, Error)]
pub enum StudyError {
    /// A case cannot be read or written.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// Something cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Logs cannot be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A capture holds nothing that could be diagnosed.
    #[error("{} has no TCP packets that can be read ({packets} packets in all)", file.display())]
    NoSegments {
        /// The capture.
        file: PathBuf,
        /// Packets that are in it.
        packets: u64,
        /// What they are instead, a sentence each.
        problems: Vec<String>,
    },
    /// A series has no values.
    #[error("{from} holds no value")]
    NoValues {
        /// Where it comes from.
        from: String,
        /// A few lines of it.
        examples: Vec<String>,
    },
    /// A command cannot be driven.
    #[error("`{command}`: {why}")]
    NotDriven {
        /// The command as it was run.
        command: String,
        /// Why.
        why: String,
    },
    /// A load could not begin.
    #[error(transparent)]
    Load(#[from] load::LoadFailure),
    /// Feeds cannot be refreshed.
    #[error(transparent)]
    Feeds(#[from] load::feeds::FeedsFailure),
    /// The laboratory failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A sweep came to nothing.
    #[error("no value was measured: {0}")]
    Sweep(LabError),
    /// A file that is only needed meanwhile cannot be made.
    #[error("a temporary file cannot be made: {0}")]
    Temporary(io::Error),
    /// Ctrl-C while something was recorded that the rest stands on.
    #[error("interrupted; what was recorded is in {case}")]
    GivenUp {
        /// The case.
        case: PathBuf,
    },
    /// Ctrl-C before a world was made.
    #[error("interrupted")]
    WorldInterrupted,
    /// A case that keeps trials only.
    #[error("{} has no recording", .0.display())]
    NothingRecorded(PathBuf),
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// Nobody listens on a port.
    #[error("nothing listens on port {0}")]
    NobodyListens(u16),
    /// Several programs listen on a port, in networks of their own.
    #[error("several programs listen on port {port}")]
    SeveralListen {
        /// The port.
        port: u16,
        /// Their numbers.
        pids: Vec<u32>,
    },
    /// A side of a comparison failed.
    #[error("{}: {source}", side.arm())]
    OfSide {
        /// Which.
        side: Which,
        /// How.
        source: Box<StudyError>,
    },
    /// Two sides do different work.
    #[error("A and B do different work")]
    Unlike {
        /// How they differ.
        unlike: Unlike,
        /// The case that keeps what was run.
        case: PathBuf,
    },
    /// The program runs on, and makes no requests that could be counted.
    #[error("{} does not end", side.map_or("the program", Which::arm))]
    Endless {
        /// The side of a comparison that it is.
        side: Option<Which>,
        /// How long it was recorded.
        recorded: Duration,
        /// The case that keeps what was recorded.
        case: PathBuf,
    },
    /// The programs run too long for the budget.
    #[error("{:.0} s is too short for this program", budget.as_secs_f64().ceil())]
    OverBudget {
        /// What four runs of each take.
        least: Duration,
        /// The budget.
        budget: Duration,
        /// The case that keeps what was recorded.
        case: PathBuf,
    },
    /// A condition asks for a metric that is not measured.
    #[error("--fail-if `{condition}` cannot be checked")]
    Undecidable {
        /// The condition, as it was typed.
        condition: String,
        /// What is measured.
        metrics: Vec<Metric>,
    },
    /// A case that no comparison has left.
    #[error("{} was not written by `whyslow compare`", .0.display())]
    NoBaseline(PathBuf),
    /// A value of a sweep cannot be put into the programs or their world.
    #[error("{0}")]
    Vary(String),
    /// Something failed in one of the worlds of a bisection.
    #[error("in the {side} world ({name}): {source}")]
    InWorld {
        /// `good` or `bad`.
        side: &'static str,
        /// The world's name.
        name: WorldName,
        /// Whether the program is missing there, or something else failed.
        program: ProgramThere,
        /// What failed.
        source: Box<StudyError>,
    },
    /// The subject fails in one world only.
    #[error("the program fails in the {side} world ({name})")]
    FailsInWorld {
        /// `good` or `bad`.
        side: &'static str,
        /// The world's name.
        name: WorldName,
        /// The program's exit status there.
        status: i32,
        /// The last thing it said.
        said: String,
        /// The case that keeps what was run.
        case: PathBuf,
    },
    /// The subject does not find in either world what it is to run.
    #[error("a program or library is missing in the {side} world ({name})")]
    NotInWorld {
        /// `good` or `bad`.
        side: &'static str,
        /// The world's name.
        name: WorldName,
        /// The last thing it said.
        said: String,
        /// The case that keeps what was run.
        case: PathBuf,
    },
    /// The versions of a library cannot be had.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// A file describes a trial that cannot be run.
    #[error("{}: {why}", file.display())]
    Spec {
        /// The file.
        file: PathBuf,
        /// Why.
        why: LabError,
    },
}

/// Whether a world has the program that is to run in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramThere {
    /// It is there.
    Yes,
    /// It is missing.
    Missing,
}

impl StudyError {
    /// The same, of one side of a comparison.
    pub(crate) fn of_side(self, side: Which) -> StudyError {
        StudyError::OfSide { side, source: Box::new(self) }
    }
}
