//! `small-ca-bundle`: fewer trusted certificates to parse.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::intervention_counters::InterventionCounters;
use crate::treatment::{Replacement, Treatment};
use case::Recording;
use case::tables::content;
use std::collections::BTreeSet;
use std::path::Path;

/// One certificate is the least a bundle can have, ten is enough to see that the time grows with their number.
const DOSES: [f64; 2] = [1.0, 10.0];

/// A file with one certificate is that of a server, or of an authority of one's own: it is needed.
const LEAST_OF_A_BUNDLE: usize = 2;

/// Bundles of distributions have 250 kB.
const LARGEST_FILE: u64 = 4 << 20;

intervention! {
    /// # small-ca-bundle
    ///
    /// ## What it does
    /// Replaces each bundle of trusted certificates that the program was seen reading with one that has only as many of
    /// its certificates as the dose, half of them from its end and half from its beginning: certificates of local
    /// authorities are usually appended, sometimes prepended, and are the most likely to be needed. The cost of loading
    /// a bundle must shrink with their number; the cost of a context or a handshake itself stays.
    ///
    /// ## What it reaches
    /// Every program that reads certificates from a file with an absolute path, whatever library it uses. Not
    /// directories of single certificates, not certificates compiled into a program. A file with fewer than two
    /// certificates, or with a private key, is never replaced.
    ///
    /// ## What can go wrong
    /// Which certificates a verification needs is not visible from outside. If one that was left out is needed, the
    /// program fails to verify its peer, and the arm is dropped because it broke the program. It then proves nothing.
    ///
    /// ## How we know it took effect
    /// The kernel reports that the replacement files were opened.
    pub const SMALL_CA_BUNDLE: Intervention = Intervention {
        name: "small-ca-bundle",
        summary: "replaces the CA bundle with a few of its certificates",
        predictions: &[Prediction::scales("P10")],
        doses: &DOSES,
        unit: "certificates",
        stands_on: &[],
        treat,
        applied: opened,
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let certificates = request.dose.unwrap_or(DOSES[0]);
    if !(1.0..=1000.0).contains(&certificates) {
        return Err(NotHere("takes a dose of 1 to 1000 certificates".into()));
    }
    let wanted = format!("bundle of more than {certificates} certificates");
    replace(request, treatment, &wanted, |bundle| smaller(bundle, certificates as usize))
}

/// Shows other contents in the place of each bundle that the program reads, where `other` makes some of it; `wanted` is what it
/// takes, for who is told that there is none.
pub(super) fn replace(
    request: &Request,
    treatment: &mut Treatment,
    wanted: &str,
    other: impl Fn(&str) -> Option<Vec<u8>>,
) -> Result<(), NotHere> {
    let Some(recording) = request.recording else {
        return Err(NotHere("needs a recording that shows which bundles the program reads".into()));
    };
    let paths = certificate_files(recording, request);
    let shown = paths.into_iter().filter_map(|path| {
        // In a tree of its own the program reads another file of that name.
        let tree = request.world.tree.as_ref();
        let file = tree.map_or(Some(path.into()), |tree| tree.root.resolve(Path::new(path)))?;
        let bundle = read(&file).filter(|bundle| is_bundle(bundle))?;
        Some(Replacement { path: path.into(), content: other(&bundle)? })
    });
    let shown: Vec<Replacement> = shown.collect();
    if shown.is_empty() {
        return Err(NotHere(format!("finds no {wanted} that the program reads")));
    }
    treatment.replacements.extend(shown);
    Ok(())
}

/// How many of the files shown were opened.
pub(super) fn opened(counters: &InterventionCounters) -> Result<u64, String> {
    match counters.replaced {
        0 => Err("the program did not open the replacement bundle".into()),
        opened => Ok(opened),
    }
}

/// The files of certificates: those that the finding rests on, and all from which PEM text was read.
fn certificate_files<'r>(recording: &'r Recording, request: &Request) -> BTreeSet<&'r str> {
    let shown = request.finding.filter(|finding| finding.evidence.table == "calls");
    let rows = shown.into_iter().flat_map(|finding| &finding.evidence.rows);
    let of_finding = rows.filter_map(|row| recording.calls.get(*row as usize));
    let read = recording.calls.iter().filter(|call| call.content == content::PEM);
    let ids: BTreeSet<u32> = of_finding.chain(read).map(|call| call.path).collect();
    let paths = recording.paths.iter().filter(|path| ids.contains(&path.id)).map(|path| path.path.as_str());
    paths.filter(|path| path.starts_with('/')).collect()
}

