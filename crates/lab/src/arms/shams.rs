//! What arms are compared with: the same machinery, inert; and what they stand on.

use super::{Arm, Arms, Base, Upon};
use crate::asked::Asked;
use crate::experiment::{Attempt, Joint, PLAIN, SHAM, own_sham};
use crate::metric::Metric;
use crate::treatment::{SocketOptions, Treatment};
use case::Purpose;

impl Arms {
    /// Where only controls set sockets, all arms have the machinery for it: attached to the kernel it costs a program nothing
    /// while nothing is set, and one sham serves them all. A control carries what the cures need, which it does not use.
    pub(super) fn carry_for_controls(&mut self, all: &Treatment) {
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
            arm.treatment.sockets = Some(SocketOptions::default());
        }
    }

    /// Gives each arm what it is compared with: its own machinery, inert. That of all is the sham; arms with the same machinery
    /// share theirs; where there is nothing to be inert, it is the program with nothing attached.
    pub(super) fn own_shams(&mut self, all: &Treatment) -> Vec<Arm> {
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
    pub(super) fn stand(&mut self, upon: Upon, all: &Treatment) {
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
}
