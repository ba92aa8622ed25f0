//! `whyslow sweep --vary NAME=SPEC -- CMD {NAME}`: where the cliff is, whether it grows out of hand, and why.

use crate::manifest::manifest;
use crate::recording::{self, Quiet};
use crate::unfinished::remove_empty;
use crate::{Activity, Console, Document, Done, StudyError, views};
use case::{CaseWriter, Cliff, Finding, Names, Regime, SegmentTie, Sweep, redact_arguments};
use lab::{Extent, Journal, Laboratory, Metric, Subject, SweepTerms, Swept, Treatment, Value, Vary, World, place};
use std::path::PathBuf;
use std::time::Duration;

/// A run of many exchanges has shown what it does after this long.
const LONGEST_OF_EXCHANGES: Duration = Duration::from_secs(3);
/// A run that is measured as a whole is recorded for at most this long.
const LONGEST: Duration = Duration::from_secs(30);
/// What grows is found by comparing the largest value with one about this many times smaller.
const APART: f64 = 4.0;
/// A cliff is where the size of segments puts it, give or take this many bytes: TCP's options and lengths written as
/// digits vary.
const TOLERANCE: f64 = 16.0;

/// What is to be swept.
pub struct Request {
    /// What is varied.
    pub vary: Vary,
    /// The command of the client as it was typed, its parameter still to be filled in.
    pub command: Vec<String>,
    /// What is run.
    pub subject: Subject,
    /// Where.
    pub world: World,
    /// Time for trials.
    pub budget: Duration,
    /// What to judge by, where the user said so.
    pub metric: Option<Metric>,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
}

impl Request {
    /// Whether every value has its place in the programs or their world.
    ///
    /// # Errors
    /// Where one has not.
    pub fn check(&self) -> Result<(), StudyError> {
        if self.subject.names == Names::Pseudonyms && self.vary.is_of_words() {
            return Err(StudyError::Vary(
                "words are names, and stand in the names of folders: with --keep-names no only numbers are varied"
                    .into(),
            ));
        }
        let placed = |value| place(&self.vary, &self.subject, &self.world, value).map_err(StudyError::Vary);
        self.vary.values().iter().try_for_each(|value| placed(value).map(drop))
    }
}

/// Sweeps. The summary of the sweep is left empty.
///
/// # Errors
/// Where nothing can be measured, or the case cannot be written.
pub fn sweep(request: &Request, console: &dyn Console) -> Result<Done, StudyError> {
    Sweeping { request, console }.all().inspect_err(|_| remove_empty(&request.folder))
}

/// A sweep under way.
struct Sweeping<'a> {
    request: &'a Request,
    console: &'a dyn Console,
}

