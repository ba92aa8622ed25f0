//! The arms of an experiment: which interventions a finding calls for, in which doses, alone and together.

use crate::arrangement::Arrangement;
use crate::experiment::{Attempt, Experiment, Joint, PLAIN, SHAM};
use crate::interventions::{ALL, Intervention, NotHere, Request, find};
use crate::metric::Metric;
use crate::world::World;
use case::{Answer, Finding, Purpose, Recording};

/// One arm: what is attached to its trials.
#[derive(Clone)]
pub struct Arm {
    /// Its name, as the trials carry it.
    pub name: String,
    /// What is attached.
    pub arrangement: Arrangement,
    /// The interventions that it is made of, which tell whether they took hold.
    pub parts: Vec<&'static Intervention>,
}

impl Arm {
    /// Nothing attached.
    pub fn plain() -> Arm {
        Arm { name: PLAIN.to_string(), arrangement: Arrangement::default(), parts: Vec::new() }
    }

    /// Whether an intervention of this arm includes those of the other.
    pub fn stands_on(&self, other: &Arm) -> bool {
        let below = self.parts.iter().flat_map(|part| part.stands_on).collect::<Vec<_>>();
        !other.parts.is_empty() && other.parts.iter().all(|part| below.contains(&&part.name))
    }

    /// Several arms at once: the last is what is added to the others.
    pub fn together(parts: &[&Arm]) -> Arm {
        let mut arrangement = Arrangement::default();
        for part in parts {
            arrangement.join(part.arrangement.clone());
        }
        let name = parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join("+");
        Arm { name, arrangement, parts: parts.iter().flat_map(|part| part.parts.iter().copied()).collect() }
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
    /// What the user wants to be tried besides, each with its dose where one was given.
    pub asked: &'a [(&'static Intervention, Option<f64>)],
}

/// The arms of an experiment; the first two are always [`PLAIN`] and [`SHAM`].
pub struct Arms {
    /// All that run one by one.
    pub alone: Vec<Arm>,
    /// All that may run together, once their parts have proved something.
    pub ladders: Vec<Arm>,
    /// What they are tried for.
    pub experiment: Experiment,
}

impl Arms {
    /// Works out which interventions the findings of an answer call for.
    pub fn of(setting: &Setting) -> Arms {
        let mut arms = Arms { alone: Vec::new(), ladders: Vec::new(), experiment: Experiment::default() };
        for finding in &setting.answer.findings {
            let before = arms.experiment.attempts.len();
            let mut refusals = Vec::new();
            for intervention in ALL {
                if let Err(why) = arms.call_for(setting, finding, intervention) {
                    refusals.push(format!("{} for {}: {}", intervention.name, finding.name, why.0));
                }
            }
            let is_dearest = setting.answer.findings.first().is_some_and(|first| first.id == finding.id);
            for (intervention, dose) in setting.asked.iter().filter(|_| is_dearest) {
                if let Err(why) = arms.attempt(setting, finding, intervention, *dose, Some(Purpose::Asked)) {
                    refusals.push(format!("{}, as asked for: {}", intervention.name, why.0));
                }
            }
            if arms.experiment.attempts.len() == before && refusals.is_empty() {
                let none = format!("{}: nothing that could switch it off from outside is known", finding.name);
                arms.experiment.not_tried.push(none);
            }
            arms.experiment.not_tried.append(&mut refusals);
        }
        let mut all = Arrangement::default();
        for arm in arms.alone.iter().chain(&arms.ladders) {
            all.join(arm.arrangement.clone());
        }
        let sham = Arm { name: SHAM.to_string(), arrangement: all.inert(), parts: Vec::new() };
        arms.alone.splice(0..0, [Arm::plain(), sham]);
        arms
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
        doses.into_iter().try_for_each(|dose| self.attempt(setting, finding, intervention, dose, None))
    }

    /// Adds one intervention in one dose, for what it is tried for in that finding or for what is said.
    fn attempt(
        &mut self,
        setting: &Setting,
        finding: &Finding,
        intervention: &'static Intervention,
        dose: Option<f64>,
        said: Option<Purpose>,
    ) -> Result<(), NotHere> {
        let request = Request {
            recording: Some(setting.recording),
            finding: Some(finding),
            world: setting.world,
            has_server: setting.has_server,
            dose,
        };
        let Some(purpose) = said.or_else(|| intervention.purpose(&finding.id, &request)) else { return Ok(()) };
        let metric = setting.metric.cloned();
        let metric = metric.unwrap_or_else(|| Metric::of_finding(&finding.cost, setting.answer.exchanges));
        if purpose == Purpose::Ladder {
            return self.add_step(&request, finding, intervention, metric);
        }
        let mut arrangement = Arrangement::default();
        (intervention.arrange)(&request, &mut arrangement)?;
        let dose = dose.map(|dose| worded(dose, intervention.unit)).unwrap_or_default();
        let arm = self.arm(intervention, &dose, arrangement);
        let is_known = |one: &Attempt| one.finding == finding.id && one.arm == arm;
        if !self.experiment.attempts.iter().any(is_known) {
            let (finding, intervention) = (finding.id.clone(), intervention.name.to_string());
            let reference = SHAM.to_string();
            self.experiment.attempts.push(Attempt { finding, arm, intervention, dose, purpose, metric, reference });
        }
        Ok(())
    }

    /// The arm of an intervention in a dose, a new one where there is none yet. Two findings can share it, as long as
    /// they ask for the same arrangement.
    fn arm(&mut self, intervention: &'static Intervention, dose: &str, arrangement: Arrangement) -> String {
        let plain = if dose.is_empty() { String::new() } else { format!("={}", dose.replace(' ', "")) };
        let mut name = format!("{}{plain}", intervention.name);
        while let Some(known) = self.alone.iter().find(|arm| arm.name == name) {
            if known.arrangement == arrangement {
                return name;
            }
            name.push('\'');
        }
        self.alone.push(Arm { name: name.clone(), arrangement, parts: vec![intervention] });
        name
    }

    /// Adds a step of a ladder: an intervention with all that it stands on.
    fn add_step(
        &mut self,
        request: &Request,
        finding: &Finding,
        intervention: &'static Intervention,
        metric: Metric,
    ) -> Result<(), NotHere> {
        let parts = foundation(intervention);
        let mut arrangement = Arrangement::default();
        for part in &parts {
            let mut own = Arrangement::default();
            (part.arrange)(request, &mut own)?;
            arrangement.join(own);
        }
        let name = joined(&parts);
        let before = joined(&parts[..parts.len() - 1]);
        self.experiment.attempts.push(Attempt {
            finding: finding.id.clone(),
            arm: name.clone(),
            intervention: intervention.name.to_string(),
            dose: String::new(),
            purpose: Purpose::Ladder,
            metric: metric.clone(),
            reference: before.clone(),
        });
        if self.ladders.iter().all(|arm| arm.name != name) {
            let interventions = parts.iter().map(|part| part.name.to_string()).collect();
            self.experiment.joints.push(Joint { arm: name.clone(), interventions, before, metric });
            self.ladders.push(Arm { name, arrangement, parts });
        }
        Ok(())
    }
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
