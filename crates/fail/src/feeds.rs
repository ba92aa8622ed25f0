//! Errors of feeds.

use super::{Failure, again, quote_path};
use studies::feeds::FeedsFailure;

const EXAMPLE: &str = "whyslow feeds refresh feeds.opml";

impl From<FeedsFailure> for Failure {
    fn from(error: FeedsFailure) -> Failure {
        let what = error.to_string();
        match error {
            FeedsFailure::Unread { file, error } => Failure::new(
                format!("{} cannot be read", file.display()),
                error,
                format!("ls -l {}", quote_path(&file)),
            ),
            FeedsFailure::NoFeeds(_) => {
                let why = "a list is OPML with xmlUrl attributes, or text with an address in each line";
                Failure::new(what, why, EXAMPLE)
            }
            FeedsFailure::Busy(_) => {
                let why = "another `whyslow feeds` uses the database; one at a time can";
                Failure::new(what, why, format!("{} --database OTHER-FILE", again()))
            }
            FeedsFailure::Database { file, error } => {
                let remedy = format!("ls -l {}; or begin a new one: --database FILE", quote_path(&file));
                Failure::new(format!("the database {} cannot be used", file.display()), error, remedy)
            }
            FeedsFailure::NoRounds(file) => {
                let why = format!("{} has no finished round of that list", file.display());
                Failure::new("there is no history yet", why, EXAMPLE)
            }
            FeedsFailure::Load(error) => error.into(),
            FeedsFailure::System(error) => Failure::new("a round could not be made", error.to_string(), again()),
        }
    }
}
