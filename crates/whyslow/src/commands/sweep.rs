//! `whyslow sweep --vary NAME=SPEC -- CMD {NAME}`: where the cliff is, whether it grows out of hand, and why.

use super::answer;
use crate::arguments::SweepArguments;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::invoker::{Invoker, subject_user};
use crate::progress::Progress;
use crate::recording::Quiet;
use crate::{folder, output, page, recording, typed};
use case::{CaseWriter, Cliff, Finding, Regime, SegmentTie, Sweep, redact_arguments};
use lab::engine::Kind;
use lab::{Extent, Journal, Laboratory, Metric, Subject, SweepTerms, Swept, Treatment, Value, Vary, World, place};
use std::path::Path;
use std::time::Duration;

/// A run of many exchanges shows in so long what it does.
const LONGEST_OF_EXCHANGES: Duration = Duration::from_secs(3);
/// A run that is measured as a whole is recorded for so long at most.
const LONGEST: Duration = Duration::from_secs(30);
/// What grows is told between the largest value and one about so many times smaller.
const APART: f64 = 4.0;
/// A cliff is where the size of segments says, to so many bytes: options of TCP and lengths written as digits vary.
const FORETOLD: f64 = 16.0;
/// The sweep itself.
pub const FILE: &str = "sweep.json";
/// The finding that can tie a cliff to the size of segments.
const TIED: &str = "P01";

/// Sweeps, keeps and prints.
pub fn sweep(arguments: &SweepArguments) -> Result<u8, Failure> {
    let invoker = Invoker::find();
    let vary = Vary::parse(&arguments.vary).map_err(|why| Failure::vary(&why))?;
    let world = typed::world(&arguments.world)?;
    let addresses = typed::addresses(world.link);
    let subject = Subject {
        client: typed::with_addresses(&arguments.command, addresses),
        server: typed::server(arguments.server.as_deref(), &world)?,
        user: subject_user(arguments.keeping.user.as_deref(), &invoker)?,
        input: lab::input_again().unwrap_or_default(),
    };
    for value in vary.values() {
        place(&vary, &subject, &world, value).map_err(|why| Failure::vary(&why))?;
    }
    let folder = typed::case_folder(arguments.keeping.folder.as_deref(), &arguments.command, &invoker)?;
    folder::make_parents(&folder, &invoker)?;
    let sweeping = Sweeping {
        vary: &vary,
        subject: &subject,
        world: &world,
        budget: typed::budget(arguments.budget.as_deref(), Kind::Sweep)?,
        metric: typed::metric(arguments.metric.as_deref())?,
        folder: &folder,
        interrupts: Interrupts::take()?,
    };
    let done = sweeping.all(arguments).inspect_err(|_| folder::remove_empty(&folder));
    // Also after an error: what there is of the case belongs to the user.
    invoker.own(&folder);
    show(&done?, arguments.json)
}

/// Prints a sweep, and says how it comes out.
pub fn show(sweep: &Sweep, as_json: bool) -> Result<u8, Failure> {
    if as_json {
        let text = serde_json::to_string_pretty(sweep).map_err(|error| Failure::internal(&error.to_string()))?;
        output::print(&(text + "\n"))?;
    } else {
        output::print(&report::sweep(sweep, &output::style()))?;
    }
    Ok(answer::code_of(&report::sweep_outcome(sweep)))
}

/// A sweep under way.
struct Sweeping<'a> {
    vary: &'a Vary,
    subject: &'a Subject,
    world: &'a World,
    budget: Duration,
    metric: Option<Metric>,
    folder: &'a Path,
    interrupts: Interrupts,
}

