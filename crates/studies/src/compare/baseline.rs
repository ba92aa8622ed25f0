//! A comparison of an earlier day: its B is what a new program is compared with.

use super::EXTENT_FILE;
use super::side::Sided;
use crate::StudyError;
use case::tables::Trial;
use case::{Case, Comparison, Document, Host, Recording};
use lab::Extent;
use lab::compare::Which;
use std::path::{Path, PathBuf};

/// A side that was measured earlier.
pub struct Baseline {
    /// What was said of it.
    pub comparison: Comparison,
    /// The trials of its B.
    pub trials: Vec<Trial>,
    /// How far these went.
    pub extent: Extent,
    host: Host,
    folder: PathBuf,
}

impl Baseline {
    /// Reads what a comparison has left.
    pub fn read(folder: &Path) -> Result<Baseline, StudyError> {
        let case = Case::open(folder)?;
        let comparison = match Document::kept(&case)? {
            Some(Document::Comparison(comparison)) => Some(*comparison),
            _ => None,
        };
        let documents = comparison.zip(case.kept::<Extent>(EXTENT_FILE)?);
        let (comparison, extent) = documents.ok_or_else(|| StudyError::NoBaseline(folder.to_path_buf()))?;
        let mut trials: Vec<Trial> = case.read()?;
        trials.retain(|trial| trial.arm == Which::B.arm());
        let (host, folder) = (case.manifest().host.clone(), folder.to_path_buf());
        Ok(Baseline { comparison, trials, extent, host, folder })
    }

    /// What makes a comparison with it worth less.
    pub fn warnings(&self, host: &Host, now: &Sided) -> Vec<String> {
        let mut warnings = vec![format!(
            "A was measured earlier ({}): anything else that has changed since is part of the difference.",
            self.comparison.case
        )];
        let then = &self.host;
        let mut differ = |what: &str, then: &str, now: &str| {
            if then != now {
                warnings.push(format!("Different {what}: `{then}` then, `{now}` now."));
            }
        };
        differ("CPU", &then.processor, &host.processor);
        differ("number of CPUs", &then.processors.to_string(), &host.processors.to_string());
        differ("kernel", &then.kernel, &host.kernel);
        differ("distribution", &then.distribution, &host.distribution);
        let gigabytes = |bytes: u64| format!("{} GiB", bytes >> 30);
        differ("amount of memory", &gigabytes(then.memory_bytes), &gigabytes(host.memory_bytes));
        let now = now.side();
        differ("command", &self.comparison.b.command.join(" "), &now.command.join(" "));
        differ("server", &self.comparison.b.server.join(" "), &now.server.join(" "));
        warnings
    }

    /// Its recordings, also where the case was moved since. Those that were removed are no reason not to compare trials.
    pub fn recordings(&self) -> Result<Vec<Recording>, StudyError> {
        let names = self.comparison.b.cases.iter().filter_map(|path| Path::new(path).file_name());
        let cases = names.filter_map(|name| Case::open(&self.folder.join(name)).ok());
        cases.map(|case| Ok(Recording::load(&case)?)).collect()
    }
}
