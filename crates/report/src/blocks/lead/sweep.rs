//! What a sweep comes down to, in sentences: cliffs first, then how it grows, else that it is level.

use crate::figure::{noun, pair, power, three};
use crate::text::{capitalised, clean, shorten};
use crate::value::{heading, is_categorical, label, name, sound};
use case::facts::LoadFigure;
use case::{Cliff, Growing, Growth, KneePoint, Metric, Point, Share, Sweep};

/// More cliffs than this are counted.
const MOST_CLIFFS: usize = 3;
/// An exponent's interval wider than this tells too little to call it by a name.
const WIDEST: f64 = 0.6;
/// More of a program's last words stands in the table.
const WHY_COLUMNS: usize = 60;
/// Sorting with the caches that it leaves grows by powers up to this.
const AS_SORTING: f64 = 1.25;
/// A power above this is what something exponential passes for.
const ANY_POWER: f64 = 6.0;
/// Beyond a knee with an exponent below this, more load brings no more answers.
const LEVEL_BEYOND: f64 = 0.2;
/// An exponent whose interval lies within this of 0 is no growth.
const LEVEL: f64 = 0.1;

/// What a sweep comes down to, in a few sentences. Pure: it is what goes into `summary`.
pub fn sweep_sentence(sweep: &Sweep) -> String {
    let sound = sound(sweep).collect::<Vec<_>>();
    let (Some(least), Some(most)) = (extreme(&sound, f64::min), extreme(&sound, f64::max)) else {
        return "No value had a sound trial, so nothing can be said.".into();
    };
    if let [only] = sound[..] {
        return format!("Only one value, {}, had sound trials, so nothing can be compared.", label(sweep, only.value));
    }
    if is_categorical(sweep) {
        return categories(sweep, least, most, sound.len());
    }
    let mut sentences = cliffs(sweep);
    // What bends does not grow by one law; that a knee lies amidst is the answer.
    let is_one_law =
        |growth: &&Growth| sweep.knee.is_none() || growth.out_of_hand || growth.low > 0.0 || growth.high < 0.0;
    if let Some(growth) = sweep.growth.as_ref().filter(is_one_law) {
        sentences.push(grows(sweep, growth, least, most));
    }
    if let Some(knee) = &sweep.knee {
        sentences.push(bends(sweep, knee));
    }
    if sentences.is_empty() {
        sentences.push(level(sweep, least, most, sound.len()));
    }
    sentences.extend(unsound(sweep));
    sentences.join(" ")
}

/// At which values there is nothing to measure, and why: that a program fails from a value on can be the answer.
fn unsound(sweep: &Sweep) -> Option<String> {
    let tried = |point: &&Point| point.trials == 0 && !point.left_out;
    let mut failed = sweep.points.iter().filter(tried);
    let (first, last) = (failed.next()?, failed.next_back());
    let at = match last {
        None => format!("At {}", name(first)),
        Some(last) => format!("At {} values from {} to {}", failed.count() + 2, name(first), name(last)),
    };
    let why = last.unwrap_or(first).problem.trim_end_matches('.');
    let why = if why.is_empty() { "it failed".into() } else { shorten(&clean(why), WHY_COLUMNS) };
    Some(format!("{at} no trial was sound: {why}."))
}

/// The point with the least or the most.
fn extreme<'a>(sound: &[&'a Point], which: fn(f64, f64) -> f64) -> Option<&'a Point> {
    let end = sound.iter().map(|point| point.measured).reduce(which)?;
    sound.iter().find(|point| point.measured.total_cmp(&end).is_eq()).copied()
}

fn cliffs(sweep: &Sweep) -> Vec<String> {
    let mut sentences = sweep.cliffs.iter().take(MOST_CLIFFS).map(|cliff| jumps(sweep, cliff)).collect::<Vec<_>>();
    match sweep.cliffs.len().saturating_sub(MOST_CLIFFS) {
        0 => {}
        1 => sentences.push("There is one more cliff.".into()),
        more => sentences.push(format!("There are {more} more cliffs.")),
    }
    sentences
}

fn jumps(sweep: &Sweep, cliff: &Cliff) -> String {
    let (below, above) = pair(&sweep.metric, cliff.level_below, cliff.level_above);
    let verb = if cliff.level_above >= cliff.level_below { "jumps" } else { "drops" };
    let (from, to) = (label(sweep, cliff.below), label(sweep, cliff.above));
    format!("Between {from} and {to} {} {verb} from {below} to {above} (cliff).", subject(sweep))
}

/// What was measured, as a subject of a sentence: `the time per request`.
fn subject(sweep: &Sweep) -> String {
    format!("the {}", noun(&sweep.metric))
}

fn grows(sweep: &Sweep, growth: &Growth, least: &Point, most: &Point) -> String {
    let Growth { exponent, low, high, .. } = *growth;
    let (what, parameter, reach) = (subject(sweep), heading(sweep), reach(sweep, growth));
    let interval = format!("{} to {}", power(low), power(high));
    let figures = format!("{}, {interval}", power(exponent));
    if growth.out_of_hand {
        let culprit = culprit(&growth.chain).map(|name| format!("; the code that grows is {name}")).unwrap_or_default();
        let exponential = if exponent >= ANY_POWER { ", as if exponentially" } else { "" };
        let what = capitalised(&what);
        let to_power = format!("to the power of {} ({interval})", power(exponent));
        return format!("{what} grows with {parameter} {to_power}{reach}{exponential}: superlinear{culprit}.");
    }
    let within = within(sweep, least, most);
    if low >= -LEVEL && high <= LEVEL {
        return format!("{} does not depend on {parameter}: it {within} (exponent {figures}).", capitalised(&what));
    }
    if low <= 0.0 && high >= 0.0 {
        let coarse = if high - low > WIDEST { ", a wide interval" } else { "" };
        return format!(
            "{} shows no dependence on {parameter}: it {within} (exponent {figures}){coarse}.",
            capitalised(&what)
        );
    }
    format!("{} {}.", capitalised(&what), law(growth, &parameter, &reach))
}

