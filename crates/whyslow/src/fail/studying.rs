//! Errors of studies.

use super::Failure;
use studies::story::StoryError;
use studies::{ProgramThere, StudyError};

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Failure {
        match error {
            StudyError::Case(error) => error.into(),
            StudyError::Record(error) => error.into(),
            StudyError::Lab(error) => error.into(),
            StudyError::Sweep(error) => Failure::sweep(error),
            StudyError::Temporary(error) => Failure::output(&error),
            StudyError::GivenUp { case } => Failure::given_up(&case),
            StudyError::WorldInterrupted => Failure::world_interrupted(),
            StudyError::NoProcess(pid) => Failure::no_process(pid),
            StudyError::NobodyListens(port) => Failure::nobody_listens(port),
            StudyError::SeveralListen { port, pids } => Failure::several_listen(port, &pids),
            StudyError::OfSide { side, source } => Failure::from(*source).of_side(side),
            StudyError::Unlike { unlike, case } => Failure::unlike(&unlike, &case),
            StudyError::Endless { side, recorded, case } => Failure::endless(side, recorded, &case),
            StudyError::OverBudget { least, budget, case } => Failure::over_budget(least, budget, &case),
            StudyError::Undecidable { condition, metrics } => Failure::gate(&condition, &metrics),
            StudyError::NoBaseline(folder) => Failure::no_baseline(&folder),
            StudyError::Vary(why) => Failure::vary(&why),
            StudyError::InWorld { side, name, program, source } => {
                let failure = Failure::from(*source).in_world(side, &name.to_string());
                if program == ProgramThere::Missing { failure.missing_from(&name) } else { failure }
            }
            StudyError::FailsInWorld { side, name, status, said, case } => {
                Failure::fails_in_world(&name, side, status, &said, &case)
            }
            StudyError::NotInWorld { side, name, said, case } => Failure::not_in_world(&name, side, &said, &case),
            StudyError::Chain(why) => Failure::library("--library", &why),
            StudyError::UnknownVersion { library, package, version, nearest } => {
                Failure::unknown_version((&library, &package), &version, &nearest)
            }
            StudyError::Registry(problem) => Failure::registry(&problem),
            StudyError::Tools(missing) => Failure::tools(&missing),
            StudyError::MatrixEndless { recorded, case } => Failure::matrix_endless(recorded, &case),
            StudyError::MatrixOverBudget { least, budget, case } => Failure::matrix_over_budget(least, budget, &case),
            StudyError::Spec { file, why } => Failure::spec(&file, &why.to_string()),
        }
    }
}

impl From<StoryError> for Failure {
    fn from(error: StoryError) -> Failure {
        match error {
            StoryError::NoCasebook(looked) => Failure::no_casebook(&looked),
            StoryError::Story { file, why } => Failure::story(&file, &why),
            StoryError::Interrupted(name) => Failure::story_interrupted(&name),
            StoryError::Answer(error) => Failure::output(&error),
            StoryError::Internal(error) => Failure::internal(&error.to_string()),
        }
    }
}
