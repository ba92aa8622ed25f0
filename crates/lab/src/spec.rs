//! A trial as a file: everything that one run of a subject needs, so that any batch engine can spread trials over
//! hosts.

use crate::arms::Arm;
use crate::asked::Asked;
use crate::error::LabError;
use crate::experiment::sham_of;
use crate::extent::Extent;
use crate::interventions::Request;
use crate::metric::Metric;
use crate::treatment::Treatment;
use crate::world::World;
use case::{Finding, Recording, redact_arguments};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::time::Duration;

/// What a trial gets where its file sets no limit.
const USUAL_LIMIT: Duration = Duration::from_mins(10);

/// A trial as it is written down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    /// The client's command; `{server}` and `{client}` stand for the two addresses.
    pub command: Vec<String>,
    /// The server's command; empty for none of ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<String>,
    /// Interventions, each with its dose or what is named for it: `tcp-nodelay`, `delayed-ack-cap=8`, `switch-off=work`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interventions: Vec<String>,
    /// A case whose recording and findings the interventions may look at; some need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<std::path::PathBuf>,
    /// Exchanges that are made before measuring begins.
    #[serde(default)]
    pub warm_up: u64,
    /// Exchanges, after the warm-up, after which the trial is cut; without it, there is no limit to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<u64>,
    /// Seconds, after the warm-up, before which the trial is not cut by its exchanges.
    #[serde(default)]
    pub least_seconds: f64,
    /// Seconds, after the warm-up, after which the trial is cut; without it, the client runs to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// A figure in the client's standard output: `stdout:REGEX`.
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// Where it runs.
    #[serde(default)]
    pub world: World,
}

/// A metric that this version knows: what cannot be measured is refused before anything runs.
fn known<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Metric>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
}

impl TrialSpec {
    /// The trial of an arm of an experiment, as it was run.
    pub fn of_arm(arm: &str, extent: &Extent) -> TrialSpec {
        let names = arm.split('+').filter(|name| *name != crate::experiment::PLAIN);
        // Of two arms of one name the second carries a mark.
        let interventions = names.map(|name| Asked::unescaped(name.trim_end_matches('\''))).collect();
        TrialSpec {
            interventions,
            warm_up: extent.warm_up,
            exchanges: extent.exchanges,
            least_seconds: extent.least.as_secs_f64(),
            seconds: extent.window.map(|window| window.as_secs_f64()),
            ..TrialSpec::default()
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// Where it is no TOML, or says what a trial does not know.
    pub fn read(text: &str) -> Result<TrialSpec, LabError> {
        let spec: TrialSpec = toml::from_str(text).map_err(|error| LabError::World(one_line(&error.to_string())))?;
        if spec.command.is_empty() {
            return Err(LabError::World("`command` is empty: name what a trial runs".to_string()));
        }
        let is_length = |seconds: f64| seconds >= 0.0 && seconds <= USUAL_LIMIT.as_secs_f64();
        if !spec.seconds.is_none_or(is_length) || !is_length(spec.least_seconds) {
            let most = USUAL_LIMIT.as_secs();
            return Err(LabError::World(format!("`seconds` and `least_seconds` must be from 0 to {most}")));
        }
        Ok(spec)
    }

    /// Without what could be secrets: as a case keeps it. A trial that needs them has to be given them again.
    #[must_use]
    pub fn redacted(mut self) -> TrialSpec {
        self.command = redact_arguments(&self.command);
        self.server = redact_arguments(&self.server);
        for (name, value) in &mut self.world.environment {
            let Some(text) = value else { continue };
            let shown = redact_arguments(&[format!("{name}={text}")]).concat();
            *text = shown.strip_prefix(&format!("{name}=")).unwrap_or("*").to_string();
        }
        self
    }

    /// As it is written down.
    pub fn write(&self) -> String {
        // A trial is made of words and numbers, which TOML always takes.
        toml::to_string(self).unwrap_or_default()
    }

    /// How far it goes.
    pub fn extent(&self) -> Extent {
        Extent {
            warm_up: self.warm_up,
            exchanges: self.exchanges,
            least: Duration::from_secs_f64(self.least_seconds),
            window: self.seconds.map(Duration::from_secs_f64),
            longest: USUAL_LIMIT,
        }
    }

    /// The arm that it is a trial of.
    ///
    /// # Errors
    /// Where an intervention is not known, or cannot be tried here.
    pub fn arm(&self, recording: Option<&Recording>, findings: &[Finding]) -> Result<Arm, LabError> {
        let names = self.interventions.iter().map(|text| Asked::escaped(text)).collect::<Vec<_>>();
        let mut arm = Arm { name: names.join("+"), treatment: Treatment::default(), parts: Vec::new() };
        if arm.name.is_empty() {
            arm.name = crate::experiment::PLAIN.to_string();
        }
        for text in &self.interventions {
            let inert = sham_of(text);
            let asked = inert.unwrap_or(text).parse::<Asked>()?;
            let intervention = asked.intervention;
            let is_tried_for = |finding: &&Finding| intervention.prediction(&finding.id).is_some();
            let finding = findings.iter().find(is_tried_for);
            let has_server = !self.server.is_empty();
            let (dose, about) = (asked.dose, asked.about.as_deref());
            let request = Request { recording, finding, world: &self.world, has_server, dose, about };
            let mut own = Treatment::default();
            (intervention.treat)(&request, &mut own)
                .map_err(|why| LabError::World(format!("{} {}", intervention.name, why.0)))?;
            if inert.is_some() {
                arm.treatment.join(own.inert());
            } else {
                arm.treatment.join(own);
                arm.parts.push(intervention);
            }
        }
        Ok(arm)
    }
}

/// An error of several lines as one.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_read_from_its_file_and_written_back() {
        let text =
            "command = ['curl', '{server}']\ninterventions = ['delayed-ack-cap=8']\nwarm_up = 3\nseconds = 0.5\n";
        let spec = TrialSpec::read(text).expect("a trial");
        assert_eq!((spec.extent().warm_up, spec.extent().window), (3, Some(Duration::from_millis(500))));
        assert_eq!(TrialSpec::read(&spec.write()).expect("the same"), spec);
    }

