//! `larger-pool`: more threads for libuv's pool.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::Treatment;
use case::Recording;
use case::tables::Location;
use std::collections::BTreeSet;

/// The variable that libuv reads when its pool is first used.
const SIZE: &str = "UV_THREADPOOL_SIZE";
/// What it takes where that is not set.
const DEFAULT: u32 = 4;
/// What it takes at most.
const MOST: u32 = 1024;
/// Enough for a line of three requests for each thread.
const TIMES: u32 = 4;

intervention! {
    /// # larger-pool
    ///
    /// ## What it does
    /// Has libuv's pool of threads, on which Node.js reads files, looks names up, compresses and hashes, start with four
    /// times as many threads (UV_THREADPOOL_SIZE).
    ///
    /// ## What it reaches
    /// Node.js and whatever else uses libuv's pool. No other pool reads its size from a variable.
    ///
    /// ## How we know it took effect
    /// The variable is in the environment of the programs. What the program itself sets before its pool is first used
    /// counts for more and is not seen: so a gain proves the cause, and where there is none it is left open.
    pub const LARGER_POOL: Intervention = Intervention {
        name: "larger-pool",
        summary: "gives libuv's pool four times as many threads",
        predictions: &[
            Prediction::gains("P18")
                .refutes_nothing("what the program itself sets before its pool is first used counts for more"),
        ],
        treat: |request, treatment| set(request, treatment, TIMES),
        applied: |_| Ok(1),
    };
}

/// Sets the pool's size to so many times what it has.
pub(super) fn set(request: &Request, treatment: &mut Treatment, times: u32) -> Result<(), NotHere> {
    if !is_of_libuv(request) {
        return Err(NotHere("needs libuv's pool (Node.js): no other reads its size from a variable".to_string()));
    }
    let given = match request.world.environment.get(SIZE) {
        Some(given) => given.clone(),
        None => std::env::var(SIZE).ok(),
    };
    let given = given.and_then(|size| size.trim().parse::<u32>().ok()).filter(|size| *size > 0).unwrap_or(DEFAULT);
    let size = given.saturating_mul(times).min(MOST);
    treatment.environment.push((SIZE.to_string(), Some(size.to_string())));
    Ok(())
}

/// Whether the threads of the finding's rows are of libuv's pool.
fn is_of_libuv(request: &Request) -> bool {
    let Some((recording, finding)) = request.recording.zip(request.finding) else { return false };
    let rows = finding.evidence.rows.iter().map(|row| *row as usize);
    let stacks: BTreeSet<u32> = match finding.evidence.table.as_str() {
        "samples" => rows.filter_map(|row| recording.samples.get(row)).map(|sample| sample.stack).collect(),
        "calls" => rows.filter_map(|row| recording.calls.get(row)).map(|call| call.stack).collect(),
        _ => return false,
    };
    locations(recording, &stacks).any(is_of_its_pool)
}

fn locations<'r>(recording: &'r Recording, stacks: &BTreeSet<u32>) -> impl Iterator<Item = &'r Location> {
    let frames = recording.stacks.iter().filter(|row| stacks.contains(&row.stack));
    let wanted: BTreeSet<u32> = frames.map(|row| row.location).collect();
    recording.locations.iter().filter(move |location| wanted.contains(&location.id))
}

/// By its source where a program has it built in, else by the library.
fn is_of_its_pool(location: &Location) -> bool {
    let library = location.module.rsplit('/').next().unwrap_or_default();
    location.file.ends_with("/uv/src/threadpool.c") || library.starts_with("libuv.so")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::Evidence;
    use case::tables::{Sample, StackFrame};

    /// The size that is set for a pool's thread in this file, where this one was given.
    pub fn size(file: &str, given: Option<&str>, times: u32) -> Option<String> {
        let (mut recording, mut finding) = finding_at(End::Server);
        finding.evidence = Evidence { table: "samples".into(), rows: vec![0] };
        recording.locations.push(Location { id: 4, file: file.into(), ..Location::default() });
        recording.stacks.push(StackFrame { stack: 7, location: 4, ..StackFrame::default() });
        recording.samples.push(Sample { stack: 7, ..Sample::default() });
        let mut world = World::default();
        world.environment.insert(SIZE.to_string(), given.map(ToString::to_string));
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        let mut treatment = Treatment::default();
        set(&request, &mut treatment, times).ok()?;
        treatment.environment.into_iter().find(|(name, _)| name == SIZE).and_then(|(_, value)| value)
    }

    const POOL: &str = "/build/deps/uv/src/threadpool.c";

    #[test]
    fn the_pool_gets_four_times_the_threads_that_it_has() {
        assert_eq!(size(POOL, None, TIMES).as_deref(), Some("16"));
        assert_eq!(size(POOL, Some("1"), TIMES).as_deref(), Some("4"));
        assert_eq!(size(POOL, Some("many"), TIMES).as_deref(), Some("16"));
        assert_eq!(size(POOL, Some("900"), TIMES).as_deref(), Some("1024"));
    }

    #[test]
    fn other_pools_are_left_alone() {
        assert_eq!(size("/srv/threadpool.c", None, TIMES), None);
    }
}
