//! The arms of an experiment: which interventions a finding calls for, in which doses, alone and together.

use crate::asked::Asked;
use crate::experiment::{Attempt, Experiment, Joint, PLAIN, SHAM, own_sham};
use crate::interventions::{ALL, Intervention, NotHere, Request, find};
use crate::metric::Metric;
use crate::treatment::{Sockets, Treatment};
use crate::world::World;
use case::facts::{NotTried, WhyNot};
use case::{Answer, Finding, Purpose, Recording};
use std::time::Duration;

/// Pathologies whose cure changes how many requests there seem to be, so that whole runs are compared: an update of a window looks like
/// a request, and what is not given up is not asked again.
const CHANGES_REQUESTS: [&str; 2] = ["P21", "P45"];

/// One arm: what is attached to its trials.
#[derive(Clone)]
pub struct Arm {
    /// Its name, as the trials carry it.
    pub name: String,
    /// What is attached.
    pub treatment: Treatment,
    /// The interventions that it is made of, which tell whether they took effect.
    pub parts: Vec<&'static Intervention>,
}

impl Arm {
    /// Nothing attached.
    pub fn plain() -> Arm {
        Arm { name: PLAIN.to_string(), treatment: Treatment::default(), parts: Vec::new() }
    }

    /// Whether an intervention of this arm includes those of the other.
    pub fn stands_on(&self, other: &Arm) -> bool {
        let below = self.parts.iter().flat_map(|part| part.stands_on).collect::<Vec<_>>();
        !other.parts.is_empty() && other.parts.iter().all(|part| below.contains(&&part.name))
    }

    /// Several arms at once: the last is what is added to the others.
    pub fn together(parts: &[&Arm]) -> Arm {
        let mut treatment = Treatment::default();
        for part in parts {
            treatment.join(part.treatment.clone());
        }
        let name = parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join("+");
        Arm { name, treatment, parts: parts.iter().flat_map(|part| part.parts.iter().copied()).collect() }
    }
}

/// What findings are tried in.
pub struct Setting<'a> {
    /// The answer that suspects.
    pub answer: &'a Answer,
    /// What it was drawn from.
    pub recording: &'a Recording,
    /// Where the subject runs.
    pub world: &'a World,
    /// Whether there is a server of ours.
    pub has_server: bool,
    /// What to judge by, where the user said so.
    pub metric: Option<&'a Metric>,
    /// What the user wants to be tried besides.
    pub asked: &'a [Asked],
    /// Whether what the program writes is compared.
    pub compares_output: bool,
    /// What is switched off already, where findings only showed on top of that.
    pub upon: Option<Upon<'a>>,
}

/// What everything else is tried on top of.
#[derive(Clone, Copy)]
pub struct Upon<'a> {
    /// The arm that all others carry as well.
    pub arm: &'a Arm,
    /// How long a whole run takes without it.
    pub without: Duration,
}

/// What all arms but the sham stand on, and are compared with.
#[derive(Clone)]
pub struct Base {
    /// The arm.
    pub arm: Arm,
    /// How long a whole run takes without it.
    pub without: Duration,
}

/// The arms of an experiment; the first two are [`PLAIN`] and [`SHAM`], or where all stand on a base the sham and that.
pub struct Arms {
    /// What they stand on, where that is something.
    pub base: Option<Base>,
    /// All that run one by one.
    pub alone: Vec<Arm>,
    /// All that may run together, once their parts have proved something.
    pub increments: Vec<Arm>,
    /// What they are tried for.
    pub experiment: Experiment,
}

impl Setting<'_> {
    /// Whether an intervention is switched on in every arm.
    fn is_on(&self, intervention: &Intervention) -> bool {
        self.upon.is_some_and(|upon| upon.arm.parts.iter().any(|part| part.name == intervention.name))
    }
}

impl Arms {
    /// Works out which interventions the findings of an answer call for.
    pub fn of(setting: &Setting) -> Arms {
        let mut arms = Arms::none();
        for finding in &setting.answer.findings {
            arms.for_finding(setting, finding);
        }
        arms.complete(setting)
    }

    /// One intervention, tried as the cause of the first finding of an answer, and nothing else.
    ///
    /// # Errors
    /// Where it cannot be tried here.
    pub fn of_one(setting: &Setting, asked: &Asked) -> Result<Arms, NotHere> {
        let mut arms = Arms::none();
        for finding in setting.answer.findings.iter().take(1) {
            arms.attempt(setting, finding, asked, Some(Purpose::Cause))?;
        }
        Ok(arms.complete(setting))
    }