impl Sweeping<'_> {
    fn all(&self) -> Result<Done, StudyError> {
        let mut writer =
            CaseWriter::create(&self.request.folder, manifest(&self.request.subject, &self.request.world))?;
        let seed = writer.manifest().started_unix_seconds;
        let Swept { mut sweep, trials, .. } = self.measure(seed)?;
        if let Some((first, last)) = trials.first().zip(trials.last()) {
            (writer.manifest().start, writer.manifest().end) = (first.start, last.start + last.wall);
        }
        writer.append(trials)?;
        sweep.schema = case::SCHEMA;
        sweep.case = self.request.folder.display().to_string();
        sweep.command = redact_arguments(&self.request.command);
        sweep.server = redact_arguments(self.request.subject.server.as_deref().unwrap_or_default());
        if self.console.has_come() {
            sweep.warnings.push("The stretches between the cliffs were not diagnosed.".to_string());
        } else {
            let host = self.explain(&mut sweep)?;
            writer.manifest().host = host;
        }
        let case = writer.close()?;
        let document = Document::Sweep(Box::new(sweep));
        let views = views::gathered(self.console, || views::of(&document, &case));
        Ok(Done::of(document, case, views))
    }

    /// Runs the trials.
    fn measure(&self, seed: u64) -> Result<Swept, StudyError> {
        let most = self.request.budget.as_secs_f64();
        self.console.note(&format!("running the program several times at each value, for up to {most:.0} s"));
        let activity = Activity::of(self.console, "sweeping");
        let say = |line: &str| activity.say(line);
        let journal = Journal::open()?;
        let mut wait = |longest: Duration| self.console.next(longest).is_some();
        let mut laboratory = Laboratory::open(&journal, self.request.metric.as_ref(), &mut wait)?;
        let mut execute = |value: &Value, extent: &Extent| {
            let (subject, world) = place(&self.request.vary, &self.request.subject, &self.request.world, value)
                .map_err(lab::LabError::World)?;
            laboratory.run(&subject, &world, &Treatment::default(), extent)
        };
        let terms = SweepTerms {
            budget: self.request.budget,
            seed,
            metric: self.request.metric.clone(),
            grain: None,
            say: &say,
        };
        lab::sweep(&self.request.vary, &mut execute, &terms).map_err(StudyError::Sweep)
    }

    /// Records a run in each stretch between cliffs and says what it means; where it grows, what grows. The machine that
    /// it was recorded on.
    fn explain(&self, sweep: &mut Sweep) -> Result<case::Host, StudyError> {
        let mut host = case::Host::default();
        for Stretch { from, to, at, cliff } in stretches(sweep) {
            let quiet = self.record(at, sweep)?;
            host.clone_from(&quiet.recording.manifest.host);
            if let Some(place) = cliff {
                let mut findings = quiet.answer.findings.iter();
                let tie = findings.find_map(|finding| diagnose::segment_tie(&quiet.recording, finding, at));
                let cliff = &mut sweep.cliffs[place];
                cliff.segment = tie.filter(|tie| predicts(tie, cliff)).or(cliff.segment);
            }
            if let Some(growth) = sweep.growth.as_ref().filter(|growth| growth.to > growth.from) {
                let small = smaller(sweep, growth.to);
                let chain = match small {
                    Some(small) => {
                        let less = self.record(small, sweep)?;
                        diagnose::growth((small, &[less.recording]), (at, &[quiet.recording]))
                    }
                    None => Vec::new(),
                };
                sweep.growth.iter_mut().for_each(|growth| growth.chain.clone_from(&chain));
            }
            sweep.regimes.push(Regime {
                from,
                to,
                at,
                case: quiet.folder.display().to_string(),
                findings: quiet.answer.findings,
                summary: quiet.answer.summary,
            });
        }
        for place in 0..sweep.cliffs.len() {
            sweep.cliffs[place].reason = reason(sweep, place, &self.request.vary.name);
        }
        Ok(host)
    }

    fn record(&self, at: f64, sweep: &Sweep) -> Result<Quiet, StudyError> {
        let value = self.request.vary.at(at);
        let (subject, world) =
            place(&self.request.vary, &self.request.subject, &self.request.world, &value).map_err(StudyError::Vary)?;
        let plain = value.text.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.', "-");
        let folder = self.request.folder.join(format!("at-{plain}"));
        let longest = if sweep.metric.is_of_exchanges() { LONGEST_OF_EXCHANGES } else { LONGEST };
        let doing = format!("recording a run at {}={}", self.request.vary.name, value.label);
        recording::record_quietly(&doing, &subject, &world, &Treatment::default(), &folder, longest, self.console)
    }
}

/// A stretch of values without a cliff.
#[derive(Debug, PartialEq)]
struct Stretch {
    from: f64,
    to: f64,
    /// The value to record: next to a cliff where there is one, else the largest.
    at: f64,
    /// Which cliff that is next to.
    cliff: Option<usize>,
}

fn stretches(sweep: &Sweep) -> Vec<Stretch> {
    let sound = sweep.points.iter().filter(|point| point.trials > 0).map(|point| point.value);
    let Some((first, last)) = sound.clone().reduce(f64::min).zip(sound.reduce(f64::max)) else { return Vec::new() };
    let mut stretches = Vec::new();
    let mut from = first;
    for (place, cliff) in sweep.cliffs.iter().enumerate() {
        stretches.push(Stretch { from, to: cliff.below, at: cliff.below, cliff: Some(place) });
        from = cliff.above;
    }
    let cliff = sweep.cliffs.len().checked_sub(1);
    stretches.push(Stretch { from, to: last, at: if cliff.is_some() { from } else { last }, cliff });
    stretches
}

