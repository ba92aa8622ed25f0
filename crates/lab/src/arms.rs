//! The arms of an experiment: which interventions a finding calls for, in which doses, alone and together.

mod attempts;
mod shams;

use crate::asked::Asked;
use crate::experiment::{Experiment, PLAIN, SHAM};
use crate::interventions::{ALL, Intervention, NotHere};
use crate::metric::Metric;
use crate::treatment::Treatment;
use crate::world::World;
use case::facts::{NotTried, WhyNot};
use case::{Answer, Finding, Purpose, Recording};
use std::time::Duration;

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

    /// Drops controls of findings of which nothing else is tried: there is no gain that they could put in doubt.
    fn drop_idle_controls(&mut self) {
        let attempts = &mut self.experiment.attempts;
        let others = attempts.iter().filter(|attempt| attempt.purpose != Purpose::Control);
        let tried = others.map(|attempt| attempt.finding.clone()).collect::<Vec<_>>();
        attempts.retain(|attempt| tried.contains(&attempt.finding));
        self.alone.retain(|arm| attempts.iter().any(|attempt| attempt.arm == arm.name));
    }

    /// Adds the arms that the others are compared with.
    fn complete(mut self, setting: &Setting) -> Arms {
        self.drop_idle_controls();
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
}

fn refusal(why: WhyNot, finding: &str, intervention: &str, sentence: String) -> NotTried {
    NotTried { why, finding: finding.to_string(), intervention: intervention.to_string(), sentence }
}

#[cfg(test)]
mod tests;
