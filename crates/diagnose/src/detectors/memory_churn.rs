//! P61: memory is given back to the kernel and taken from it again for each request.

use super::{Found, common_place, detector, goes_on, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::threads::in_call;
use case::Nanos;
use case::tables::Sample;
use rustc_hash::FxHashMap;

detector! {
    /// # memory-churn
    ///
    /// ## What it is
    /// What a request frees goes back to the kernel at once, and the next request takes it from there again, page by page:
    /// each page is cleared, and entered into the tables of the process by a fault. glibc does so with blocks above
    /// 32 MB and with the end of its heap, where a request frees more than 128 KB of it; a program that calls `malloc_trim` does
    /// so with all that is free.
    ///
    /// ## Evidence
    /// CPU samples in the kernel, below `free` or `realloc`, in calls that give memory back (munmap, brk, madvise), all through the
    /// run; and, most of the time as a rule, samples in the kernel outside of any call: page faults. Together a fifth of the
    /// requests' time or more.
    ///
    /// ## What proves it
    /// An allocator that keeps what is freed (`keep-memory`): both fall. The control (`same-memory`) sets
    /// a variable of the same kind to what it is anyway. A program that asks for it itself (`malloc_trim`) or has
    /// an allocator of its own cannot be kept from it.
    ///
    /// ## Remedy
    /// Keep large buffers from request to request and use them again, or ask for less at a time. Or let the allocator keep more:
    /// MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_MAX_ (mallopt), jemalloc's dirty_decay_ms. Take out malloc_trim.
    ///
    /// ## Not to be confused with
    /// allocator-pressure (a garbage collector at work); a program that grows, or starts, and touches memory for the first time;
    /// files that are mapped and read.
    "P61" "memory-churn",
    needs: &[Server, Samples]
}

/// Below a fifth of the requests' time it is what memory costs.
const LEAST: f64 = 0.2;

/// Of these samples so many are in calls that give memory back: where none does, memory is touched for the first time. Taking costs
/// more than giving, 15 times as much on a virtual machine whose faults are slow.
const GIVING: f64 = 0.03;

/// Fewer samples than this say little about a share: 20 ms at the usual rate.
const SAMPLES: usize = 20;

/// Functions that ask the kernel to take memory back.
const CALLS: [&str; 7] = ["munmap", "madvise", "brk", "sbrk", "mremap", "default_morecore", "glibc_morecore"];

/// Functions of allocators that free.
const FREES: [&str; 9] = [
    "free",
    "cfree",
    "libc_free",
    "realloc",
    "libc_realloc",
    "int_free",
    "malloc_trim",
    "reallocarray",
    "malloc_consolidate",
];

/// What a sample shows of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    GivenBack,
    Elsewhere,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut kinds: FxHashMap<u32, Part> = FxHashMap::default();
    let mut given: Vec<usize> = Vec::new();
    let mut faults: Vec<usize> = Vec::new();
    for (row, sample) in analysis.recording.samples.iter().enumerate() {
        if !sample.kernel || !analysis.is_for_requests(sample) {
            continue;
        }
        match kinds.entry(sample.stack).or_insert_with(|| part(analysis, sample.stack)) {
            Part::GivenBack => given.push(row),
            Part::Elsewhere if !is_in_call(analysis, sample) => faults.push(row),
            Part::Elsewhere => {}
        }
    }
    let all: Vec<&Sample> = faults.iter().chain(&given).map(|&row| &analysis.recording.samples[row]).collect();
    let wall = (all.len() as u64 * analysis.sample_period()).min(analysis.exchange_wall());
    let is_it = all.len() >= SAMPLES
        && wall as f64 >= LEAST * analysis.exchange_wall() as f64
        && given.len() as f64 >= GIVING * all.len() as f64
        && goes_on(analysis, &given.iter().map(|&row| &analysis.recording.samples[row]).collect::<Vec<_>>());
    is_it.then(|| found(analysis, &given, &all, wall))
}

