//! Loads of several drivers or days, put together from the files of their histograms.

use crate::StudyError;
use case::{Load, SCHEMA};
use load::{Done, Histograms, LoadFailure};
use std::path::{Path, PathBuf};

/// Reads histograms and adds them up.
///
/// # Errors
/// Where one cannot be read.
pub fn merged(files: &[PathBuf]) -> Result<Done, StudyError> {
    let mut whole: Option<Histograms> = None;
    for file in files {
        let one = read(file)?;
        match &mut whole {
            Some(whole) => whole.merge(&one),
            None => whole = Some(one),
        }
    }
    let histograms = whole.ok_or_else(|| refused(Path::new("--merge"), "it names no file"))?;
    let (latency, uncorrected) = histograms.summaries();
    let load = Load {
        schema: SCHEMA,
        answered: latency.count,
        requests: latency.count,
        percentiles: histograms.percentiles(),
        merged: files.iter().map(|file| file.display().to_string()).collect(),
        latency,
        uncorrected,
        ..Load::default()
    };
    Ok(Done { load, histograms })
}

fn read(file: &Path) -> Result<Histograms, LoadFailure> {
    let text = std::fs::read_to_string(file).map_err(|error| refused(file, &error.to_string()))?;
    Histograms::read(&text).map_err(|error| refused(file, &error))
}

fn refused(file: &Path, error: &str) -> LoadFailure {
    LoadFailure::Histogram { file: file.to_path_buf(), error: error.to_string() }
}
