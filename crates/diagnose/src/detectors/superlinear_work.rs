//! P36: work that grows faster than its input: measured over exchanges of several sizes, or known by its mechanism, an sscanf
//! that measures a long string to its end for each piece that it takes from it.

use super::{Found, common_place, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::input_growth::{self, InputGrowth, Turn};
use case::facts::{Input, Observation};
use case::tables::{Location, Sample};
use case::{Nanos, Share};
use std::collections::BTreeMap;

detector! {
    /// # superlinear-work
    ///
    /// ## What it is
    /// Work that grows faster than the input. That is claimed only where it was measured: over requests or responses of
    /// several sizes within the run, or from request to request. One mechanism is also known by sight: a program splits
    /// a long text with `sscanf`, one token at a time. libc's `sscanf` first searches for the end of the string, so each
    /// token costs a pass over all the remaining text.
    ///
    /// ## Evidence
    /// The power by which an end's CPU time for a request grows with the size of the request or the response, with its
    /// 95 % interval: fitted over steps of a quarter octave with three requests or more each, four of them over a factor
    /// of four at least. It is out of hand where the interval lies above 1.5: sorting stays below 1.2, memory that outgrows
    /// caches below 1.5. Where sizes are all alike, the same with the number of requests so far: a request's cost that
    /// grows with a power above 0.5, which makes the run's grow with 1.5. Or the same within messages that arrive in many
    /// parts, by what was read before: of the parts at one step the cheaper half counts, and what a byte costs must rise
    /// fourfold.
    ///
    /// For `sscanf`: CPU samples within it or its relatives, at least three quarters of them in one function that only
    /// searches (it calls nothing, and its caller, which `sscanf` called, does nothing else), and few in the conversion
    /// itself. A conversion takes 50 to 200 ns; searching takes three times as long only if strings are many kilobytes
    /// long. The finding says by which power time grew, or that the run could not tell.
    ///
    /// ## What proves it
    /// Half the input at a time: the total then falls by as much as the power says (`whyslow sweep` measures it). For
    /// `sscanf`, one that gets the same string one piece at a time: the results stay the same and the time falls.
    ///
    /// ## Remedy
    /// Keep what was found (a hash, an index, a position) instead of going through all of it again. Collect the parts of a
    /// message and join them once, instead of copying all of them for each new one. For `sscanf`: convert
    /// with a function that returns where it stopped (`strtol`, `strtod`), copy the token into a small buffer
    /// before scanning it, or read the stream directly with `fscanf`.
    ///
    /// ## Not to be confused with
    /// Many short strings, or long tokens (there the conversion takes the time, not the search). A search of the
    /// program's own through a long text (`strlen`, `memchr`, `strstr`), which may be its job. Costs in proportion to the
    /// input, however high; a fixed cost beside them.
    "P36" "superlinear-work",
    needs: &[Server, Samples]
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
    by_sscanf(analysis).or_else(|| by_measure(analysis))
}

/// The mechanism that is known by sight.
fn by_sscanf(analysis: &Analysis) -> Option<Found> {
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
    let explains = analysis.stretches(samples);
    let cpu = samples.len() as u64 * period;
    let saving = saving(analysis, &explains, cpu);
    let place = common_place(analysis, samples);
    let in_words = place.in_words();
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
    ];
    let growth = input_growth::measure(analysis);
    let observed = growth.map_or_else(|why| Observation::GrowthNotMeasured { why }, |growth| growth.observation());
    let remedy =
        "Convert with strtol or strtod, which return where they stopped, or copy each token into a small buffer \
                  before scanning it."
            .to_string();
    let (observed, rows) = (vec![observed], rows("samples", found_rows.iter().copied()));
    let what = "sscanf searches a long string to its end for every token".to_string();
    Found { title, what, mechanism, observed, saving, place, remedy, rows, explains, ..Found::default() }
}

/// CPU time that was seen growing out of hand.
fn by_measure(analysis: &Analysis) -> Option<Found> {
    let between = || input_growth::measure(analysis).ok().filter(InputGrowth::is_out_of_hand);
    let growth = between().or_else(|| input_growth::within(analysis))?;
    let mut saving = PotentialSaving { affected: growth.exchanges, ..PotentialSaving::default() };
    for (turn, excess) in growth.turns.iter().zip(growth.excess()) {
        let (inside, outside) = analysis.split(turn.tid, turn.start, turn.end);
        let share = inside as f64 / (inside + outside).max(1) as f64;
        let within = (excess as f64 * share) as u64;
        saving.cpu += excess;
        saving.wall += within;
        saving.outside += excess - within;
    }
    let (found_rows, samples): (Vec<usize>, Vec<&Sample>) =
        growth.turns.iter().flat_map(|turn| of_turn(analysis, turn)).unzip();
    let place = common_place(analysis, &samples);
    let in_words = place.in_words();
    let (what, than) = match growth.input {
        Input::RequestBytes => ("CPU time grows faster than the request", "in proportion to their size"),
        Input::ResponseBytes => ("CPU time grows faster than the response", "in proportion to their size"),
        Input::Exchanges => ("Each request takes more CPU time than the one before", "at the cost of the first ones"),
        Input::RequestBytesSoFar => {
            ("Each part of a request takes more CPU time than the one before it", "at the cost of the first parts")
        }
        Input::ResponseBytesSoFar => {
            ("Each part of a response takes more CPU time than the one before it", "at the cost of the first parts")
        }
    };
    let exchanges = analysis.exchanges.len().max(1) as u64;
    let title =
        format!("{what}: {} too much per request at the {}{in_words}", Nanos(saving.cpu / exchanges), growth.end);
    let mechanism = vec![format!(
        "{} requests took the {} {} of CPU time{}; {than} they would have taken {}.",
        growth.exchanges,
        growth.end,
        Nanos(growth.turns.iter().map(|turn| turn.cpu).sum::<u64>()),
        if growth.input.is_so_far() { " while they were read" } else { "" },
        Nanos(growth.turns.iter().map(|turn| turn.cpu).sum::<u64>() - saving.cpu),
    )];
    let remedy = if growth.input.is_so_far() {
        "Find out what is done with all that was read before, for each part: collect the parts and join or parse them once, \
         at the end."
    } else {
        "Find out what is gone through again and again: keep what was found (a hash, an index, a position) \
         instead, or work on a bounded part at a time."
    };
    Some(Found {
        title,
        what: what.to_string(),
        mechanism,
        observed: vec![growth.observation()],
        saving,
        place,
        remedy: remedy.to_string(),
        rows: rows("samples", found_rows),
        explains: growth.turns.iter().map(|turn| (turn.tid, turn.start, turn.end)).collect(),
        ..Found::default()
    })
}

/// The samples taken of a thread during a turn.
fn of_turn<'a>(analysis: &'a Analysis, turn: &Turn) -> Vec<(usize, &'a Sample)> {
    let Some(thread) = analysis.threads.get(turn.tid) else { return Vec::new() };
    let samples = &analysis.recording.samples[thread.samples.clone()];
    let first = samples.partition_point(|sample| sample.time.0 < turn.start);
    let here = samples[first..].iter().take_while(|sample| sample.time.0 < turn.end);
    here.enumerate().map(|(at, sample)| (thread.samples.start + first + at, sample)).collect()
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
mod tests;
