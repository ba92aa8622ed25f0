//! What the smaller commands print: lists, checks, a trial, pages of explanation.

mod checks;
mod pages;
mod recording;
mod selected;
mod stories;
mod trial;
mod worlds;

pub use checks::checks;
pub use pages::{page_entry, page_text};
pub use recording::recording;
pub use selected::selected;
pub use stories::{stories, story, story_table};
pub use trial::trial;
pub use worlds::{removed_worlds, worlds};

/// As everywhere.
const COLUMNS: usize = 80;