/// How it grows or falls, for all that is neither level nor out of hand.
fn law(growth: &Growth, parameter: &str, reach: &str) -> String {
    let Growth { exponent, low, high, .. } = *growth;
    let interval = format!("{} to {}", power(low), power(high));
    let exactly = format!("(exponent {}, {interval}){reach}", power(exponent));
    let verb = if exponent < 0.0 { "falls" } else { "grows" };
    let to_power = format!("{verb} with {parameter} to the power of {} ({interval}){reach}", power(exponent));
    if high - low > WIDEST {
        let faster = if low > 1.0 { "faster than linearly, but " } else { "" };
        return format!("{to_power}; {faster}the interval is too wide to say more");
    }
    match exponent {
        _ if low <= 1.0 && high >= 1.0 => format!("grows linearly with {parameter} {exactly}"),
        _ if low <= -1.0 && high >= -1.0 => format!("is inversely proportional to {parameter} {exactly}"),
        _ if low > AS_SORTING => {
            format!("{to_power}: faster than sorting, but cache misses alone can explain that")
        }
        _ if low > 1.0 && high <= AS_SORTING => format!("{to_power}: no faster than sorting"),
        _ if low > 1.0 => format!("{to_power}: faster than linearly, but not clearly faster than sorting"),
        _ if low > 0.0 => format!("grows more slowly than {parameter} {exactly}"),
        _ => to_power,
    }
}

/// From where on, where the growth does not rest on all values.
fn reach(sweep: &Sweep, growth: &Growth) -> String {
    let first = sound(sweep).map(|point| point.value).fold(f64::INFINITY, f64::min);
    if growth.from > first { format!(" from {} on", label(sweep, growth.from)) } else { String::new() }
}

/// What grows at the end of the chain, and what of the program calls it: `__rawmemchr under sscanf`.
fn culprit(chain: &[Growing]) -> Option<String> {
    let last = chain.last()?;
    let outside = chain.iter().rposition(|one| one.module != last.module);
    // The door of the library that it is in; in the program itself, whoever calls it.
    let door = match outside {
        Some(caller) if caller + 2 < chain.len() => chain.get(caller + 1),
        _ => chain.len().checked_sub(2).and_then(|caller| chain.get(caller)),
    };
    let name = clean(&last.function);
    Some(match door {
        Some(door) => format!("{name} under {}", clean(&door.function)),
        None => name,
    })
}

fn bends(sweep: &Sweep, knee: &KneePoint) -> String {
    let [at, low, high] = [knee.at, knee.low, knee.high].map(|value| label(sweep, value));
    let parameter = heading(sweep);
    let is_of_load = sweep.metric == (Metric::Load { figure: LoadFigure::Rate }) && sweep.parameter == "rate";
    if is_of_load && knee.after.abs() < LEVEL_BEYOND {
        let [at, low, high] = [knee.at, knee.low, knee.high].map(three);
        let most = three(sound(sweep).map(|point| point.measured).fold(0.0, f64::max));
        return format!(
            "The server keeps up with {at} requests a second ({low} to {high}); beyond that it answers {most} a second at most (knee)."
        );
    }
    let (before, after) = (power(knee.before), power(knee.after));
    format!(
        "{} has a knee at {parameter} {at} ({low} to {high}): it grows with the power of {before} below and {after} above.",
        capitalised(&subject(sweep))
    )
}

fn level(sweep: &Sweep, least: &Point, most: &Point, values: usize) -> String {
    let within = within(sweep, least, most);
    if values < 3 {
        return format!("{} {within}. Too few values to look for cliffs or growth.", capitalised(&subject(sweep)));
    }
    format!("No cliff and no growth: {} {within}.", subject(sweep))
}

/// How far apart the extremes are.
fn within(sweep: &Sweep, least: &Point, most: &Point) -> String {
    let spread = most.measured / least.measured - 1.0;
    let (low, high) = pair(&sweep.metric, least.measured, most.measured);
    if spread <= 0.25 {
        return format!("stays within {} ({low} to {high})", Share(spread));
    }
    format!("ranges from {low} (at {}) to {high} (at {})", name(least), name(most))
}

/// Names have no order: which takes the least, which the most.
fn categories(sweep: &Sweep, least: &Point, most: &Point, values: usize) -> String {
    let (low, high) = pair(&sweep.metric, least.measured, most.measured);
    let what = subject(sweep);
    if values < 2 {
        return format!("Only {} has a sound trial: {what} is {low}.", name(least));
    }
    if least.high >= most.low {
        return format!(
            "No significant difference: {what} is {low} with {} and {high} with {}, and their intervals overlap.",
            name(least),
            name(most)
        );
    }
    let times = three(most.measured / least.measured);
    format!(
        "{} is lowest with {} ({low}) and highest with {} ({high}, {times} times as much).",
        capitalised(&what),
        name(least),
        name(most)
    )
}
