//! What the page of a matrix shows: what each version's first recording shows, and where those that differ from the first version
//! take more or less CPU time.

use super::alike::name_alike;
use super::{difference, dots, numbered, read_all, side};
use crate::StudyError;
use case::views::{Difference, PageViews, Pairs};
use case::{Case, Matrix, Version};
use std::path::Path;

/// Those of a matrix: recordings of each version are read from its case.
pub fn of_matrix(matrix: &Matrix, case: &Case) -> Result<PageViews, StudyError> {
    let mut sides = Vec::new();
    for version in &matrix.versions {
        for recording in read_all(case, std::slice::from_ref(&version.version))? {
            sides.push(side(&version.version, &recording));
        }
    }
    let differences = differences(matrix, case)?;
    let trials: Vec<case::tables::Trial> = case.read()?;
    let arms = matrix.metrics.iter().flat_map(|metric| dots(metric, &trials)).collect();
    Ok(PageViews { sides, differences, arms })
}

/// Each pair's, from all recordings of both. One version's are held at a time, besides the first one's.
fn differences(matrix: &Matrix, case: &Case) -> Result<Vec<Difference>, StudyError> {
    let Some(pairs) = Pairs::of(matrix).filter(|pairs| !pairs.drawn.is_empty()) else { return Ok(Vec::new()) };
    let all = |version: &Version| read_all(case, &recordings(case.folder(), &version.version));
    let first = all(pairs.first)?;
    let one = |version: &&Version| -> Result<Option<Difference>, StudyError> {
        let (mut before, after) = (first.clone(), all(version)?);
        name_alike((&mut before, pairs.first), (&after, version));
        Ok(difference([&pairs.first.version, &version.version], [&before, &after]))
    };
    Ok(pairs.drawn.iter().map(one).collect::<Result<Vec<_>, StudyError>>()?.into_iter().flatten().collect())
}

/// The recordings of a version: the first bears its name alone, the next ones are `3.0.2-2`, `3.0.2-3` and so on.
fn recordings(folder: &Path, version: &str) -> Vec<String> {
    let first = std::iter::once(version.to_string());
    first.chain(numbered(folder, version, 2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_recordings_of_a_version_are_found_and_none_of_another() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["3.0.2", "3.0.2-2", "3.0.2-3", "3.0.20", "3.0.20-2", "3.0.20-4", "3.1.3"] {
            std::fs::create_dir(folder.path().join(name)).expect("made");
        }
        assert_eq!(recordings(folder.path(), "3.0.2"), ["3.0.2", "3.0.2-2", "3.0.2-3"]);
        assert_eq!(recordings(folder.path(), "3.0.20"), ["3.0.20", "3.0.20-2"]);
        assert_eq!(recordings(folder.path(), "3.1.3"), ["3.1.3"]);
    }
}
