//! What a study returns: a document, the case that holds it, and what its page shows.

use crate::{Console, StudyError, report, views};
use case::views::PageViews;
use case::{Case, Document};
use record::Ended;

/// A study that came to a document.
#[derive(Debug)]
pub struct Done {
    /// What was found out. Its summary and its page are still to be filled in where they are the printer's.
    pub document: Document,
    /// The case that it belongs to.
    pub case: Case,
    /// What its page shows. An error there takes nothing from the document.
    pub views: Result<PageViews, StudyError>,
    /// What failed once there was something to say; the document says what was found before that.
    pub failed: Option<StudyError>,
    /// How the client of a watched run ended; none where it runs on, or where nothing was watched.
    pub ended: Option<Ended>,
    /// Studies that were made on the way, in cases of their own inside this one.
    pub inside: Vec<Done>,
}

impl Done {
    /// Of a document that nothing else is to be said of.
    pub(crate) fn of(document: Document, case: Case, views: Result<PageViews, StudyError>) -> Done {
        Done { document, case, views, failed: None, ended: None, inside: Vec::new() }
    }

    /// Of a case that keeps no names: what anybody finds who reads it. What was tried is in it already.
    pub(crate) fn without_names(
        case: Case,
        reading: diagnose::Options,
        console: &dyn Console,
    ) -> Result<Done, StudyError> {
        let document = report::read(&case, reading, console)?;
        let views = views::gathered(console, || views::of(&document, &case));
        Ok(Done::of(document, case, views))
    }
}
