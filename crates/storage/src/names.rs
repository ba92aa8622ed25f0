//! Names in a case that may leave the house (`--keep-names no`): hosts, paths, what programs are called and are given. Each is
//! replaced by a pseudonym before it is written, the same name by the same one within a case.
//!
//! A pseudonym is a digest of the name and of random bytes, which are kept nowhere: who has the case cannot try names out. While the
//! process lives that wrote it, it can put the names back into what it reads (`Recording::reveal`), for what is tried on the programs
//! needs them.

mod host;
mod path;
mod text;
mod words;

use crate::error::CaseError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What is done with names when they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// They are kept.
    #[default]
    Kept,
    /// Each is replaced by a pseudonym.
    Pseudonyms,
}

/// What kind of name the text of a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// None: a word of ours, or of a protocol.
    Word,
    /// A function, or the address of one: it says what code does, and stays.
    Function,
    /// An address, a host's name, or the path of a socket, with or without a port.
    Host,
    /// What an HTTP request asks for.
    Target,
    /// A file.
    File,
    /// What a program or a thread is called.
    Program,
    /// A command line.
    Command,
    /// A control group, behind the word `cgroup:`; other words stay.
    Scope,
    /// A sentence, in which names may stand.
    Sentence,
}

impl NameKind {
    /// Whether a pseudonym takes its place.
    pub fn is_replaced(self) -> bool {
        !matches!(self, NameKind::Word | NameKind::Function)
    }
}

/// Hexadecimal digits of a pseudonym: two of a million names are the same with a probability of a half.
const DIGITS: usize = 10;
/// No more than so many names can be put back: some 200 MB. Later ones have pseudonyms, too, and whatever needs them is not tried.
const MOST_REMEMBERED: usize = 1_000_000;

/// Pseudonyms of one process.
pub struct Pseudonyms {
    salt: [u8; 32],
    known: Mutex<Known>,
}

/// What was replaced so far.
#[derive(Default)]
struct Known {
    /// Names by their kind and pseudonym.
    names: HashMap<(NameKind, String), String>,
    /// Words that names consist of.
    words: HashMap<String, String>,
    /// What stands for them: a document can be drawn from tables in which names were replaced already.
    given: HashSet<String>,
    /// Whole names, for sentences in which they stand.
    whole: HashMap<String, String>,
    /// Addresses: no two have the same pseudonym.
    addresses: HashMap<IpAddr, IpAddr>,
    taken: HashSet<IpAddr>,
}

/// Those of this process.
static OF_THIS_PROCESS: OnceLock<Pseudonyms> = OnceLock::new();

impl Pseudonyms {
    /// Those of this process, where names are not kept.
    ///
    /// # Errors
    /// Where the kernel has no random bytes.
    pub(crate) fn wanted(names: Names, case: &Path) -> Result<Option<&'static Pseudonyms>, CaseError> {
        if names == Names::Kept {
            return Ok(None);
        }
        if OF_THIS_PROCESS.get().is_none() {
            let mut salt = [0; 32];
            getrandom::fill(&mut salt).map_err(|error| CaseError::io(case)(std::io::Error::other(error)))?;
            let _ = OF_THIS_PROCESS.set(Pseudonyms::salted(salt));
        }
        Ok(OF_THIS_PROCESS.get())
    }

    /// Those of this process; none where it has written no case without names.
    pub fn of_this_process() -> Option<&'static Pseudonyms> {
        OF_THIS_PROCESS.get()
    }

    fn salted(salt: [u8; 32]) -> Pseudonyms {
        Pseudonyms { salt, known: Mutex::default() }
    }

    /// Replaces what is a name of this kind, or the names in it.
    pub fn replace(&self, kind: NameKind, text: &mut String) {
        let shown = match kind {
            NameKind::Word | NameKind::Function => return,
            _ if text.is_empty() => return,
            NameKind::Host => self.host(text),
            NameKind::Target => self.target(text),
            NameKind::File => self.path(text),
            NameKind::Program => self.program(text),
            NameKind::Command => self.command(text),
            NameKind::Scope => self.scope(text),
            NameKind::Sentence => self.sentence(text),
        };
        if shown != *text {
            self.remember(kind, &shown, text);
            *text = shown;
        }
    }

    /// Puts the name back that this process has replaced.
    pub fn reveal(&self, kind: NameKind, text: &mut String) {
        // A key of a map of pairs cannot be borrowed in parts.
        let key = (kind, std::mem::take(text));
        let name = self.known().names.get(&key).cloned();
        *text = name.unwrap_or(key.1);
    }

    fn remember(&self, kind: NameKind, shown: &str, name: &str) {
        let mut known = self.known();
        if known.names.len() < MOST_REMEMBERED {
            known.names.insert((kind, shown.to_string()), name.to_string());
        }
    }

    /// The pseudonym of a word: `n` and digits, so that it is a name wherever one is read.
    pub fn word(&self, word: &str) -> String {
        if let Some(shown) = self.known().words.get(word) {
            return shown.clone();
        }
        if self.known().given.contains(word) {
            return word.to_string();
        }
        let digest = self.digest(word.as_bytes());
        let digits = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let shown = format!("n{}", &digits[..DIGITS]);
        let mut known = self.known();
        if known.words.len() < MOST_REMEMBERED {
            known.words.insert(word.to_string(), shown.clone());
            known.given.insert(shown.clone());
        }
        shown
    }

    /// Digits for digits, as many: what is a number stays one.
    fn number(&self, digits: &str) -> String {
        let digest = self.digest(digits.as_bytes());
        let digest = digest.iter().cycle().take(digits.len());
        digest.map(|byte| char::from(b'0' + byte % 10)).collect()
    }

    /// Remembers that a whole name is shown like this in sentences.
    pub fn as_in_sentences(&self, name: &str, shown: &str) {
        let mut known = self.known();
        if name != shown && known.whole.len() < MOST_REMEMBERED {
            known.whole.insert(name.to_string(), shown.to_string());
        }
    }

    fn digest(&self, bytes: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update(self.salt).chain_update(bytes).finalize().into()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
