//! What `story list` and `story run` print.

use schemars::JsonSchema;
use serde::Serialize;

/// The version of the document.
const SCHEMA: u32 = 1;

/// Either of what `story` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Stories {
    /// The stories that there are.
    List(StoryList),
    /// What was run and checked.
    Results(StoryResults),
}

/// The stories that there are.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoryList {
    /// The version of this format.
    schema: u32,
    /// The casebook's folder.
    pub casebook: String,
    /// Its stories.
    pub stories: Vec<StoryEntry>,
}

/// One story, as it is declared.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct StoryEntry {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub summary: String,
    /// What is asked.
    pub question: String,
    /// The answer to expect.
    pub answer: String,
    /// Roughly how long it takes, in seconds.
    pub seconds: u32,
    /// The program that asks.
    pub client: String,
    /// The program that answers; empty where the client is alone.
    pub server: String,
    /// What is prepared before anything is watched.
    pub prepared: Vec<String>,
    /// The link between client and server; empty where there is none.
    pub link: String,
    /// What the story's script sets besides, in words.
    pub world: String,
    /// Its variants.
    pub variants: Vec<String>,
}

/// What was run and checked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoryResults {
    /// The version of this format.
    schema: u32,
    /// The casebook's folder.
    pub casebook: String,
    /// The stories that were run.
    pub stories: Vec<StoryResult>,
    /// How many came out as declared.
    pub held: usize,
    /// How many did not.
    pub failed: usize,
    /// How many were skipped.
    pub skipped: usize,
    /// How many variants were skipped, in all stories.
    pub variants_skipped: usize,
    /// How long the trials of those took that were confirmed and run for less than three seconds, in nanoseconds, the
    /// shortest first.
    pub proving_short_ns: Vec<u64>,
}

/// One story that was run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoryResult {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub summary: String,
    /// How it came out.
    pub state: StoryState,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What was expected, and whether it came out so.
    pub checks: Vec<StoryCheck>,
    /// Its variants.
    pub variants: Vec<StoryVariant>,
}

/// How a story came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoryState {
    /// As declared.
    Held,
    /// Not as declared.
    Failed,
    /// Nothing of it could be run.
    Skipped,
}

/// One expectation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoryCheck {
    /// What it is about.
    pub aspect: StoryAspect,
    /// The variant it was looked for in.
    pub variant: String,
    /// Whether it held.
    pub holds: bool,
    /// What was seen.
    pub seen: String,
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoryAspect {
    /// The cause is named; to another question, the answer is the one declared.
    Named,
    /// It points at the place in the code.
    Located,
    /// Switching it off from outside proves it.
    Confirmed,
    /// Nothing is found in the twin.
    #[serde(rename = "twin silent")]
    TwinSilent,
}

/// One variant that was run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoryVariant {
    /// Its name.
    pub variant: String,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: StoryOutcome,
}

/// What came of running a variant.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum StoryOutcome {
    /// whyslow answered.
    #[serde(rename = "told")]
    Answered {
        /// The sentence that sums up the answer.
        summary: String,
        /// The titles of its findings; none where the answer has no list of them.
        findings: Option<Vec<String>>,
        /// Whether the answer names one wait that takes most of the time, without knowing its cause.
        names_a_wait: bool,
        /// The case's folder.
        case: String,
        /// The file of its page.
        page: Option<String>,
        /// whyslow's exit status.
        exit: i32,
        /// How long it took, in seconds.
        seconds: f64,
        /// What it took to confirm what heads the answer; none where that is not confirmed.
        proving: Option<StoryProving>,
    },
    /// Something that the story needs is missing.
    Skipped,
    /// There is no answer.
    Failed {
        /// Why.
        problem: String,
    },
}

/// What it took to confirm a cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StoryProving {
    /// How long the recorded run took, in nanoseconds.
    pub run_ns: u64,
    /// How long trials took after it until the verdict, in nanoseconds.
    pub to_verdict_ns: u64,
}

impl StoryProving {
    /// A run that takes less than this is short: what its proof takes is the trials' number, and not the program's length.
    pub const SHORT_NS: u64 = 3_000_000_000;
}

impl StoryAspect {
    /// All, in the order of a table's columns.
    pub const ALL: [StoryAspect; 4] =
        [StoryAspect::Named, StoryAspect::Located, StoryAspect::Confirmed, StoryAspect::TwinSilent];
}

impl StoryList {
    /// The stories of a casebook.
    pub fn of(casebook: String, stories: Vec<StoryEntry>) -> StoryList {
        StoryList { schema: SCHEMA, casebook, stories }
    }
}

impl StoryResults {
    /// Stories of a casebook that were run, counted.
    pub fn of(casebook: String, stories: Vec<StoryResult>) -> StoryResults {
        let count = |state| stories.iter().filter(|story| story.state == state).count();
        let (held, failed, skipped) = (count(StoryState::Held), count(StoryState::Failed), count(StoryState::Skipped));
        let variants = stories.iter().flat_map(|story| &story.variants);
        let variants_skipped = variants.filter(|one| matches!(one.outcome, StoryOutcome::Skipped)).count();
        let proving = stories.iter().flat_map(|story| &story.variants).filter_map(StoryVariant::proving);
        let short = proving.filter(|proving| proving.run_ns < StoryProving::SHORT_NS);
        let mut proving_short_ns = short.map(|proving| proving.to_verdict_ns).collect::<Vec<_>>();
        proving_short_ns.sort_unstable();
        StoryResults { schema: SCHEMA, casebook, stories, held, failed, skipped, variants_skipped, proving_short_ns }
    }
}

impl StoryVariant {
    /// What it took to confirm what heads its answer.
    pub fn proving(&self) -> Option<&StoryProving> {
        match &self.outcome {
            StoryOutcome::Answered { proving, .. } => proving.as_ref(),
            StoryOutcome::Skipped | StoryOutcome::Failed { .. } => None,
        }
    }
}

impl StoryState {
    /// How a story came out whose expectations were checked; without any, nothing of it was run.
    pub fn of(checks: &[StoryCheck]) -> StoryState {
        match (checks.is_empty(), checks.iter().all(|check| check.holds)) {
            (true, _) => StoryState::Skipped,
            (false, true) => StoryState::Held,
            (false, false) => StoryState::Failed,
        }
    }
}
