//! Removes the cases of studies that failed before there was anything to keep.

use case::tables::Trial;
use case::{Case, as_caller};
use std::path::Path;

/// Removes the case of a study that failed before anything was run: it would only be in the way.
pub fn remove_empty(case: &Path) {
    let Ok(case_is) = Case::open(case) else { return };
    let has_runs = as_caller(|| std::fs::read_dir(case))
        .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| Case::open(&entry.path()).is_ok())));
    let has_trials = case_is.read::<Trial>().is_ok_and(|trials| !trials.is_empty());
    if !has_runs && !has_trials {
        // A case that cannot be removed stays; its manifest shows that it is empty.
        let _ = as_caller(|| std::fs::remove_dir_all(case));
    }
}

/// Removes the folder of a comparison whose programs could not all be started once.
pub fn remove_unfinished(case: &Path) {
    // A folder that cannot be removed stays; the next run says that it exists.
    let _ = as_caller(|| std::fs::remove_dir_all(case));
}