impl Sweeping<'_> {
    fn all(&self, arguments: &SweepArguments) -> Result<Sweep, Failure> {
        let mut writer = CaseWriter::create(self.folder, typed::manifest(self.subject, self.world))?;
        let seed = writer.manifest().started_unix_seconds;
        let Swept { mut sweep, trials, .. } = self.measure(seed)?;
        if let Some((first, last)) = trials.first().zip(trials.last()) {
            (writer.manifest().start, writer.manifest().end) = (first.start, last.start + last.wall);
        }
        writer.append(trials)?;
        sweep.schema = case::SCHEMA;
        sweep.case = self.folder.display().to_string();
        sweep.command = redact_arguments(&arguments.command);
        sweep.server = redact_arguments(self.subject.server.as_deref().unwrap_or_default());
        if self.interrupts.has_come() {
            sweep.warnings.push("What the stretches between cliffs mean was not looked at any more.".to_string());
        } else {
            let host = self.explain(&mut sweep)?;
            writer.manifest().host = host;
        }
        sweep.summary = report::sweep_sentence(&sweep);
        let case = writer.close()?;
        sweep.page = page::keep(&case, || page::of_sweep(&sweep, &case));
        case.keep(FILE, &sweep)?;
        Ok(sweep)
    }

    /// Runs the trials.
    fn measure(&self, seed: u64) -> Result<Swept, Failure> {
        let most = self.budget.as_secs_f64();
        output::say(&format!("the program is run at each value several times, for {most:.0} s at most"));
        let progress = Progress::of("sweeping");
        let say = |line: &str| progress.say(line);
        let journal = Journal::open()?;
        let mut wait = |longest: Duration| self.interrupts.next(longest).is_some();
        let mut laboratory = Laboratory::open(&journal, self.metric.as_ref(), &mut wait)?;
        let mut execute = |value: &Value, extent: &Extent| {
            let (subject, world) = place(self.vary, self.subject, self.world, value).map_err(lab::LabError::World)?;
            laboratory.run(&subject, &world, &Treatment::default(), extent)
        };
        let terms = SweepTerms { budget: self.budget, seed, metric: self.metric.clone(), grain: None, say: &say };
        lab::sweep(self.vary, &mut execute, &terms).map_err(Failure::sweep)
    }

    /// Records a run in each stretch between cliffs and says what it means; where it grows, what grows. The machine that
    /// it was recorded on.
    fn explain(&self, sweep: &mut Sweep) -> Result<case::Host, Failure> {
        let mut host = case::Host::default();
        for Stretch { from, to, at, cliff } in stretches(sweep) {
            let quiet = self.record(at, sweep)?;
            host.clone_from(&quiet.recording.manifest.host);
            let tied = quiet.answer.findings.iter().find(|finding| finding.id == TIED);
            if let (Some(finding), Some(place)) = (tied, cliff) {
                let (tie, cliff) = (diagnose::segment_tie(&quiet.recording, finding, at), &mut sweep.cliffs[place]);
                cliff.segment = tie.filter(|tie| foretells(tie, cliff)).or(cliff.segment);
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
            sweep.cliffs[place].reason = reason(sweep, place, &self.vary.name);
        }
        Ok(host)
    }

    fn record(&self, at: f64, sweep: &Sweep) -> Result<Quiet, Failure> {
        let value = self.vary.at(at);
        let (subject, world) = place(self.vary, self.subject, self.world, &value).map_err(|why| Failure::vary(&why))?;
        let plain = value.text.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.', "-");
        let folder = self.folder.join(format!("at-{plain}"));
        let is_of_exchanges = sweep.metric.contains("exchange");
        let longest = if is_of_exchanges { LONGEST_OF_EXCHANGES } else { LONGEST };
        let doing = format!("recording a run at {}={}", self.vary.name, value.label);
        recording::record_quietly(&doing, &subject, &world, &Treatment::default(), &folder, longest, &self.interrupts)
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

/// Whether the size of segments says where the cliff is: what Nagle's algorithm holds at a value can have a size of its
/// own, and a place that is then computed from it is another.
fn foretells(tie: &SegmentTie, cliff: &Cliff) -> bool {
    let bracket = cliff.below - FORETOLD..=cliff.above + FORETOLD;
    bracket.contains(&tie.predicted)
}

/// A value well below the largest, of those that were measured.
fn smaller(sweep: &Sweep, largest: f64) -> Option<f64> {
    let sound =
        sweep.points.iter().filter(|point| point.trials > 0 && point.value > 0.0 && point.value * 2.0 <= largest);
    let apart = |value: f64| (value * APART / largest).ln().abs();
    sound.map(|point| point.value).min_by(|one, other| apart(*one).total_cmp(&apart(*other)))
}

/// Why a cliff is where it is: what its two sides differ in, and the size of segments where that is what tells.
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
    let seen = format!("{found} is seen {side} {value}, and not on the other side");
    let Some(segment) = cliff.segment else { return seen + "." };
    format!(
        "{seen}: with the {} bytes around it, a {name} below {} does not fill a segment of {} bytes (the connection's \
         MSS), and such a segment is held until the one before it is acknowledged; a full one leaves at once.",
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
    fn what_grows_is_told_against_a_value_a_few_times_smaller() {
        let sweep = swept(&[1.0, 2.0, 4.0, 8.0, 16.0], &[]);
        assert_eq!(smaller(&sweep, 16.0), Some(4.0));
        assert_eq!(smaller(&swept(&[9.0, 10.0], &[]), 10.0), None);
    }

    #[test]
    fn a_cliff_is_explained_by_what_is_found_on_one_side_only() {
        let mut sweep = swept(&[1.0, 1418.0, 1420.0], &[(1418.0, 1420.0)]);
        assert_eq!(reason(&sweep, 0, "size"), "");
        let finding = Finding { id: "P01".into(), name: "nagle-delayed-ack".into(), ..finding() };
        sweep.regimes = vec![Regime { findings: vec![finding], ..Regime::default() }, Regime::default()];
        sweep.cliffs[0].segment = Some(SegmentTie { mss: 1448, overhead: 29, predicted: 1419.0 });
        let reason = reason(&sweep, 0, "size");
        assert!(reason.contains("nagle-delayed-ack is seen up to 1418") && reason.contains("1448"), "{reason}");
    }

    fn finding() -> Finding {
        let text = r#"{"id":"","name":"","status":"suspected","title":"","mechanism":[],
            "cost":{"ns_per_exchange":0,"share_of_wall":0,"cpu_ns_per_exchange":0,"share_of_cpu":0,"affected":0},
            "effect":null,"tried":[],"place":[],"remedy":"","evidence":{"table":"","rows":[]},"caveats":[]}"#;
        serde_json::from_str(text).expect("a finding")
    }
}
