//! The folder of a new case, and those above it.

use case::{CaseError, as_caller};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Makes the folders above the case, each readable for its owner only: the user on whose behalf we run. The case itself is
/// not made.
pub fn make_parents(case: &Path) -> Result<(), CaseError> {
    as_caller(|| {
        if case.symlink_metadata().is_ok() {
            return Err(CaseError::Exists(case.to_path_buf()));
        }
        let missing = case.ancestors().skip(1).take_while(|folder| !folder.exists()).collect::<Vec<_>>();
        for folder in missing.into_iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
            DirBuilder::new().mode(0o700).create(folder).map_err(CaseError::io(folder))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parents_are_private_and_an_existing_case_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a folder");
        make_parents(&home.path().join("a/b/case")).expect("made");
        let mode = home.path().join("a/b").metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(!home.path().join("a/b/case").exists());
        assert!(matches!(make_parents(&home.path().join("a")), Err(CaseError::Exists(_))));
    }
}
