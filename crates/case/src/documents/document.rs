//! What a study finds out, and the file of its case that keeps it.

use super::unnamed::Unnamed;
use crate::{Answer, Bisection, Comparison, Matrix, Sweep};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use storage::{Case, CaseError, Names};

/// The name of a document's page in its case.
pub const PAGE: &str = "report.html";

/// The files that keep documents in their cases, one a kind.
const ANSWER_FILE: &str = "answer.json";
const SWEEP_FILE: &str = "sweep.json";
const BISECTION_FILE: &str = "bisection.json";
const MATRIX_FILE: &str = "matrix.json";
const COMPARISON_FILE: &str = "comparison.json";

/// What a study has found out. As JSON it is what it holds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Document {
    /// Of a run, or of something that was watched while running.
    Answer(Box<Answer>),
    /// Two against each other.
    Comparison(Box<Comparison>),
    /// One thing varied.
    Sweep(Box<Sweep>),
    /// Which of the things that differ makes the difference.
    Bisection(Box<Bisection>),
    /// Versions of a library.
    Matrix(Box<Matrix>),
}

impl Document {
    /// The document that a case keeps; none where it keeps a run, whose answer is drawn from its recording.
    ///
    /// # Errors
    /// Where what is kept is damaged.
    pub fn kept(case: &Case) -> Result<Option<Document>, CaseError> {
        if let Some(comparison) = case.kept(COMPARISON_FILE)? {
            return Ok(Some(Document::Comparison(comparison)));
        }
        if let Some(bisection) = case.kept(BISECTION_FILE)? {
            return Ok(Some(Document::Bisection(bisection)));
        }
        if let Some(matrix) = case.kept(MATRIX_FILE)? {
            return Ok(Some(Document::Matrix(matrix)));
        }
        Ok(case.kept(SWEEP_FILE)?.map(Document::Sweep))
    }

    /// Keeps it in its case.
    ///
    /// # Errors
    /// Where the case cannot be written.
    pub fn keep(&self, case: &Case) -> Result<(), CaseError> {
        let file = match self {
            Document::Answer(_) => ANSWER_FILE,
            Document::Comparison(_) => COMPARISON_FILE,
            Document::Sweep(_) => SWEEP_FILE,
            Document::Bisection(_) => BISECTION_FILE,
            Document::Matrix(_) => MATRIX_FILE,
        };
        case.keep_as_it_is(file, &self.as_kept(case))
    }

    /// The same without names, where its case keeps none; an answer has none, being drawn from the case. Where the case lies is
    /// still said.
    #[must_use]
    pub fn without_names(self, case: &Case) -> Document {
        let Some(pseudonyms) = case.pseudonyms() else { return self };
        match self {
            Document::Comparison(from) => {
                let mut hidden = pseudonyms.without_names(&*from);
                hidden.case.clone_from(&from.case);
                for (hidden, from) in [(&mut hidden.a, &from.a), (&mut hidden.b, &from.b)] {
                    hidden.cases.clone_from(&from.cases);
                }
                Document::Comparison(Box::new(hidden))
            }
            Document::Sweep(from) => {
                let mut hidden = pseudonyms.without_names(&*from);
                hidden.case.clone_from(&from.case);
                for (hidden, from) in hidden.regimes.iter_mut().zip(&from.regimes) {
                    hidden.case.clone_from(&from.case);
                }
                Document::Sweep(Box::new(hidden))
            }
            Document::Bisection(from) => Document::Bisection(Box::new(Unnamed(pseudonyms).bisection(&from))),
            Document::Matrix(from) => Document::Matrix(Box::new(Unnamed(pseudonyms).matrix(&from))),
            Document::Answer(answer) => Document::Answer(answer),
        }
    }

    /// The same as it may leave the house with its case: where that keeps no names, it does not say where it lies, either.
    #[must_use]
    pub fn as_kept(&self, case: &Case) -> Document {
        if case.manifest().names == Names::Kept {
            return self.clone();
        }
        let mut kept = self.clone();
        if !kept.page().is_empty() || matches!(kept, Document::Answer(_)) {
            *kept.page() = PAGE.to_string();
        }
        match &mut kept {
            Document::Answer(answer) => answer.case = ".".to_string(),
            Document::Comparison(comparison) => {
                comparison.case = ".".to_string();
                let sides = [&mut comparison.a, &mut comparison.b];
                sides.into_iter().flat_map(|side| &mut side.cases).for_each(|inside| *inside = within(inside));
            }
            Document::Sweep(sweep) => {
                sweep.case = ".".to_string();
                sweep.regimes.iter_mut().for_each(|regime| regime.case = within(&regime.case));
            }
            Document::Bisection(bisection) => bisection.case = ".".to_string(),
            Document::Matrix(matrix) => matrix.case = ".".to_string(),
        }
        kept
    }

    /// The path of its page, to be filled in.
    pub fn page(&mut self) -> &mut String {
        match self {
            Document::Answer(answer) => &mut answer.page,
            Document::Comparison(comparison) => &mut comparison.page,
            Document::Sweep(sweep) => &mut sweep.page,
            Document::Bisection(bisection) => &mut bisection.page,
            Document::Matrix(matrix) => &mut matrix.page,
        }
    }
}

/// A case inside of another, by its path in it.
fn within(inside: &str) -> String {
    Path::new(inside).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
