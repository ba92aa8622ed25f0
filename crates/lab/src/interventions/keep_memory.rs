//! `keep-memory`: an allocator that keeps what is freed.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::Treatment;
use std::collections::BTreeSet;

/// What glibc reads when a program starts: never give the end of the heap back (a limit that no heap reaches), and never ask for a
/// block by a mapping of its own.
const KEEP: [(&str, &str); 2] = [("MALLOC_TRIM_THRESHOLD_", "1099511627776"), ("MALLOC_MMAP_MAX_", "0")];

/// From so many arenas on glibc looks how many processors there are: its own number on machines of 64 bits.
const SAME: [(&str, &str); 1] = [("MALLOC_ARENA_TEST", "8")];

intervention! {
    /// # keep-memory
    ///
    /// ## What it does
    /// Lets glibc's allocator keep what the program frees, by variables that it reads when a program starts: it gives the
    /// end of its heap back only beyond a size that is never reached (MALLOC_TRIM_THRESHOLD_), and takes large blocks
    /// from the heap as well (MALLOC_MMAP_MAX_=0).
    ///
    /// ## What it reaches
    /// Programs that allocate by glibc's malloc, in whatever language. Allocators of a program's own, programs that are
    /// linked statically against another library of C, and what a program asks for itself (malloc_trim, mallopt), it
    /// does not reach.
    ///
    /// ## How we know it took effect
    /// The variables are in the environment of the programs. What a program sets by mallopt all the same counts for more,
    /// and is not seen. So a gain proves the cause, and where there is none it is left open.
    pub const KEEP_MEMORY: Intervention = Intervention {
        name: "keep-memory",
        summary: "lets the allocator keep what is freed",
        predictions: &[
            Prediction::gains("P61")
                .refutes_nothing("what the program says of its heap itself (mallopt) counts for more"),
        ],
        treat: |request, treatment| treat(request, treatment, &KEEP),
        applied: |_| Ok(1),
    };
}

intervention! {
    /// # same-memory
    ///
    /// ## What it does
    /// Tells glibc's allocator what it would do anyway, by another variable of the same kind (MALLOC_ARENA_TEST): a
    /// control for `keep-memory`. An environment that lies elsewhere in memory can by itself make a program slower or
    /// faster.
    ///
    /// ## What it reaches
    /// The same as `keep-memory`.
    ///
    /// ## How we know it took effect
    /// The variable is in the environment of the programs.
    pub const SAME_MEMORY: Intervention = Intervention {
        name: "same-memory",
        summary: "tells the allocator what it would do anyway",
        predictions: &[Prediction::does_nothing("P61")],
        treat: |request, treatment| treat(request, treatment, &SAME),
        applied: |_| Ok(1),
    };
}

fn treat(request: &Request, treatment: &mut Treatment, variables: &[(&str, &str)]) -> Result<(), NotHere> {
    let functions = functions(request);
    if functions.contains("malloc_trim") {
        return Err(NotHere(
            "needs memory that the allocator gives back by itself: this program asks for it (malloc_trim)".into(),
        ));
    }
    if !functions.iter().any(|function| function.ends_with("free") || function.ends_with("realloc")) {
        return Err(NotHere("needs glibc's allocator: no other reads these variables".into()));
    }
    for (name, value) in variables {
        treatment.environment.push(((*name).to_string(), Some((*value).to_string())));
    }
    Ok(())
}

/// What of the C library the finding's samples were taken below.
fn functions<'r>(request: &Request<'r>) -> BTreeSet<&'r str> {
    let (Some(recording), Some(finding)) = (request.recording, request.finding) else { return BTreeSet::new() };
    if finding.evidence.table != "samples" {
        return BTreeSet::new();
    }
    let samples = finding.evidence.rows.iter().filter_map(|row| recording.samples.get(*row as usize));
    let stacks: BTreeSet<u32> = samples.map(|sample| sample.stack).collect();
    let frames = recording.stacks.iter().filter(|row| stacks.contains(&row.stack));
    let locations: BTreeSet<u32> = frames.map(|row| row.location).collect();
    let of_libc = recording.locations.iter().filter(|row| locations.contains(&row.id) && row.is_libc);
    of_libc.map(|row| row.function.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::Evidence;
    use case::tables::{Location, Sample, StackFrame};

    /// What is set for a sample below this function, of the C library or of something else.
    fn variables(function: &str, is_libc: bool) -> Result<Vec<String>, NotHere> {
        let (mut recording, mut finding) = finding_at(End::Server);
        finding.evidence = Evidence { table: "samples".into(), rows: vec![0] };
        recording.locations.push(Location { id: 4, function: function.into(), is_libc, ..Location::default() });
        recording.stacks.push(StackFrame { stack: 7, location: 4, ..StackFrame::default() });
        recording.samples.push(Sample { stack: 7, tid: 5, pid: 20, ..Sample::default() });
        let world = World::default();
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        let mut treatment = Treatment::default();
        treat(&request, &mut treatment, &KEEP)?;
        Ok(treatment.environment.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn what_free_gives_back_is_kept() {
        assert_eq!(
            variables("__libc_free", true),
            Ok(vec!["MALLOC_TRIM_THRESHOLD_".into(), "MALLOC_MMAP_MAX_".into()])
        );
    }

    #[test]
    fn what_a_program_asks_for_and_other_allocators_are_left_alone() {
        assert!(variables("malloc_trim", true).is_err_and(|why| why.0.contains("malloc_trim")));
        assert!(variables("je_free", false).is_err_and(|why| why.0.contains("glibc")));
    }
}