/// A plain file's text; none of one that is too long.
pub(super) fn read(path: &Path) -> Option<String> {
    let is_plain = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST_FILE);
    is_plain.then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// Where certificates begin in a text.
fn certificates_of(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("-----BEGIN CERTIFICATE-----").map(|(at, _)| at)
}

/// Whether a text holds several certificates, and nothing that must not be copied.
fn is_bundle(text: &str) -> bool {
    !text.contains("PRIVATE KEY-----") && certificates_of(text).count() >= LEAST_OF_A_BUNDLE
}

/// So many certificates of a bundle, half from its end and half from its beginning; none where it is not larger than that.
fn smaller(bundle: &str, certificates: usize) -> Option<Vec<u8>> {
    let begins: Vec<usize> = certificates_of(bundle).collect();
    if begins.len() <= certificates {
        return None;
    }
    let from_beginning = certificates / 2;
    let (first, last) = (begins[from_beginning], begins[begins.len() - (certificates - from_beginning)]);
    Some([&bundle.as_bytes()[begins[0]..first], &bundle.as_bytes()[last..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::request;
    use case::tables::{Call, Path as PathRow};

    fn certificates(numbers: std::ops::Range<usize>) -> String {
        let one = |n| format!("-----BEGIN CERTIFICATE-----\nc{n}\n-----END CERTIFICATE-----\n");
        numbers.map(one).collect::<Vec<_>>().concat()
    }

    /// What is shown in the place of a file that the program read.
    fn shown(content: &str, dose: f64) -> Result<Vec<String>, NotHere> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("bundle.pem");
        std::fs::write(&file, content).expect("written");
        let recording = Recording {
            paths: vec![PathRow { id: 1, path: file.display().to_string() }],
            calls: vec![Call { path: 1, content: content::PEM, ..Call::default() }],
            ..Recording::default()
        };
        let (world, mut treatment) = (World::default(), Treatment::default());
        let request = Request { recording: Some(&recording), dose: Some(dose), ..request(&world) };
        treat(&request, &mut treatment)?;
        assert!(treatment.replacements.iter().all(|one| one.path == file));
        let texts = treatment.replacements.into_iter().map(|one| String::from_utf8(one.content).expect("text"));
        Ok(texts.collect())
    }

    #[test]
    fn the_dose_is_the_number_of_certificates_kept_of_both_ends() {
        assert_eq!(shown(&certificates(0..140), 1.0), Ok(vec![certificates(139..140)]));
        let of_both_ends = certificates(0..5) + &certificates(135..140);
        assert_eq!(shown(&certificates(0..140), 10.0), Ok(vec![of_both_ends.clone()]));
        assert_eq!(shown(&format!("# bundle\n{}", certificates(0..140)), 10.0), Ok(vec![of_both_ends]));
        assert_eq!(shown(&certificates(0..3), 2.0), Ok(vec![certificates(0..1) + &certificates(2..3)]));
    }

    #[test]
    fn a_single_certificate_and_a_small_bundle_are_left_alone() {
        assert!(shown(&certificates(0..1), 1.0).is_err_and(|why| why.0.contains("no bundle")));
        assert!(shown(&certificates(0..10), 10.0).is_err());
    }

    #[test]
    fn a_private_key_is_never_copied() {
        let key = "-----BEGIN PRIVATE KEY-----\nk\n-----END PRIVATE KEY-----\n";
        assert!(shown(&format!("{}{key}", certificates(0..5)), 1.0).is_err());
    }
}