/// Whether a stack ends in a call that gives memory back, below a function that frees.
fn part(analysis: &Analysis, stack: u32) -> Part {
    let is_one_of = |names: &[&str], function: &str| names.contains(&function.trim_start_matches('_'));
    let innermost = analysis.code.frames(stack).next();
    let gives = innermost.is_some_and(|innermost| is_one_of(&CALLS, &innermost.function));
    let frees = || analysis.code.passes_through(stack, |function| is_one_of(&FREES, function));
    if gives && frees() { Part::GivenBack } else { Part::Elsewhere }
}

/// Whether the thread was in a call that was recorded.
fn is_in_call(analysis: &Analysis, sample: &Sample) -> bool {
    let calls = analysis.threads.get(sample.tid).map(|thread| &analysis.recording.calls[thread.calls.clone()]);
    calls.is_some_and(|calls| in_call(calls, sample.time.0).is_some())
}

fn found(analysis: &Analysis, given: &[usize], all: &[&Sample], wall: u64) -> Found {
    let (period, count) = (analysis.sample_period(), analysis.exchanges.len().max(1) as u64);
    let place = common_place(analysis, all);
    let giving = given.len() as u64 * period;
    let what = "Memory goes back to the kernel and is taken from it again for each request".to_string();
    Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words()
        ),
        what,
        mechanism: vec![format!(
            "Of each request {} are spent in the kernel giving back what is freed, and {} outside of any call, on page faults as a rule: \
             memory that is new to the process is cleared and mapped page by page.",
            Nanos(giving / count),
            Nanos(wall.saturating_sub(giving) / count),
        )],
        saving: PotentialSaving { wall, outside: 0, cpu: all.len() as u64 * period, affected: count },
        place,
        remedy:
            "Keep large buffers and use them again, or let the allocator keep what is freed (MALLOC_TRIM_THRESHOLD_, \
                 MALLOC_MMAP_MAX_=0); take out malloc_trim."
                .to_string(),
        rows: rows("samples", given.iter().copied()),
        explains: analysis.stretches(all),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, keep_alive};
    use crate::tests::{answer, names};

    const FREEING: u32 = 7;
    const FAULTING: u32 = 8;

    /// Twenty requests of 10 ms: of each so many samples in the kernel are in `munmap`, and so many outside of calls.
    fn churning(caller: &str, given: impl Fn(usize) -> u64, faults: u64) -> Fixture {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(FREEING, &["libc.so.6!munmap", caller, "client!answer", "client!main"]);
        fixture.stack(FAULTING, &["libc.so.6!memset", "client!fill", "client!answer", "client!main"]);
        for number in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 100 * US, 100);
            let first = fixture.recording.samples.len();
            fixture.computes(CLIENT, given(number) * MS, FREEING);
            fixture.computes(CLIENT, faults * MS, FAULTING);
            fixture.recording.samples[first..].iter_mut().for_each(|sample| sample.kernel = true);
            fixture.computes(CLIENT, (10 - given(number) - faults) * MS, 0);
            fixture.waits_for(CLIENT, 1, 10 * US, 100);
        }
        fixture
    }

    fn is_found(fixture: Fixture) -> bool {
        names(&fixture.end()).contains(&"memory-churn".to_string())
    }

    #[test]
    fn memory_that_each_request_takes_anew_is_found_where_it_is_touched() {
        let answer = answer(&churning("libc.so.6!__libc_free", |_| 1, 5).end());
        let finding = answer.findings.iter().find(|finding| finding.name == "memory-churn").expect("found");
        assert!(finding.title.contains("fill"), "{}", finding.title);
        assert!((5 * MS..7 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn memory_that_is_touched_once_or_mapped_by_the_program_is_left_alone() {
        assert!(!is_found(churning("libc.so.6!free", |_| 0, 6)));
        assert!(!is_found(churning("server!close_index", |_| 1, 5)));
        assert!(!is_found(churning("libc.so.6!free", |number| if number < 3 { 5 } else { 0 }, 3)));
        assert!(!is_found(churning("libc.so.6!free", |_| 1, 0)));
    }
}