    /// Nothing to try, and why.
    pub fn not_to_be_had(why: String) -> Arms {
        let not_tried = vec![NotTried::of_all(WhyNot::NotHere, why)];
        let experiment = Experiment { not_tried, ..Experiment::default() };
        Arms { experiment, ..Arms::none() }
    }

    fn none() -> Arms {
        Arms { base: None, alone: Vec::new(), increments: Vec::new(), experiment: Experiment::default() }
    }

    /// Adds what one finding calls for, and with the top finding what the user asks for.
    fn for_finding(&mut self, setting: &Setting, finding: &Finding) {
        let before = self.experiment.attempts.len();
        let mut refusals = Vec::new();
        for intervention in ALL.iter().filter(|one| !setting.is_on(one)) {
            if let Err(why) = self.call_for(setting, finding, intervention) {
                let sentence = format!("{} for {}: {}", intervention.name, finding.name, why.0);
                refusals.push(refusal(WhyNot::NotHere, &finding.id, intervention.name, sentence));
            }
        }
        let is_top = setting.answer.findings.first().is_some_and(|first| first.id == finding.id);
        for asked in setting.asked.iter().filter(|_| is_top) {
            if let Err(why) = self.attempt(setting, finding, asked, Some(Purpose::Asked)) {
                let sentence = format!("{}, as asked for: {}", asked.intervention.name, why.0);
                refusals.push(refusal(WhyNot::NotHere, "", asked.intervention.name, sentence));
            }
        }
        if self.experiment.attempts.len() == before && refusals.is_empty() {
            let none = format!("{}: no known way to switch it off from outside", finding.name);
            self.experiment.not_tried.push(refusal(WhyNot::NothingKnown, &finding.id, "", none));
        }
        self.experiment.not_tried.append(&mut refusals);
    }

    /// Adds the arms that the others are compared with.
    fn complete(mut self, setting: &Setting) -> Arms {
        let mut all = Treatment::default();
        for arm in self.alone.iter().chain(&self.increments) {
            all.join(arm.treatment.clone());
        }
        self.carry_for_controls(&all);
        let Some(upon) = setting.upon else {
            let sham = Arm { name: SHAM.to_string(), treatment: all.inert(), parts: Vec::new() };
            let shams = self.own_shams(&sham.treatment);
            self.alone.splice(0..0, [Arm::plain(), sham].into_iter().chain(shams));
            return self;
        };
        self.stand(upon, &all);
        self
    }

    /// Where only controls set sockets, all arms have the machinery for it: attached to the kernel it costs a program nothing
    /// while nothing is set, and one sham serves them all. A control carries what the cures need, which it does not use.
    fn carry_for_controls(&mut self, all: &Treatment) {
        let attempts = &self.experiment.attempts;
        let is_cure = |arm: &Arm, attempt: &Attempt| attempt.arm == arm.name && attempt.purpose != Purpose::Control;
        let is_control = |arm: &Arm| !attempts.iter().any(|attempt| is_cure(arm, attempt));
        let (controls, others): (Vec<&mut Arm>, Vec<&mut Arm>) =
            self.alone.iter_mut().chain(&mut self.increments).partition(|arm| is_control(arm));
        if all.sockets.is_none() || others.iter().any(|arm| arm.treatment.sockets.is_some()) {
            return;
        }
        for arm in controls.into_iter().filter(|arm| arm.treatment.sockets.is_some()) {
            arm.treatment.carry(all);
        }
        for arm in others {
            arm.treatment.sockets = Some(Sockets::default());
        }
    }

    /// Gives each arm what it is compared with: its own machinery, inert. That of all is the sham; arms with the same machinery
    /// share theirs; where there is nothing to be inert, it is the program with nothing attached.
    fn own_shams(&mut self, all: &Treatment) -> Vec<Arm> {
        let mut shams: Vec<Arm> = Vec::new();
        for arm in &self.alone {
            let inert = arm.treatment.inert();
            let reference = if inert == *all {
                SHAM.to_string()
            } else if inert == Treatment::default() {
                PLAIN.to_string()
            } else if let Some(known) = shams.iter().find(|sham| sham.treatment == inert) {
                known.name.clone()
            } else {
                shams.push(Arm { name: own_sham(&arm.name), treatment: inert, parts: Vec::new() });
                own_sham(&arm.name)
            };
            for attempt in self.experiment.attempts.iter_mut().filter(|attempt| attempt.arm == arm.name) {
                attempt.reference.clone_from(&reference);
            }
        }
        shams
    }

