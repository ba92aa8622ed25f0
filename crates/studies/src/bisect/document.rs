//! What a bisection found out, as its document.

use super::baseline::Baseline;
use super::bench::Trials;
use super::owners::Owners;
use super::question::Asked;
use case::{
    Bisection, BisectionOutcome, Burner, Compared, Contrast, Culprit, FactorKind, ProbeResult, WorldSummary,
    redact_arguments,
};
use diagnose::{Contrasts, LibraryBlame};
use lab::bisect::{Difference, Found, Set};
use lab::worlds::{Packages, Ready, WorldName};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A library that takes less than this share of the CPU time does not count as burning it.
const LEAST_SHARE: f64 = 0.1;

/// Whoever asks what has made a program slow has noticed it: at least half as much again. As long as that is possible,
/// nobody can say that the worlds do not differ.
const MUCH_SLOWER: f64 = 1.5;

/// Why a search is incomplete: the user ended it.
pub const ENDED: &str = "Interrupted by Ctrl-C or a signal; these are the results so far.";
/// Why a search is incomplete: the budget is spent.
pub const SPENT: &str = "The budget ran out before the search was complete; a longer --budget finishes it.";

/// What is known before anything is searched.
pub fn begin(asked: &Asked, baseline: &Baseline, folder: &Path) -> Bisection {
    let [good, bad] = baseline.used(asked);
    let subject = &asked.terms.subject;
    let first = baseline.compared.first();
    let outcome = match first {
        Some(first) if first.outcome != Contrast::More && is_ruled_out(first) => BisectionOutcome::NoEffect,
        _ => BisectionOutcome::Undecided,
    };
    let mut warnings = Vec::new();
    if first.is_some_and(|first| first.outcome == Contrast::Less) {
        warnings.push("The bad world is the faster one: are --good and --bad swapped?".to_string());
    }
    if first.is_none() {
        warnings.push("The budget ran out before the worlds could be compared; try a longer --budget.".to_string());
    }
    if let Some(status) = baseline.bad_run().answer.subject_exit.filter(|status| *status != 0) {
        warnings
            .push(format!("The program exits with status {status} in both worlds: is this what you meant to measure?"));
    }
    if first.is_some_and(|first| first.outcome == Contrast::Open) {
        warnings.push("The interval is wide; a longer --budget would detect smaller differences.".to_string());
    }
    if let Some(difference) = baseline.work.between() {
        let bad = &asked.bad.name;
        warnings.push(format!("The worlds do not do the same work: in {bad} {difference}."));
    } else if first.is_some() && !baseline.work.tells_something() {
        warnings.push(
            "Whether the worlds do the same work could not be compared: the program makes no requests and writes nothing \
             that stays the same."
                .to_string(),
        );
    }
    Bisection {
        schema: case::SCHEMA,
        case: folder.display().to_string(),
        command: redact_arguments(&subject.client),
        server: redact_arguments(subject.server.as_deref().unwrap_or_default()),
        good: world(&asked.good, &good),
        bad: world(&asked.bad, &bad),
        outcome,
        baseline: baseline.compared.clone(),
        runs: baseline.runs,
        seed: asked.terms.seed.unwrap_or(baseline.seed),
        warnings,
        ..Bisection::default()
    }
}

/// Whether what was measured rules out that the bad world is much slower.
fn is_ruled_out(first: &Compared) -> bool {
    first.high <= MUCH_SLOWER
}

/// A world, and of how many of its packages the subject uses files.
fn world(ready: &Ready, used: &BTreeSet<PathBuf>) -> WorldSummary {
    // The host's packages say nothing of a commit, or of a folder of libraries.
    let is_system = matches!(ready.name, WorldName::Host | WorldName::Debian(_) | WorldName::Folder(_));
    let packages = Packages::read(&ready.base).ok().filter(|_| is_system);
    let owners = packages.iter().flat_map(|packages| used.iter().filter_map(|path| packages.owner(path)));
    let owners = owners.map(|package| package.name.clone()).collect::<BTreeSet<_>>();
    WorldSummary {
        name: ready.name.to_string(),
        title: ready.title.clone(),
        packages: packages.as_ref().map_or(0, |packages| packages.len() as u32),
        used: owners.len() as u32,
    }
}

