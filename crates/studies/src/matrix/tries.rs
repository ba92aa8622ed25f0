//! What is tried on each version besides: the arms of the experiment, those with nothing attached included.

use super::candidate::Candidate;
use case::TriedOn;
use lab::matrix::{Factorial, Measured, tried};
use lab::{Arm, Metric, Treatment, TrialSpec};
use std::collections::{BTreeMap, BTreeSet};

/// All arms, in the order of the design.
pub struct Field<'a> {
    /// Which is which.
    pub design: Factorial,
    /// The arms.
    pub arms: Vec<Arm>,
    /// Why those that cannot be run cannot, by their place.
    refused: BTreeMap<usize, String>,
    tries: &'a [String],
}

impl Field<'_> {
    /// The arms of all versions that run. What is tried on a version is attached to it where it is plain, too, and does
    /// nothing there: only what it does is to differ.
    pub fn of<'a>(ready: &[&Candidate], tries: &'a [String]) -> Field<'a> {
        let design = Factorial { versions: ready.len(), tries: tries.len() };
        let (mut arms, mut refused) = (vec![Arm::plain(); design.arms()], BTreeMap::new());
        for (version, candidate) in ready.iter().enumerate() {
            let name = &candidate.version.version;
            let own = tries.iter().map(|asked| arm(candidate, asked)).collect::<Vec<_>>();
            let mut all = Treatment::default();
            own.iter().flatten().for_each(|arm| all.join(arm.treatment.clone()));
            arms[design.plain(version)] = Arm { name: name.clone(), treatment: all.inert(), ..Arm::plain() };
            for (attempt, own) in own.into_iter().enumerate() {
                let place = design.with(version, attempt);
                match own {
                    Ok(mut arm) => {
                        arm.treatment.carry(&all);
                        arms[place] = Arm { name: format!("{name}+{}", arm.name), ..arm };
                    }
                    Err(why) => drop(refused.insert(place, why)),
                }
            }
        }
        Field { design, arms, refused, tries }
    }

    /// The places of those that cannot be run.
    pub fn absent(&self) -> BTreeSet<usize> {
        self.refused.keys().copied().collect()
    }

    /// What the trials say of all that was tried on a version.
    pub fn tried(&self, measured: &Measured, metrics: &[Metric], version: usize) -> Vec<TriedOn> {
        let one = |(attempt, asked): (usize, &String)| match self.refused.get(&self.design.with(version, attempt)) {
            Some(why) => TriedOn { intervention: asked.clone(), problem: why.clone(), ..TriedOn::default() },
            None => tried(measured, metrics, self.design, (version, attempt), asked),
        };
        self.tries.iter().enumerate().map(one).collect()
    }
}

/// A version with an intervention, or why it cannot be tried.
fn arm(candidate: &Candidate, asked: &str) -> Result<Arm, String> {
    let spec = TrialSpec {
        server: candidate.subject.server.clone().unwrap_or_default(),
        world: candidate.world.clone(),
        interventions: vec![asked.to_string()],
        ..TrialSpec::default()
    };
    let seen = candidate.recorded.first();
    let findings = seen.map(|quiet| quiet.answer.findings.as_slice()).unwrap_or_default();
    spec.arm(seen.map(|quiet| &quiet.recording), findings).map_err(|error| error.to_string())
}
