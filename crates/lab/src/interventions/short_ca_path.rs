//! `short-ca-path`: one certificate for each name.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::{Replacement, Treatment};
use std::collections::BTreeSet;
use std::path::PathBuf;

intervention! {
    /// # short-ca-path
    ///
    /// ## What it does
    /// Shows the program an empty file in the place of the second certificate of each name (HASH.1) in the folder that
    /// it searches. A search ends at a file without a certificate, so that one file is parsed for each name instead of
    /// all.
    ///
    /// ## What it reaches
    /// Programs that search with OpenSSL. Only files with absolute paths that the recording names.
    ///
    /// ## What can go wrong
    /// A certificate that is needed can be one of those behind. The program then fails to verify its peer, and the arm
    /// is dropped because it broke the program. It then proves nothing.
    ///
    /// ## How we know it took effect
    /// The kernel reports that the empty files were opened.
    pub const SHORT_CA_PATH: Intervention = Intervention {
        name: "short-ca-path",
        summary: "ends the search for certificates of one name after the first",
        predictions: &[Prediction::gains("P11")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat,
        applied: |counters| match counters.replaced {
            0 => Err("the program did not open the empty files".into()),
            opened => Ok(opened),
        },
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let Some(recording) = request.recording else {
        return Err(NotHere("needs a recording that shows which files the program searches".into()));
    };
    let seconds: BTreeSet<&str> =
        recording.paths.iter().map(|path| path.path.as_str()).filter(|path| is_second(path)).collect();
    if seconds.is_empty() {
        return Err(NotHere("finds no second certificate of one name".into()));
    }
    treatment
        .replacements
        .extend(seconds.into_iter().map(|path| Replacement { path: PathBuf::from(path), content: Vec::new() }));
    Ok(())
}

/// Whether a path is that of the second file of a hash, eight hexadecimal digits.
fn is_second(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let hash = name.strip_suffix(".1").unwrap_or_default();
    path.starts_with('/') && hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::request;
    use case::Recording;
    use case::tables::Path;

    #[test]
    fn the_second_file_of_each_hash_is_shown_empty_and_no_other() {
        let names = ["/trust/5ad8a5d6.0", "/trust/5ad8a5d6.1", "/trust/5ad8a5d6.11", "5ad8a5d6.1", "/trust/readme.1"];
        let paths = names.iter().map(|path| Path { id: 1, path: (*path).to_string() });
        let recording = Recording { paths: paths.collect(), ..Recording::default() };
        let (world, mut treatment) = (World::default(), Treatment::default());
        treat(&Request { recording: Some(&recording), ..request(&world) }, &mut treatment).expect("a second file");
        assert_eq!(treatment.replacements, [Replacement { path: "/trust/5ad8a5d6.1".into(), content: Vec::new() }]);
        assert!(treat(&request(&world), &mut Treatment::default()).is_err());
    }
}
