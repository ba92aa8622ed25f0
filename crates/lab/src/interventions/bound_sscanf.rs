//! `bound-sscanf`: sscanf reads no further than it must.

use super::{Intervention, Prediction, Purpose, Request, intervention};
use crate::treatment::Preload;
use case::{Finding, Recording};

intervention! {
    /// # bound-sscanf
    ///
    /// ## What it does
    /// libc's `sscanf` scans the whole rest of its string before it looks at the first character, so a loop that takes
    /// one token at a time from a long text needs time proportional to the square of its length. With this, strings
    /// over 1 KiB are passed to the same scanner one piece at a time. Results, `%n` and what is stored are the same.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that call `sscanf` or `vsscanf` in libc. Not Go, not static programs, not programs
    /// that measure the string themselves (`strlen` in a loop), not what libc parses internally.
    ///
    /// ## How we know it took effect
    /// The shim counts the long strings that it passed on in pieces.
    ///
    /// ## What it cannot prove
    /// That the program is then fast: other work that grows with the input only shows once this is gone.
    pub const BOUND_SSCANF: Intervention = Intervention {
        name: "bound-sscanf",
        summary: "makes sscanf read no further than it must",
        predictions: &[Prediction::gains("P36"), Prediction::gains("P51")],
        doses: &[],
        unit: "",
        stands_on: &[],
        purpose_here,
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "bound-sscanf", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("bound-sscanf"),
    };
}

/// Work that is not in `sscanf` is none of its business: that it gains nothing there refutes nothing.
fn purpose_here(request: &Request, declared: Purpose) -> Option<Purpose> {
    let (Some(recording), Some(finding)) = (request.recording, request.finding) else { return Some(declared) };
    is_in_sscanf(recording, finding).then_some(declared)
}

/// Whether a sample that a finding rests on was taken in `sscanf`.
fn is_in_sscanf(recording: &Recording, finding: &Finding) -> bool {
    let is_sscanf = |id: u32| recording.locations.iter().any(|row| row.id == id && row.function.contains("sscanf"));
    let samples = finding.evidence.rows.iter().filter_map(|&row| recording.samples.get(row as usize));
    let stacks: Vec<u32> = samples.map(|sample| sample.stack).collect();
    recording.stacks.iter().any(|frame| stacks.contains(&frame.stack) && is_sscanf(frame.location))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::request;
    use case::Evidence;
    use case::tables::{Location, Sample, StackFrame};

    /// What it is tried for where a finding rests on a sample in this function.
    fn tried_for(id: &str, function: &str) -> Option<Purpose> {
        let recording = Recording {
            samples: vec![Sample { stack: 3, ..Sample::default() }],
            stacks: vec![StackFrame { stack: 3, location: 5, ..StackFrame::default() }],
            locations: vec![Location { id: 5, function: function.into(), ..Location::default() }],
            ..Recording::default()
        };
        let evidence = Evidence { table: "samples".into(), rows: vec![0] };
        let finding = Finding { id: id.into(), evidence, ..Finding::default() };
        let world = World::default();
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        BOUND_SSCANF.purpose(id, &request)
    }

    #[test]
    fn it_is_tried_only_for_what_is_in_sscanf() {
        assert_eq!(tried_for("P36", "__isoc99_sscanf"), Some(Purpose::Cause));
        assert_eq!(tried_for("P36", "memcpy"), None);
        assert_eq!(tried_for("P51", "__isoc99_sscanf"), Some(Purpose::Cause));
        assert_eq!(tried_for("P51", "memcpy"), None);
    }
}
