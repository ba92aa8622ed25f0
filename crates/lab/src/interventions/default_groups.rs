//! `default-groups`: the library's own order of groups.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::{Preload, Treatment};
use case::Recording;
use std::collections::BTreeSet;

/// Beneath which functions keys are agreed on and not signatures made.
const AGREEMENTS: [&str; 3] = ["EVP_PKEY_derive", "EVP_PKEY_generate", "EVP_PKEY_keygen"];

intervention! {
    /// # default-groups
    ///
    /// ## What it does
    /// Leaves the groups for TLS key agreement to OpenSSL, whatever list a program sets: X25519 comes first there, and P-256
    /// next.
    ///
    /// ## What it reaches
    /// Dynamically linked programs with OpenSSL that set a list of groups (nginx: ssl_ecdh_curve; curl: --curves). Not keys
    /// and their certificates: no signature gets quicker. It is tried where samples show an agreement, or the server asks for
    /// another key share.
    ///
    /// ## How we know it took effect
    /// The shim counts lists that it left out.
    pub const DEFAULT_GROUPS: Intervention = Intervention {
        name: "default-groups",
        summary: "leaves the groups for TLS key agreement to the library",
        predictions: &[Prediction::gains("P13"), Prediction::gains("P67")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat,
        applied: |counters| counters.of_shim("default-groups"),
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let is_asked_again = request.finding.is_some_and(|finding| finding.id == "P67");
    if !is_asked_again && !request.recording.is_some_and(|recording| agrees(recording, request)) {
        return Err(NotHere("is for keys agreed on; a key that signs cannot be exchanged from outside".into()));
    }
    treatment.preloads.push(Preload { shim: "default-groups", parameter: "on".into() });
    Ok(())
}

/// Whether most of the finding's samples are of an agreement.
fn agrees(recording: &Recording, request: &Request) -> bool {
    let Some(finding) = request.finding.filter(|finding| finding.evidence.table == "samples") else { return false };
    let is_agreement = |name: &str| AGREEMENTS.iter().any(|known| name.starts_with(known));
    let locations: BTreeSet<u32> =
        recording.locations.iter().filter(|row| is_agreement(&row.function)).map(|row| row.id).collect();
    let stacks: BTreeSet<u32> =
        recording.stacks.iter().filter(|row| locations.contains(&row.location)).map(|row| row.stack).collect();
    let rows = finding.evidence.rows.iter().filter_map(|row| recording.samples.get(*row as usize));
    let (own, others): (Vec<bool>, Vec<bool>) =
        rows.map(|sample| stacks.contains(&sample.stack)).partition(|is_one| *is_one);
    own.len() > others.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::Evidence;
    use case::tables::{Location, Sample, StackFrame};

    #[test]
    fn it_is_tried_for_agreements_and_not_for_signatures() {
        let is_tried = |function: &str| {
            let (mut recording, mut finding) = finding_at(End::Server);
            finding.evidence = Evidence { table: "samples".into(), rows: vec![0] };
            recording.locations.push(Location { id: 4, function: function.into(), ..Location::default() });
            recording.stacks.push(StackFrame { stack: 7, location: 4, ..StackFrame::default() });
            recording.samples.push(Sample { stack: 7, ..Sample::default() });
            let world = World::default();
            let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
            treat(&request, &mut Treatment::default()).is_ok()
        };
        assert!(is_tried("EVP_PKEY_derive"));
        assert!(!is_tried("EVP_DigestSignFinal"));
    }
}