/// Whether the size of segments predicts this cliff: what Nagle's algorithm holds at a value can have a size of its own,
/// and the place computed from that is another.
fn predicts(tie: &SegmentTie, cliff: &Cliff) -> bool {
    let bracket = cliff.below - TOLERANCE..=cliff.above + TOLERANCE;
    bracket.contains(&tie.predicted)
}

/// A value well below the largest, of those that were measured.
fn smaller(sweep: &Sweep, largest: f64) -> Option<f64> {
    let sound =
        sweep.points.iter().filter(|point| point.trials > 0 && point.value > 0.0 && point.value * 2.0 <= largest);
    let apart = |value: f64| (value * APART / largest).ln().abs();
    sound.map(|point| point.value).min_by(|one, other| apart(*one).total_cmp(&apart(*other)))
}

/// Why a cliff is where it is: how its two sides differ, and the size of segments where that decides.
fn reason(sweep: &Sweep, place: usize, name: &str) -> String {
    let cliff = &sweep.cliffs[place];
    let findings = |place: usize| sweep.regimes.get(place).map_or(&[][..], |regime| &regime.findings[..]);
    let only = |own: &[Finding], other: &[Finding]| {
        let is_new = |finding: &&Finding| other.iter().all(|known| known.id != finding.id);
        own.iter().find(is_new).map(|finding| finding.name.clone())
    };
    let (below, above) = (findings(place), findings(place + 1));
    let found = only(below, above).map(|found| (found, "up to", cliff.below));
    let found = found.or_else(|| only(above, below).map(|found| (found, "from", cliff.above)));
    let Some((found, side, value)) = found else { return String::new() };
    let seen = format!("{found} occurs only {side} {value}.");
    let Some(segment) = cliff.segment else { return seen };
    format!(
        "{seen} Together with the {} bytes around it, a {name} below {} does not fill a segment (MSS {} bytes), and \
         Nagle's algorithm holds a partial segment until earlier data is acknowledged; a full one leaves at once.",
        segment.overhead, segment.predicted, segment.mss
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Point;

    fn swept(values: &[f64], cliffs: &[(f64, f64)]) -> Sweep {
        let point = |value: &f64| Point { value: *value, trials: 2, ..Point::default() };
        let cliff = |(below, above): &(f64, f64)| Cliff { below: *below, above: *above, ..Cliff::default() };
        Sweep {
            points: values.iter().map(point).collect(),
            cliffs: cliffs.iter().map(cliff).collect(),
            ..Sweep::default()
        }
    }

    #[test]
    fn stretches_lie_between_cliffs_and_are_recorded_next_to_them() {
        let stretch = |from, to, at, cliff| Stretch { from, to, at, cliff };
        assert_eq!(stretches(&swept(&[1.0, 2.0, 4.0], &[])), [stretch(1.0, 4.0, 4.0, None)]);
        let two = stretches(&swept(&[1.0, 2.0, 3.0, 9.0], &[(2.0, 3.0)]));
        assert_eq!(two, [stretch(1.0, 2.0, 2.0, Some(0)), stretch(3.0, 9.0, 3.0, Some(0))]);
        assert_eq!(stretches(&swept(&[], &[])), []);
    }

    #[test]
    fn what_grows_is_found_against_a_value_a_few_times_smaller() {
        let sweep = swept(&[1.0, 2.0, 4.0, 8.0, 16.0], &[]);
        assert_eq!(smaller(&sweep, 16.0), Some(4.0));
        assert_eq!(smaller(&swept(&[9.0, 10.0], &[]), 10.0), None);
    }

    #[test]
    fn a_cliff_is_explained_by_what_is_found_on_one_side_only() {
        let mut sweep = swept(&[1.0, 1418.0, 1420.0], &[(1418.0, 1420.0)]);
        assert_eq!(reason(&sweep, 0, "size"), "");
        let finding = Finding { id: "P01".into(), name: "nagle-delayed-ack".into(), ..Finding::default() };
        sweep.regimes = vec![Regime { findings: vec![finding], ..Regime::default() }, Regime::default()];
        sweep.cliffs[0].segment = Some(SegmentTie { mss: 1448, overhead: 29, predicted: 1419.0 });
        let reason = reason(&sweep, 0, "size");
        assert!(reason.contains("nagle-delayed-ack occurs only up to 1418") && reason.contains("1448"), "{reason}");
    }
}