    /// Puts every arm on top of one that is switched off already. What they are compared with is that one, with the
    /// machinery of the others attached and inert; the sham tells what all of it together gains.
    fn stand(&mut self, upon: Upon, all: &Treatment) {
        let mut base = upon.arm.clone();
        base.treatment.carry(all);
        let mut sham = Arm { name: SHAM.to_string(), treatment: upon.arm.treatment.inert(), parts: Vec::new() };
        sham.treatment.carry(all);
        for arm in &mut self.alone {
            let name = std::mem::take(&mut arm.name);
            *arm = Arm::together(&[upon.arm, &Arm { name: name.clone(), ..arm.clone() }]);
            for attempt in self.experiment.attempts.iter_mut().filter(|attempt| attempt.arm == name) {
                attempt.arm.clone_from(&arm.name);
                attempt.reference.clone_from(&base.name);
            }
        }
        let below = base.name.split('+').map(Asked::unescaped).collect::<Vec<_>>();
        let first = self.experiment.attempts.first().map(|attempt| attempt.metric.clone());
        let joint = |arm: &str, more: Option<String>, before: &str, metric: &Metric| Joint {
            arm: arm.to_string(),
            interventions: below.iter().cloned().chain(more).collect(),
            before: before.to_string(),
            metric: metric.clone(),
        };
        let mut joints = first.iter().map(|metric| joint(&base.name, None, SHAM, metric)).collect::<Vec<_>>();
        let causes = self.experiment.attempts.iter().filter(|attempt| attempt.purpose == Purpose::Cause);
        joints.extend(causes.map(|cause| {
            let own = cause.arm.strip_prefix(&format!("{}+", base.name)).unwrap_or(&cause.arm);
            joint(&cause.arm, Some(Asked::unescaped(own)), &base.name, &cause.metric)
        }));
        self.experiment.joints = joints;
        self.alone.splice(0..0, [sham, base.clone()]);
        self.base = Some(Base { arm: base, without: upon.without });
    }

    /// Adds what one intervention is tried for in one finding, in each of its doses.
    fn call_for(
        &mut self,
        setting: &Setting,
        finding: &Finding,
        intervention: &'static Intervention,
    ) -> Result<(), NotHere> {
        let doses = match intervention.doses {
            [] => vec![None],
            doses => doses.iter().copied().map(Some).collect(),
        };
        let asked = |dose| Asked { dose, ..Asked::simply(intervention) };
        doses.into_iter().try_for_each(|dose| self.attempt(setting, finding, &asked(dose), None))
    }

    /// Adds one intervention in one dose, for what it is tried for in that finding or for what is said.
    fn attempt(
        &mut self,
        setting: &Setting,
        finding: &Finding,
        asked: &Asked,
        said: Option<Purpose>,
    ) -> Result<(), NotHere> {
        let (intervention, dose, about) = (asked.intervention, asked.dose, asked.about.as_deref());
        let request = Request {
            recording: Some(setting.recording),
            finding: Some(finding),
            world: setting.world,
            has_server: setting.has_server,
            dose,
            about,
        };
        let Some(purpose) = said.or_else(|| intervention.purpose(&finding.id, &request)) else { return Ok(()) };
        if purpose == Purpose::Control && !is_control(setting.answer, finding, asked) {
            return Ok(());
        }
        let metric = setting.metric.cloned();
        let exchanges = if CHANGES_REQUESTS.contains(&finding.id.as_str()) { 0 } else { setting.answer.exchanges };
        let metric = metric.unwrap_or_else(|| finding.cost.metric(exchanges));
        if purpose == Purpose::Incremental {
            // What it stands on is tried by itself.
            return if setting.upon.is_some() {
                Ok(())
            } else {
                self.add_step(&request, finding, intervention, metric)
            };
        }
        if intervention.needs_same_output && !setting.compares_output {
            return Err(NotHere("proves nothing without comparing outputs (--check-output never)".into()));
        }
        let mut treatment = Treatment::default();
        match (intervention.treat)(&request, &mut treatment) {
            // A control that cannot be had is nothing that the user could do anything about.
            Err(_) if purpose == Purpose::Control => return Ok(()),
            treated => treated?,
        }
        let dose = match about {
            Some(about) => about.to_string(),
            None => dose.map(|dose| worded(dose, intervention.unit)).unwrap_or_default(),
        };
        let arm = self.arm(intervention, &dose, treatment);
        let is_known = |one: &Attempt| one.finding == finding.id && one.arm == arm;
        if !self.experiment.attempts.iter().any(is_known) {
            let (finding, intervention) = (finding.id.clone(), intervention.name.to_string());
            let reference = SHAM.to_string();
            self.experiment.attempts.push(Attempt { finding, arm, intervention, dose, purpose, metric, reference });
        }
        Ok(())
    }

