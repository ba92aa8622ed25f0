//! P36: sscanf measures a long string to its end for each piece that it takes from it.

use super::{Found, common_place, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use case::tables::{Location, Sample};
use case::{Nanos, Share};
use std::collections::BTreeMap;

detector! {
    /// # superlinear-work
    ///
    /// ## What it is
    /// Work that grows faster than the input. One case is recognised so far: a program splits a long text with
    /// `sscanf`, one token at a time. libc's `sscanf` first searches for the end of the string, so each token costs a
    /// pass over all the remaining text: twice the text takes four times as long.
    ///
    /// ## Evidence
    /// CPU samples within `sscanf` or its relatives: at least three quarters of them are in one function that only
    /// searches (it calls nothing, and its caller, which `sscanf` called, does nothing else), and few are in the
    /// conversion itself. A conversion takes 50 to 200 ns; searching takes three times as long only if strings are many
    /// kilobytes long.
    ///
    /// ## What proves it
    /// An `sscanf` that gets the same string one piece at a time: the results stay the same and the time falls. Half
    /// the input then takes half the time instead of a quarter.
    ///
    /// ## Remedy
    /// Convert with a function that returns where it stopped (`strtol`, `strtod`), copy the token into a small buffer
    /// before scanning it, or read the stream directly with `fscanf`.
    ///
    /// ## Not to be confused with
    /// Many short strings, or long tokens (there the conversion takes the time, not the search). A search of the
    /// program's own through a long text (`strlen`, `memchr`, `strstr`), which may be its job.
    "P36" "superlinear-work"
}

/// The search's share of the time within `sscanf`. Measured at one conversion a string: 1 KB 27 %, 16 KB 65 to 70 %;
/// at a token a time from 480 KB 97 %; short lines 4 %, long tokens 1 %.
const MOST: f64 = 0.75;

/// The function that calls the search sets up a buffer: it takes 1 % or 2 % itself, where conversions take 30 % or more.
const CALLER: f64 = 0.1;

/// Fewer samples than this say little about a share: 30 ms at the usual rate.
const SAMPLES: usize = 30;

/// Functions of the C library that only look for the end of a string.
const SEARCHES: [&str; 3] = ["memchr", "strlen", "strnlen"];

/// How one sample's stack goes on below `sscanf`, by the places where functions begin.
type Below = (u64, Option<u64>, bool);

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut kinds: BTreeMap<u32, Option<Below>> = BTreeMap::new();
    let mut counts: BTreeMap<Below, usize> = BTreeMap::new();
    let mut total = 0;
    for sample in analysis.recording.samples.iter().filter(|sample| !sample.kernel) {
        let kind = kinds.entry(sample.stack).or_insert_with(|| below(analysis, sample.stack));
        if analysis.code.passes_through(sample.stack, is_sscanf) {
            total += 1;
        }
        if let Some(kind) = *kind {
            *counts.entry(kind).or_default() += 1;
        }
    }
    let (&search, &count) =
        counts.iter().filter(|(kind, _)| searches(**kind, &counts)).max_by_key(|(_, count)| **count)?;
    if count < SAMPLES || (count as f64) < MOST * total as f64 {
        return None;
    }
    let of_search = |sample: &Sample| !sample.kernel && kinds.get(&sample.stack) == Some(&Some(search));
    let numbered = analysis.recording.samples.iter().enumerate().filter(|(_, sample)| of_search(sample));
    let (found_rows, samples): (Vec<usize>, Vec<&Sample>) = numbered.unzip();
    Some(found(analysis, total, &found_rows, &samples))
}

/// What a stack's innermost frames are below `sscanf`: the function that it called, the innermost function below that
/// where there is exactly one more, and whether the innermost is known by its name to search. None where the stack does
/// not go through it, or goes deeper.
fn below(analysis: &Analysis, stack: u32) -> Option<Below> {
    let frames: Vec<&Location> = analysis.code.frames(stack).take_while(|location| location.is_libc).collect();
    let at = frames.iter().position(|location| is_sscanf(&location.function))?;
    let named = |name: &str| SEARCHES.iter().any(|search| name.contains(search));
    match frames[..at] {
        [called] => Some((begins(called), None, named(&called.function))),
        [leaf, called] if !called.function.contains("scanf") => {
            Some((begins(called), Some(begins(leaf)), named(&leaf.function)))
        }
        _ => None,
    }
}

/// Whether a way to go on is a search: known by its name, or by what it is called from, which does nothing itself.
fn searches(kind: Below, counts: &BTreeMap<Below, usize>) -> bool {
    let (called, leaf, named) = kind;
    let of = |kind: Below| counts.get(&kind).copied().unwrap_or_default() as f64;
    named || (leaf.is_some() && of((called, None, false)) <= CALLER * of(kind))
}

/// Where a place's function begins, its own address where that is not known.
fn begins(location: &Location) -> u64 {
    if location.function_offset > 0 { location.function_offset } else { location.offset }
}

/// `sscanf`, `vsscanf`, and what headers make of them: `__isoc99_sscanf`, `__isoc23_vsscanf`.
fn is_sscanf(function: &str) -> bool {
    let name = function.trim_start_matches('_');
    let name = name.strip_prefix("isoc99_").or_else(|| name.strip_prefix("isoc23_")).unwrap_or(name);
    matches!(name, "sscanf" | "vsscanf" | "IO_sscanf" | "IO_vsscanf")
}

