//! What one intervention is tried for in one finding, and the arm that it runs in.

use super::{Arm, Arms, Setting};
use crate::asked::Asked;
use crate::experiment::{Attempt, Joint, SHAM};
use crate::interventions::{ALL, Intervention, NotHere, Request, find};
use crate::metric::Metric;
use crate::treatment::Treatment;
use case::{Answer, Finding, Purpose};

/// Pathologies whose cure changes how many requests there seem to be, so that whole runs are compared: an update of a window looks like
/// a request, and what is not given up is not asked again.
const CHANGES_REQUESTS: [&str; 2] = ["P21", "P45"];
/// The same where the cost lies between requests: who sleeps for less before it asks again asks more often.
const ASKS_MORE_OFTEN: &str = "P06";

impl Arms {
    /// Adds what one intervention is tried for in one finding, in each of its doses.
    pub(super) fn call_for(
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
    pub(super) fn attempt(
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
        let metric = setting.metric.cloned().or_else(|| intervention.judged_by.clone());
        let exchanges = if changes_requests(finding) { 0 } else { setting.answer.exchanges };
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

fn changes_requests(finding: &Finding) -> bool {
    let id = finding.id.as_str();
    CHANGES_REQUESTS.contains(&id) || (id == ASKS_MORE_OFTEN && finding.cost.is_between_requests())
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