    /// The arm of an intervention in a dose, a new one where there is none yet. Two findings can share it, as long as
    /// they ask for the same treatment.
    fn arm(&mut self, intervention: &'static Intervention, dose: &str, treatment: Treatment) -> String {
        let name = match (dose.is_empty(), intervention.about.is_empty()) {
            (true, _) => intervention.name.to_string(),
            (false, true) => format!("{}={}", intervention.name, dose.replace(' ', "")),
            (false, false) => format!("{}={dose}", intervention.name),
        };
        let mut name = Asked::escaped(&name);
        while let Some(known) = self.alone.iter().find(|arm| arm.name == name) {
            if known.treatment == treatment {
                return name;
            }
            name.push('\'');
        }
        self.alone.push(Arm { name: name.clone(), treatment, parts: vec![intervention] });
        name
    }

    /// Adds an intervention on top of all that it stands on.
    fn add_step(
        &mut self,
        request: &Request,
        finding: &Finding,
        intervention: &'static Intervention,
        metric: Metric,
    ) -> Result<(), NotHere> {
        let parts = foundation(intervention);
        let mut treatment = Treatment::default();
        for part in &parts {
            let mut own = Treatment::default();
            (part.treat)(request, &mut own)?;
            treatment.join(own);
        }
        let name = joined(&parts);
        let before = joined(&parts[..parts.len() - 1]);
        self.experiment.attempts.push(Attempt {
            finding: finding.id.clone(),
            arm: name.clone(),
            intervention: intervention.name.to_string(),
            dose: String::new(),
            purpose: Purpose::Incremental,
            metric: metric.clone(),
            reference: before.clone(),
        });
        if self.increments.iter().all(|arm| arm.name != name) {
            let interventions = parts.iter().map(|part| part.name.to_string()).collect();
            self.experiment.joints.push(Joint { arm: name.clone(), interventions, before, metric });
            self.increments.push(Arm { name, treatment, parts });
        }
        Ok(())
    }
}

/// Whether an intervention that must do nothing for a finding is to show that here. In one dose, the first: none may gain. And not
/// where it cures another finding and gains by that, unless that one's cure is this one's, too: then it tells them apart.
fn is_control(answer: &Answer, finding: &Finding, asked: &Asked) -> bool {
    let intervention = asked.intervention;
    let is_tried_for =
        |other: &&Finding| intervention.prediction(&other.id).is_some_and(|known| known.purpose != Purpose::Control);
    let others = answer.findings.iter().filter(|other| other.id != finding.id);
    asked.dose == intervention.doses.first().copied()
        && others.filter(is_tried_for).all(|other| ALL.iter().any(|one| cures(one, finding) && cures(one, other)))
}

/// Whether an intervention removes what a finding suspects.
fn cures(intervention: &Intervention, finding: &Finding) -> bool {
    intervention.prediction(&finding.id).is_some_and(|known| known.purpose == Purpose::Cause)
}

/// A dose as it is written: `8 ms`, `1 certificate`.
fn worded(dose: f64, unit: &str) -> String {
    // `ms` is an abbreviation, and no plural.
    let is_word = unit.len() > 2;
    let unit = if (dose - 1.0).abs() < f64::EPSILON && is_word { unit.trim_end_matches('s') } else { unit };
    format!("{dose} {unit}")
}

