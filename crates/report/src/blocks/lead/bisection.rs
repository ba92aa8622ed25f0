//! What a bisection comes down to, in two to four sentences: the verdict, the bond of its parts, who burns the time, and
//! what cures it without a downgrade.

use crate::blocks::cures::{aside, best};
use crate::blocks::{hot_spots, stairs};
use crate::figure::{is_better, noun, pair, range, three};
use crate::function::way;
use crate::label::{is_of_commits, label, members, names, who};
use crate::place::figure_at;
use crate::text::{clean, joined, shorten};
use case::{Bisection, BisectionOutcome, Bond, Compared, Contrast, Culprit, ProbeKind, ProbeResult, Share};

/// A longer name of a world is cut: its full name stands below.
const WORLD_COLUMNS: usize = 40;

/// So many steps of a line of commits are named; the table has all.
const MOST_STEPS: usize = 3;
/// A longer name of a commit is cut among several.
const STEP_COLUMNS: usize = 60;

/// What a bisection comes down to. Pure: it is what goes into `summary`.
pub fn bisection_sentence(bisection: &Bisection) -> String {
    let sentences = match (bisection.outcome, &bisection.culprit) {
        (BisectionOutcome::Confirmed | BisectionOutcome::Found, Some(culprit)) => found(bisection, culprit),
        (BisectionOutcome::NoEffect, _) => no_effect(bisection),
        (BisectionOutcome::NotSeparable, _) => not_separable(bisection),
        _ => undecided(bisection),
    };
    sentences.join(" ")
}

fn found(bisection: &Bisection, culprit: &Culprit) -> Vec<String> {
    let much = bisection.baseline.first().map(|first| format!(": {}", how_much(bisection, first))).unwrap_or_default();
    if let Some(stairs) = stairs(bisection) {
        let whole = much.trim_start_matches(": ");
        let first = format!("{stairs}.");
        let second = if whole.is_empty() { None } else { Some(format!("Overall, {whole}.")) };
        return [Some(first), second, burns(bisection), cured(bisection)].into_iter().flatten().collect();
    }
    let mut sentences = vec![format!("The cause is {}{much}.", who(bisection, culprit))];
    sentences.extend(bond(bisection, culprit));
    if bisection.outcome == BisectionOutcome::Found && !is_of_commits(bisection) {
        sentences.push("It was found, but not confirmed both ways.".into());
    }
    sentences.extend(burns(bisection));
    sentences.extend(cured(bisection));
    sentences
}

/// Where it became slower along a line of commits, if that is more than one place: the largest steps by name.
fn stairs(bisection: &Bisection) -> Option<String> {
    let mut steps = bisection.stairs.iter().filter(|stair| stair.times > 1.0).collect::<Vec<_>>();
    if steps.len() < 2 {
        return None;
    }
    let count = steps.len();
    steps.sort_by(|one, other| other.part.total_cmp(&one.part));
    let named = steps.iter().take(MOST_STEPS).map(|stair| {
        let name = shorten(&stairs::name(stair), STEP_COLUMNS);
        format!("{} by {name}", Share(stair.part))
    });
    let named = named.collect::<Vec<_>>();
    let largest = if count > MOST_STEPS { ", the largest" } else { "" };
    Some(format!("It became slower in {count} steps{largest}: {}", joined(&named)))
}

/// How the members belong together, in plain words; nothing for one alone.
fn bond(bisection: &Bisection, culprit: &Culprit) -> Option<String> {
    let set = names(&members(culprit));
    match culprit.bond {
        Bond::Single => None,
        Bond::Bundle if is_of_commits(bisection) => {
            Some("Which of them is not known: the commits in between do not build or do not run.".into())
        }
        Bond::Bundle if culprit.split.is_empty() => {
            Some("They cannot be switched separately: the programs would not start.".into())
        }
        Bond::Bundle => {
            let cleared = culprit.cleared.iter().map(|one| one.factor.clone()).collect::<Vec<_>>();
            let untested = culprit.untested.iter().map(|one| one.factor.clone()).collect::<Vec<_>>();
            let say = |who: &[String], one: &str, several: &str| match who.len() {
                0 => String::new(),
                1 => format!("; {} {one}", names(who)),
                _ => format!("; {} {several}", names(who)),
            };
            let cleared = say(&cleared, "is not to blame", "are not to blame");
            let untested = say(&untested, "was not tested alone", "were not tested alone");
            Some(format!("It cannot be switched alone: {set} go together{cleared}{untested}."))
        }
        Bond::Together => {
            let which = if members(culprit).len() == 2 { "either" } else { "any" };
            Some(format!("It is slow only with all of them: taking {which} from the good world cures it."))
        }
        Bond::Each => {
            let world = clean(&bisection.good.name);
            Some(format!("Each is slow by itself: only taking all of them from {world} cures it."))
        }
    }
}

/// Both worlds as they were asked for, the good one first; where that does not tell them apart, as good and bad.
fn worlds(bisection: &Bisection) -> [String; 2] {
    let name = |name: &str| shorten(&clean(name), WORLD_COLUMNS);
    let (good, bad) = (name(&bisection.good.name), name(&bisection.bad.name));
    if good.is_empty() || bad.is_empty() || good == bad {
        return ["the good world".into(), "the bad world".into()];
    }
    [good, bad]
}