fn found(analysis: &Analysis, total: usize, found_rows: &[usize], samples: &[&Sample]) -> Found {
    let period = analysis.sample_period();
    let half = period / 2;
    let spans = samples
        .iter()
        .map(|sample| (sample.tid, sample.time.0.saturating_sub(half), sample.time.0.saturating_add(half)));
    let explains: Vec<(u32, u64, u64)> = spans.collect();
    let cpu = samples.len() as u64 * period;
    let saving = saving(analysis, &explains, cpu);
    let (place, in_words) = common_place(analysis, samples);
    let exchanges = analysis.exchanges.len() as u64;
    let title = format!(
        "sscanf searches a long string to its end for every token: {} of CPU {}{in_words}",
        Nanos(cpu / exchanges.max(1)),
        if exchanges > 0 { "per request" } else { "in all" },
    );
    let share = Share(samples.len() as f64 / total.max(1) as f64);
    let mechanism = vec![
        format!("{share} of the time in sscanf is the search for the end of its string: {} samples.", samples.len()),
        "Before it converts anything, sscanf scans the whole rest of the string. Conversion takes little compared with \
         that, so the strings are many kilobytes long."
            .to_string(),
        "Splitting a long text that way, one token at a time, takes time proportional to the square of its length."
            .to_string(),
    ];
    let remedy =
        "Convert with strtol or strtod, which return where they stopped, or copy each token into a small buffer \
                  before scanning it."
            .to_string();
    Found { title, mechanism, saving, place, remedy, rows: rows("samples", found_rows.iter().copied()), explains }
}

/// Within exchanges each thread's time counts; outside, threads work side by side, and the busiest tells the wall time.
fn saving(analysis: &Analysis, spans: &[(u32, u64, u64)], cpu: u64) -> PotentialSaving {
    let mut by_thread: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for &(tid, start, end) in spans {
        let (inside, outside) = analysis.split(tid, start, end);
        let sums = by_thread.entry(tid).or_default();
        sums.0 += inside;
        sums.1 += outside;
    }
    let wall = by_thread.values().map(|(inside, _)| inside).sum();
    let outside = by_thread.values().map(|(_, outside)| *outside).max().unwrap_or_default();
    PotentialSaving { wall, outside, cpu, affected: analysis.exchanges.len().max(1) as u64 }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS};
    use crate::tests::{answer, names};
    use case::Recording;

    /// What `sscanf` called when samples were taken, innermost first, and for how long.
    fn scanning(parts: &[(&[&str], u64)]) -> Recording {
        let mut fixture = Fixture::new();
        for (number, (frames, duration)) in (1u32..).zip(parts) {
            let callers = ["libc.so.6!__isoc99_sscanf", "tool!parse", "tool!main"];
            fixture.stack(number, &[frames, &callers[..]].concat());
            fixture.computes(CLIENT, duration * MS, number);
        }
        let mut recording = fixture.end();
        // A function begins where its name begins: the same for all its samples.
        let names: Vec<String> = recording.locations.iter().map(|row| row.function.clone()).collect();
        for row in &mut recording.locations {
            let first = names.iter().position(|name| *name == row.function).expect("its own name");
            row.function_offset = 0x1000 + first as u64 * 0x100;
        }
        recording
    }

    const SEARCH: &[&str] = &["libc.so.6!__rawmemchr_evex", "libc.so.6!_IO_str_init_static_internal"];
    const SET_UP: &[&str] = &["libc.so.6!_IO_str_init_static_internal"];
    const CONVERT: &[&str] = &["libc.so.6!__vfscanf_internal"];
    const NUMBER: &[&str] = &["libc.so.6!__strtod_l_internal", "libc.so.6!__vfscanf_internal"];

    fn stripped(mut recording: Recording) -> Recording {
        let internal = |name: &str| name.contains("memchr") || name.contains("internal");
        recording.locations.iter_mut().filter(|row| internal(&row.function)).for_each(|row| row.function.clear());
        recording
    }

    #[test]
    fn an_sscanf_that_searches_for_the_end_of_long_strings_is_found() {
        let recording = scanning(&[(SEARCH, 48), (SET_UP, 1), (CONVERT, 4)]);
        let answer = answer(&recording);
        let finding = &answer.findings[0];
        assert_eq!((finding.id.as_str(), answer.findings.len()), ("P36", 1));
        assert_eq!(finding.place[0].function, "parse");
        assert!(finding.cost.share_of_wall > 0.8, "{:?}", finding.cost);
        assert_eq!(finding.cost.cpu_ns_per_exchange, 48 * MS);
        assert_eq!(names(&stripped(recording)), ["superlinear-work"]);
    }

    #[test]
    fn an_sscanf_that_converts_is_left_alone() {
        for parts in [
            // Short lines.
            vec![(SEARCH, 11), (SET_UP, 2), (CONVERT, 180), (NUMBER, 70)],
            // Numbers of 1 kB.
            vec![(SEARCH, 2), (CONVERT, 318), (NUMBER, 160)],
            // Words of 1 kB.
            vec![(SEARCH, 3), (CONVERT, 215)],
            // One number at the head of lines of 1 kB.
            vec![(SEARCH, 30), (SET_UP, 4), (CONVERT, 53), (NUMBER, 12)],
        ] {
            let recording = scanning(&parts);
            assert_eq!(names(&recording), Vec::<String>::new(), "{parts:?}");
            assert_eq!(names(&stripped(recording)), Vec::<String>::new(), "{parts:?}, stripped");
        }
    }

    #[test]
    fn a_search_of_the_programs_own_is_left_alone() {
        let mut fixture = Fixture::new();
        fixture.stack(1, &["libc.so.6!__memchr_evex", "tool!next_line", "tool!main"]);
        fixture.computes(CLIENT, 500 * MS, 1);
        assert_eq!(names(&fixture.end()), Vec::<String>::new());
    }
}