/// Gives each factor its part of the difference, that of its libraries, and sorts the most suspected first.
pub fn suspect(differences: &mut [Difference], blames: &[LibraryBlame], owners: &Owners) {
    for blame in blames {
        let path = Path::new(&blame.library);
        let (sources, file) = (owners.sources(path), file_name(path));
        let owner = differences.iter_mut().find(|one| match one.factor.kind {
            FactorKind::Package | FactorKind::Libc => sources.contains(&one.factor.name),
            _ => one.factor.members.contains(&file) || one.factor.name == file || one.factor.name == blame.library,
        });
        if let Some(owner) = owner {
            owner.factor.suspicion = (owner.factor.suspicion + blame.difference).min(1.0);
        }
    }
    differences.sort_by(|one, other| {
        other.factor.suspicion.total_cmp(&one.factor.suspicion).then_with(|| one.factor.name.cmp(&other.factor.name))
    });
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The order in which factors are tried: the most suspected first, or drawn from a seed.
pub fn order(differences: &[Difference], seed: Option<u64>) -> Vec<usize> {
    match seed {
        None => (0..differences.len()).collect(),
        Some(seed) => stats::schedule(differences.len(), 1, seed).into_iter().next().unwrap_or_default(),
    }
}

/// What was found, or that it is nothing that can be switched.
pub fn conclude(trials: &mut Trials, found: Option<Found>, baseline: &Baseline) {
    let Some(found) = found else {
        trials.leave_out_idle();
        trials.bisection().outcome = BisectionOutcome::NotSeparable;
        return;
    };
    let own = found.cause.difference(&found.forced).copied().collect::<Set>();
    let culprit = Culprit {
        cure: trials.names(&found.cure),
        cause: trials.names(&own),
        bond: found.bond,
        gain: gain(trials, &found.cure, baseline),
        ..Culprit::default()
    };
    let forced = trials.names(&found.forced);
    for (number, why) in &found.untestable {
        trials.leave_out(*number, why);
    }
    let bisection = trials.bisection();
    if !forced.is_empty() {
        let forced = forced.join(", ");
        bisection.not_tried.push(format!(
            "{forced} from the good world does not start without the culprit; with the culprit removed, the bad world's version ran."
        ));
    }
    bisection.outcome = if found.cause.is_empty() { BisectionOutcome::Found } else { BisectionOutcome::Confirmed };
    bisection.culprit = Some(culprit);
}

/// Bad over cured.
fn gain(trials: &Trials, cure: &Set, baseline: &Baseline) -> Compared {
    let Some((first, probed)) = baseline.compared.first().zip(trials.place(cure)) else { return Compared::default() };
    // Places are parts of the logarithm of the whole gain.
    let at = |place: Option<f64>| first.ratio.powf(place.unwrap_or_default());
    Compared {
        metric: first.metric.clone(),
        a: first.b / at(probed.place),
        b: first.b,
        ratio: at(probed.place),
        low: at(probed.low),
        high: at(probed.high),
        pairs: probed.pairs,
        outcome: if probed.result == ProbeResult::Good { Contrast::More } else { Contrast::Open },
    }
}

/// Who burns the time in the bad world; nobody where the profile does not say.
pub fn burner(blames: &[LibraryBlame], owners: &Owners, why: Contrasts) -> Option<Burner> {
    let most = blames.iter().max_by(|one, other| one.cpu_share.total_cmp(&other.cpu_share))?;
    let path = Path::new(&most.library);
    let factor = owners.sources(path).into_iter().next().unwrap_or_default();
    (most.cpu_share >= LEAST_SHARE).then(|| Burner {
        library: file_name(path),
        factor,
        share: most.cpu_share,
        chain: why.chain,
        hot_spots: why.hot_spots,
    })
}