/// How much worse the bad world is: `CPU time per request is 5.21 times higher in debian:bookworm than in
/// debian:bullseye, 27.1 ms instead of 5.20 ms`.
fn how_much(bisection: &Bisection, first: &Compared) -> String {
    let (good, bad) = pair(&first.metric, first.a, first.b);
    let [good_world, bad_world] = worlds(bisection);
    let (times, word) = if first.ratio >= 1.0 { (first.ratio, "higher") } else { (first.ratio.recip(), "lower") };
    let (what, times) = (noun(&first.metric), three(times));
    format!("{what} is {times} times {word} in {bad_world} than in {good_world}, {bad} instead of {good}")
}

fn burns(bisection: &Bisection) -> Option<String> {
    let burner = bisection.burner.as_ref()?;
    let library = clean(&burner.library);
    let [_, bad] = worlds(bisection);
    let way = way(&burner.chain, std::slice::from_ref(&burner.library));
    let way = if way.is_empty() { String::new() } else { format!(": {way}") };
    let by_itself = hot_spots::said(&burner.hot_spots);
    let by_itself = if by_itself.is_empty() { by_itself } else { format!("; {by_itself}") };
    Some(format!("{library} uses {} of the CPU time in {bad}{way}{by_itself}.", Share(burner.share)))
}

fn cured(bisection: &Bisection) -> Option<String> {
    let (finding, effect) = best(bisection)?;
    let (before, after) = pair(&effect.metric, effect.before, effect.after);
    let name = clean(&effect.intervention);
    Some(format!(
        "Without a downgrade: {name}{} cuts {} {} times, from {before} to {after}.",
        aside(finding),
        noun(&effect.metric),
        three(effect.ratio)
    ))
}

fn no_effect(bisection: &Bisection) -> Vec<String> {
    let Some(first) = bisection.baseline.first() else {
        return vec!["The worlds do not differ for this command.".into()];
    };
    let (good, bad) = pair(&first.metric, first.a, first.b);
    if is_better(first) {
        let interval = range(first.high.recip(), first.low.recip());
        let noun = noun(&first.metric);
        let said = format!("The bad world is faster, not slower: {noun} is {bad} there and {good} in the good one");
        return vec![
            format!("{said} (good/bad {interval}, 95 % interval)."),
            "So there was nothing to search for.".into(),
        ];
    }
    let most = (1.0 - first.low).max(first.high - 1.0).max(0.0);
    // Rounded away from none: the sentence is a bound.
    let most = Share((most * 1_000.0 - 1e-6).ceil() / 1_000.0);
    let interval = range(first.low, first.high);
    let mut sentences = vec![format!(
        "The worlds do not differ for this command: {} is {bad} in the bad one and {good} in the good one.",
        noun(&first.metric)
    )];
    sentences.push(if first.outcome == Contrast::Same {
        format!("A difference of more than {most} is ruled out (bad/good {interval}, 95 % interval).")
    } else {
        format!("A difference of up to {most} is possible (bad/good {interval}, 95 % interval).")
    });
    sentences.push("So there was nothing to search for.".into());
    sentences
}

fn not_separable(bisection: &Bisection) -> Vec<String> {
    let much = bisection.baseline.first().map(|first| format!(": {}", how_much(bisection, first))).unwrap_or_default();
    let mut sentences = vec![format!("No single change makes the difference{much}.")];
    let all = bisection.probes.iter().rfind(|probe| probe.kind == ProbeKind::All && probe.result == ProbeResult::Bad);
    if let Some(all) = all {
        let at = figure_at(bisection, all.place).map(|at| format!(", at {at}")).unwrap_or_default();
        sentences
            .push(format!("With all {} that can be taken from the good world, it stays slow{at}.", all.taken.len()));
    }
    let left = bisection.factors.iter().filter(|factor| !factor.untestable.is_empty());
    let left = left.map(|factor| label(bisection, &factor.name)).collect::<Vec<_>>();
    sentences.push(if left.is_empty() {
        "The cause is not among the differences that were found.".into()
    } else {
        format!("That leaves {}: only switching the whole world changes that.", joined(&left))
    });
    sentences
}

fn undecided(bisection: &Bisection) -> Vec<String> {
    let differs = |first: &&Compared| matches!(first.outcome, Contrast::More | Contrast::Less);
    let Some(first) = bisection.baseline.first() else {
        return vec!["Undecided: too few runs of the worlds to compare them.".to_string()];
    };
    if !differs(&first) {
        let interval = range(first.low, first.high);
        let noun = noun(&first.metric);
        return vec![format!(
            "Undecided whether the worlds differ: {noun} varies too much from run to run (bad/good {interval}, 95 % interval)."
        )];
    }
    let mut sentences = vec!["Undecided: the search ended before the difference was pinned to one thing.".to_string()];
    sentences.extend(stairs(bisection).map(|stairs| format!("{stairs}.")));
    if let Some(first) = bisection.baseline.first().filter(differs) {
        sentences.push(format!("The worlds differ: {}.", how_much(bisection, first)));
    }
    let good = bisection.probes.iter().filter(|probe| probe.result == ProbeResult::Good);
    if let Some(least) = good.min_by_key(|probe| probe.taken.len()).filter(|probe| !probe.taken.is_empty()) {
        sentences
            .push(format!("The cause is among {}: taking these from the good world cures it.", names(&least.taken)));
    }
    sentences
}
