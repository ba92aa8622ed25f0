//! Where the casebook is, and which stories it holds.

use super::declaration::Story;
use super::error::StoryError;
use std::path::{Path, PathBuf};

/// The variable that names the casebook where `--casebook` does not.
const VARIABLE: &str = "WHYSLOW_CASEBOOK";

/// A casebook and its stories, in the order of their names.
pub struct Casebook {
    /// Its folder.
    pub folder: PathBuf,
    /// What its stories declare.
    pub stories: Vec<Story>,
}

impl Casebook {
    /// Opens the casebook that was named, else the one in this folder, else the one of the project that this program
    /// was built in.
    ///
    /// # Errors
    /// Where there is none, or a story's declaration cannot be read.
    pub fn open(named: Option<&Path>) -> Result<Casebook, StoryError> {
        let candidates = match (named, std::env::var_os(VARIABLE)) {
            (Some(named), _) => vec![named.to_path_buf()],
            (None, Some(named)) => vec![named.into()],
            (None, None) => vec!["casebook".into(), beside_the_program()],
        };
        let is_casebook = |folder: &&PathBuf| !declared(folder).is_empty();
        let folder = candidates.iter().find(is_casebook).ok_or_else(|| StoryError::NoCasebook(candidates.clone()))?;
        let unread = |error: std::io::Error| StoryError::Story { file: folder.clone(), why: error.to_string() };
        let folder = folder.canonicalize().map_err(unread)?;
        let stories = declared(&folder).iter().map(|story| Story::read(story)).collect::<Result<Vec<_>, _>>()?;
        Ok(Casebook { folder, stories })
    }

    /// The story of that name, or all of them; none where there is none of that name.
    pub fn chosen(&self, name: &str) -> Vec<&Story> {
        self.stories.iter().filter(|story| name == "all" || story.name == name).collect()
    }
}

/// `target/release/whyslow` lies two folders below the project's.
fn beside_the_program() -> PathBuf {
    let program = std::env::current_exe().and_then(|program| program.canonicalize()).unwrap_or_default();
    program.ancestors().nth(3).unwrap_or(Path::new("/")).join("casebook")
}

/// The folders in a casebook that declare a story, by name.
fn declared(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut stories = entries.filter(|story| story.join("story.toml").is_file()).collect::<Vec<_>>();
    stories.sort();
    stories
}
