//! The page of a matrix: what each version's first recording shows, and where those that differ from the first version
//! take more or less processor time.

use super::{difference, dots, numbered, read_all, side};
use crate::fail::Failure;
use case::{Case, Matrix, Recording, Version};
use report::page::{Difference, Material, Pairs, Told};
use std::path::Path;

/// The page of a matrix: recordings of each version are read from its case.
pub fn of_matrix(matrix: &Matrix, case: &Case) -> Result<String, Failure> {
    let mut sides = Vec::new();
    for version in &matrix.versions {
        for recording in read_all(case.folder(), std::slice::from_ref(&version.version))? {
            let answer = diagnose::diagnose(&recording, "", &diagnose::Options::default());
            sides.push(side(&version.version, &recording, &answer));
        }
    }
    let differences = differences(matrix, case)?;
    let trials: Vec<case::tables::Trial> = case.read()?;
    let arms = matrix.metrics.iter().flat_map(|metric| dots(metric, &trials)).collect();
    Ok(report::page::page(&Material { told: Told::Matrix(matrix), sides, differences, arms }))
}

/// Each pair's, from all recordings of both. One version's are held at a time, besides the first one's.
fn differences(matrix: &Matrix, case: &Case) -> Result<Vec<Difference>, Failure> {
    let Some(pairs) = Pairs::of(matrix).filter(|pairs| !pairs.drawn.is_empty()) else { return Ok(Vec::new()) };
    let all = |version: &Version| -> Result<Vec<Recording>, Failure> {
        let mut all = read_all(case.folder(), &recordings(case.folder(), &version.version))?;
        for one in &mut all {
            name_alike(one, version, &matrix.library);
        }
        Ok(all)
    };
    let before = all(pairs.first)?;
    let first = &pairs.first.version;
    let one = |version: &&Version| Ok(difference([first, &version.version], [&before, &all(version)?]));
    Ok(pairs.drawn.iter().map(one).collect::<Result<Vec<_>, Failure>>()?.into_iter().flatten().collect())
}

/// Names the files of a version's own as those of any other version: `libssl (openssl)`, not `libssl.so.1.1` here and
/// `libssl.so.3` there. By their file names alone they are not to be told from the system's, which the other program (a
/// server, say) has loaded on all versions, and every function would be drawn twice, once red and once blue.
fn name_alike(recording: &mut Recording, version: &Version, library: &str) {
    if version.prefix.is_empty() {
        return;
    }
    let own = format!("{}/", version.prefix);
    for place in &mut recording.locations {
        if let Some(path) = place.module.strip_prefix(&own) {
            let file = path.rsplit('/').next().unwrap_or(path);
            let stem = file.split_once(".so").map_or(file, |(stem, _)| stem);
            place.module = format!("{stem} ({library})");
        }
    }
}

/// The recordings of a version: the first bears its name alone, the next ones are `3.0.2-2`, `3.0.2-3` and so on.
fn recordings(folder: &Path, version: &str) -> Vec<String> {
    let first = std::iter::once(version.to_string());
    first.chain(numbered(folder, version, 2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::tables::Location;

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

    #[test]
    fn a_versions_own_libraries_are_named_alike_and_the_systems_keep_their_names() {
        let named = |prefix: &str, module: &str| {
            let place = Location { module: module.into(), ..Location::default() };
            let mut recording = Recording { locations: vec![place], ..Recording::default() };
            name_alike(&mut recording, &Version { prefix: prefix.into(), ..Version::default() }, "openssl");
            recording.locations.remove(0).module
        };
        assert_eq!(named("/builds/openssl-1.1.1w", "/builds/openssl-1.1.1w/lib/libssl.so.1.1"), "libssl (openssl)");
        assert_eq!(named("/builds/openssl-3.0.2", "/builds/openssl-3.0.2/lib/libssl.so.3"), "libssl (openssl)");
        for other in ["/usr/lib/libssl.so.3", "/builds/openssl-3.0.20/lib/libssl.so.3", "[kernel]"] {
            assert_eq!(named("/builds/openssl-3.0.2", other), other);
        }
        assert_eq!(named("", "/usr/lib/libssl.so.3"), "/usr/lib/libssl.so.3");
    }
}