    #[test]
    fn the_sham_of_an_arm_is_its_machinery_inert() {
        let spec = TrialSpec::of_arm("nothing:tcp-nodelay", &Extent::whole(Duration::from_secs(1)));
        let arm = TrialSpec { command: vec!["true".into()], ..spec }.arm(None, &[]).expect("an arm");
        assert_eq!((arm.name.as_str(), arm.parts.len()), ("nothing:tcp-nodelay", 0));
        assert_eq!(arm.treatment.sockets, Some(crate::treatment::SocketOptions::default()));
    }

    #[test]
    fn secrets_in_commands_and_in_the_environment_are_not_kept() {
        let text = "command = ['curl', '--token=abc', 'http://me:pw@host/']\n[world]\nenv = { API_TOKEN = 'abc', LANG = 'C' }\n";
        let kept = TrialSpec::read(text).expect("a trial").redacted();
        assert_eq!(kept.command, ["curl", "--token=*", "http://*@host/"]);
        let variable = |name: &str| kept.world.environment[name].clone().unwrap_or_default();
        assert_eq!((variable("API_TOKEN"), variable("LANG")), ("*".to_string(), "C".to_string()));
    }

    #[test]
    fn what_a_trial_does_not_know_is_refused_by_name() {
        let refused = |text: &str| TrialSpec::read(text).expect_err("refused").to_string();
        assert!(refused("command = ['true']\nspeed = 3").contains("speed"));
        assert!(refused("command = ['true']\nmetric = 'speed'").contains("`speed` is not a metric"));
        assert!(refused("command = []").contains("command"));
        assert!(refused("command = ['true']\nseconds = -1.0").contains("seconds"));
        let spec = TrialSpec { command: vec!["true".into()], ..TrialSpec::default() };
        let arm =
            |name: &str| TrialSpec { interventions: vec![name.into()], ..spec.clone() }.arm(None, &[]).map(|_| ());
        assert!(arm("warp").is_err_and(|why| why.to_string().contains("`warp` is not an intervention")));
        assert!(arm("tcp-nodelay=8").is_err_and(|why| why.to_string().contains("no dose")));
        assert!(arm("delayed-ack-cap=soon").is_err_and(|why| why.to_string().contains("number of ms")));
    }
}