/// An intervention after all that it stands on.
fn foundation(intervention: &'static Intervention) -> Vec<&'static Intervention> {
    let mut parts: Vec<&'static Intervention> = Vec::new();
    for name in intervention.stands_on {
        for part in find(name).map(foundation).unwrap_or_default() {
            if parts.iter().all(|known| known.name != part.name) {
                parts.push(part);
            }
        }
    }
    parts.push(intervention);
    parts
}

fn joined(parts: &[&'static Intervention]) -> String {
    parts.iter().map(|part| part.name).collect::<Vec<_>>().join("+")
}

fn refusal(why: WhyNot, finding: &str, intervention: &str, sentence: String) -> NotTried {
    NotTried { why, finding: finding.to_string(), intervention: intervention.to_string(), sentence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Cost;
    use case::tables::{Connection, transport};

    #[test]
    fn each_arm_is_compared_with_its_own_machinery_inert() {
        let finding = |id: &str| Finding {
            id: id.into(),
            cost: Cost { share_of_wall: 0.9, ..Cost::default() },
            ..Finding::default()
        };
        let (recording, world) = (Recording::default(), World::default());
        let of = |ids: &[&str]| {
            let findings = ids.iter().map(|id| finding(id)).collect();
            let answer = Answer { exchanges: 100, findings, ..Answer::default() };
            Arms::of(&Setting {
                answer: &answer,
                recording: &recording,
                world: &world,
                has_server: true,
                metric: None,
                asked: &[],
                compares_output: true,
                upon: None,
            })
        };
        let held = of(&["P01"]);
        let reference = |arm: &str| {
            let attempt = held.experiment.attempts.iter().find(|attempt| attempt.arm == arm).expect("an attempt");
            held.alone.iter().find(|arm| arm.name == attempt.reference).expect("an arm")
        };
        let (nodelay, coalesced) = (reference("tcp-nodelay"), reference("coalesce-writes"));
        assert!(
            nodelay.treatment.sockets.is_some_and(|sockets| !sockets.nodelay) && nodelay.treatment.preloads.is_empty()
        );
        assert!(coalesced.treatment.sockets.is_none() && coalesced.treatment.preloads[0].parameter == "inert");
        // Both doses have the same machinery as what sets the option.
        assert_eq!(reference("delayed-ack-cap=8ms").name, nodelay.name);
        let names = held.alone.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names[..4], ["plain", "nothing", "nothing:tcp-nodelay", "nothing:coalesce-writes"], "{names:?}");
        // One alone has the machinery of all; what leaves nothing in the program is compared with nothing attached.
        let fsync = of(&["P39"]);
        assert_eq!((fsync.experiment.attempts[0].reference.as_str(), fsync.alone.len()), ("nothing", 3));
        let quota = of(&["P29"]);
        assert_eq!(quota.experiment.attempts[0].reference, "nothing");
    }

    /// The arms for findings of a client and a server over TCP, and what each is tried for.
    fn of_connected(ids: &[&str]) -> Arms {
        let cost = Cost { share_of_wall: 0.9, ..Cost::default() };
        let findings = ids.iter().map(|id| Finding { id: (*id).into(), cost, ..Finding::default() });
        let answer = Answer { exchanges: 100, findings: findings.collect(), ..Answer::default() };
        let connection = Connection { transport: transport::TCP, ..Connection::default() };
        let recording = Recording { connections: vec![connection], ..Recording::default() };
        Arms::of(&Setting {
            answer: &answer,
            recording: &recording,
            world: &World::default(),
            has_server: true,
            metric: None,
            asked: &[],
            compares_output: true,
            upon: None,
        })
    }

    /// Of one finding: the arms that are controls, each with what it is compared with.
    fn controls<'a>(arms: &'a Arms, finding: &str) -> Vec<(&'a str, &'a str)> {
        let own = arms.experiment.attempts.iter().filter(|attempt| attempt.finding == finding);
        let controls = own.filter(|attempt| attempt.purpose == Purpose::Control);
        controls.map(|attempt| (attempt.arm.as_str(), attempt.reference.as_str())).collect()
    }

    #[test]
    fn a_control_takes_one_arm_more_and_no_sham_of_its_own() {
        let fsync = of_connected(&["P39"]);
        let names = fsync.alone.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names, ["plain", "nothing", "delayed-ack-cap=8ms", "no-fsync"]);
        assert!(fsync.experiment.attempts.iter().all(|attempt| attempt.reference == SHAM), "{:?}", fsync.experiment);
        let arm = |name: &str| fsync.alone.iter().find(|arm| arm.name == name).expect("an arm").treatment.clone();
        assert_eq!(arm("no-fsync").inert(), arm(SHAM));
        assert_eq!(arm("delayed-ack-cap=8ms").inert(), arm(SHAM));
        assert_eq!(arm("no-fsync").sockets, Some(Sockets::default()));
        // The same shim with another parameter.
        let polling = of_connected(&["P06"]);
        assert_eq!(controls(&polling, "P06"), [("sleep-in-halves", SHAM)]);
    }

    #[test]
    fn what_another_finding_gains_by_is_no_control_unless_it_tells_the_two_apart() {
        assert_eq!(controls(&of_connected(&["P42"]), "P42").len(), 1);
        assert_eq!(controls(&of_connected(&["P01", "P42"]), "P42"), []);
        // Joining writes cures both: whether holding none back does tells which it is.
        assert_eq!(controls(&of_connected(&["P01", "P03"]), "P03").len(), 1);
    }
}
