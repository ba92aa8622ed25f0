//! `same-ca-bundle`: a copy of the CA bundle, with all its certificates.

use super::small_ca_bundle::{opened, replace};
use super::{Intervention, Prediction, intervention};

intervention! {
    /// # same-ca-bundle
    ///
    /// ## What it does
    /// Shows the program a copy of the CA bundle in its place, as `small-ca-bundle` does, but with every certificate in it.
    /// Where parsing the certificates is what costs time, this must change nothing and is tried as the negative control:
    /// that another file is shown is no cure.
    ///
    /// ## What it reaches
    /// As `small-ca-bundle`: every program that opens its bundle under the recorded name. Files with a private key are left
    /// alone.
    ///
    /// ## How we know it took effect
    /// The copy was opened.
    pub const SAME_CA_BUNDLE: Intervention = Intervention {
        name: "same-ca-bundle",
        summary: "replaces the CA bundle with a copy of itself",
        predictions: &[Prediction::does_nothing("P10")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |request, treatment| replace(request, treatment, "bundle", |bundle| Some(bundle.as_bytes().to_vec())),
        applied: opened,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interventions::Request;
    use crate::interventions::tests::request;
    use crate::{Treatment, World};
    use case::Recording;
    use case::tables::{Call, Path, content};

    fn shown(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("bundle.pem");
        std::fs::write(&file, text).expect("written");
        let recording = Recording {
            paths: vec![Path { id: 1, path: file.display().to_string() }],
            calls: vec![Call { path: 1, content: content::PEM, ..Call::default() }],
            ..Recording::default()
        };
        let (world, mut treatment) = (World::default(), Treatment::default());
        let request = Request { recording: Some(&recording), ..request(&world) };
        (SAME_CA_BUNDLE.treat)(&request, &mut treatment).ok()?;
        String::from_utf8(treatment.replacements[0].content.clone()).ok()
    }

    #[test]
    fn the_copy_is_the_bundle_to_the_letter_and_a_key_is_never_copied() {
        let certificate = "-----BEGIN CERTIFICATE-----\nc\n-----END CERTIFICATE-----\n";
        let bundle = format!("# all we trust\n{}", certificate.repeat(3));
        assert_eq!(shown(&bundle), Some(bundle));
        let key = "-----BEGIN PRIVATE KEY-----\nk\n-----END PRIVATE KEY-----\n";
        assert_eq!(shown(&(certificate.repeat(3) + key)), None);
    }
}
