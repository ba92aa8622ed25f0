//! What a matrix comes down to, in two to four sentences: the slow versions with their ratios, who burns it, what to take.

use crate::blocks::attached;
use crate::blocks::hot_spots;
use crate::figure::{noun, pair, three};
use crate::function::{slower_side, way};
use crate::ranking::{badness, measured, slower};
use crate::text::{clean, joined};
use case::{Matrix, Version, VersionState};

/// More slow versions than this are counted.
const MOST_NAMED: usize = 4;

/// What a matrix comes down to. Pure: it is what goes into `summary`.
pub fn matrix_sentence(matrix: &Matrix) -> String {
    let versions = measured(matrix).collect::<Vec<_>>();
    let library = clean(&matrix.library);
    let Some(first) = versions.first().map(|first| clean(&first.version)) else {
        return format!("Undecided: no version of {library} could be measured.{}", failed(matrix));
    };
    if versions.len() < 2 {
        return format!("Undecided: of {library} only {first} could be measured.{}", failed(matrix));
    }
    let mut slow = versions.iter().copied().filter(|version| slower(version).is_some()).collect::<Vec<_>>();
    slow.sort_by(|one, other| badness(other).total_cmp(&badness(one)));
    let mut sentences = vec![match slow.as_slice() {
        [] => format!("No version of {library} measured is significantly slower than {first}."),
        slow => slowest(slow, &library, &first),
    }];
    sentences.extend(slow.first().and_then(|worst| burns(worst)));
    sentences.extend(attached::sentences(matrix));
    sentences.extend(advice(matrix, &slow));
    sentences.join(" ") + &failed(matrix)
}

/// The slow versions, the worst first with its figures.
fn slowest(slow: &[&Version], library: &str, first: &str) -> String {
    let one = |(index, version): (usize, &&Version)| {
        let compared = slower(version)?;
        let name = clean(&version.version);
        let times = three(compared.ratio.max(compared.ratio.recip()));
        let which = if compared.ratio > 1.0 { "higher" } else { "lower" };
        if index > 0 {
            return Some(format!("that of {name} is {times} times {which}"));
        }
        let (was, is) = pair(&compared.metric, compared.a, compared.b);
        let what = noun(&compared.metric);
        Some(format!(
            "{library} {name} is slower than {first}: its {what} is {times} times {which}, {is} instead of {was}"
        ))
    };
    let mut named = slow.iter().enumerate().take(MOST_NAMED).filter_map(one).collect::<Vec<_>>();
    if slow.len() > MOST_NAMED {
        named.push(format!("{} more are slower too", slow.len() - MOST_NAMED));
    }
    named.join("; ") + "."
}

/// Where the worst version burns it: the library with the largest difference, and the way into it.
fn burns(worst: &Version) -> Option<String> {
    let way = way_of(worst, &libraries(worst));
    if way.is_empty() {
        return None;
    }
    let library = worst.chain.last().map(|step| clean(slower_side(&step.module))).unwrap_or_default();
    let by_itself = hot_spots::said(&worst.hot_spots);
    let by_itself = if by_itself.is_empty() { by_itself } else { format!("; {by_itself}") };
    Some(format!("In {} the CPU time goes to {library}: {way}{by_itself}.", clean(&worst.version)))
}

/// The files of the library itself, by its SONAMEs: what was built beside it is mapped, too.
fn libraries(version: &Version) -> Vec<String> {
    let is_own = |file: &&str| {
        version.sonames.iter().any(|soname| file.strip_prefix(soname.as_str()).is_some_and(is_end_of_name))
    };
    let files = version.mapped.iter().filter_map(|path| path.rsplit('/').next());
    let own = files.clone().filter(is_own).map(str::to_string).collect::<Vec<_>>();
    if own.is_empty() { files.map(str::to_string).collect() } else { own }
}

/// Whether what comes after a SONAME is nothing, or more of its version.
fn is_end_of_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('.')
}

fn way_of(version: &Version, libraries: &[String]) -> String {
    // From the first function of the libraries that were built: what calls them is the program's affair.
    let is_in = |step: &case::CodeContrast| libraries.iter().any(|name| name == slower_side(&step.module));
    let entry = version.chain.iter().position(is_in).unwrap_or(0);
    way(&version.chain[entry..], libraries)
}

/// What to take for the slow ones; nothing where none is slow.
fn advice(matrix: &Matrix, slow: &[&Version]) -> Option<String> {
    let chosen = measured(matrix).find(|version| version.version == matrix.advice);
    let fits = |version: &&&Version| chosen.is_some_and(|chosen| chosen.sonames == version.sonames);
    let replaced = slow.iter().filter(fits).map(|version| clean(&version.version)).collect::<Vec<_>>();
    let advice = clean(&matrix.advice);
    match (advice.is_empty(), replaced.is_empty()) {
        (true, _) if slow.is_empty() => None,
        (true, _) => Some(
            "None of the versions measured is both a drop-in replacement (same SONAME, no rebuild) and as fast.".into(),
        ),
        (false, true) => Some(format!("Use {advice}: the newest drop-in replacement that is as fast.")),
        (false, false) => {
            let replaced = joined(&replaced);
            Some(format!("Use {advice}: a drop-in replacement for {replaced} (same SONAME), and as fast."))
        }
    }
}

/// The versions that could not be measured; empty for none.
fn failed(matrix: &Matrix) -> String {
    let failed = matrix.versions.iter().filter(|version| version.state != VersionState::Measured);
    let failed = failed.map(|version| clean(&version.version)).collect::<Vec<_>>();
    match failed.len() {
        0 => String::new(),
        1 => format!(" {} was not measured.", joined(&failed)),
        _ => format!(" {} were not measured.", joined(&failed)),
    }
}
