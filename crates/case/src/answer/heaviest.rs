//! What the user waits for most, and whether that or a finding is what an answer begins with.

use super::{Answer, Effect, Finding, NetworkPath, Place, PlaceShare, Queue, Status};
use crate::facts::{Account, AccountGroup, KernelWork, Metric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Half of the time or more is most of it.
const MOST: f64 = 0.5;

/// A finding that explains less than this part of what most of the time goes into is not what hurts: with its cause gone
/// the user would wait about as long.
const PART: f64 = 0.25;

/// Where so much of the time is one wait, the wait is said first, recognised or not.
const NEARLY_ALL: f64 = 0.9;

/// What findings leave unexplained is said where it is so much of the time: less would not be missed.
const FAIR: f64 = 0.25;

/// Shares that are to make up the whole may exceed it by so much, since some are measured again and others are not.
const SLACK: f64 = 0.02;

/// The accounts that hold most of the time the user waits for: of the exchanges' wall time, or of the run's where there
/// were no exchanges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Heaviest {
    /// Which accounts.
    pub group: AccountGroup,
    /// Their time in the mean exchange, or in the run, in nanoseconds.
    pub ns: u64,
    /// The length of the mean exchange, or of the run, in nanoseconds.
    pub of_ns: u64,
    /// The largest of these accounts.
    pub account: Account,
    /// The largest account's time as a share of the group's, 0 to 1.
    pub share_of_group: f64,
    /// Where in the code: the most specific place first.
    pub place: Vec<Place>,
    /// How much of it is at that place; null if no place is known.
    pub place_share: Option<PlaceShare>,
    /// The peer with which most of it was spent; null if it is not about a peer.
    pub peer: Option<String>,
    /// The way to that peer, where it is the network between both ends; null else, or if the file is too old to say.
    #[serde(default)]
    pub path: Option<NetworkPath>,
    /// What the kernel does for a fair part of it, where it is the kernel's; null else, or if the file is too old to say.
    #[serde(default)]
    pub kernel: Option<KernelPart>,
}

/// A part of the kernel's time on CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelPart {
    /// What the kernel does.
    pub work: KernelWork,
    /// Its share of the kernel's time, 0 to 1.
    pub share: f64,
}

impl Heaviest {
    /// `ns` as a share of `of_ns`, 0 to 1.
    pub fn share(&self) -> f64 {
        if self.of_ns == 0 { 0.0 } else { (self.ns as f64 / self.of_ns as f64).clamp(0.0, 1.0) }
    }
}

impl Answer {
    /// What most of the time went into, where no finding that stands explains a fair part of it: then the answer begins
    /// with that, and the findings follow.
    pub fn leading_account(&self) -> Option<&Heaviest> {
        let heaviest = self.heaviest.as_ref().filter(|heaviest| heaviest.share() >= MOST)?;
        (self.explained() < PART * heaviest.share()).then_some(heaviest)
    }

    /// What takes a fair part of the time besides what the findings that stand explain: with their causes gone, the user waits
    /// for that. Only what is at one place in the code.
    pub fn next_account(&self) -> Option<&Heaviest> {
        let (heaviest, next) = (self.heaviest.as_ref()?, self.next_heaviest.as_ref()?);
        let standing = || self.findings.iter().filter(|finding| finding.status != Status::Refuted);
        let explained = standing().map(Finding::share_waited_for).sum::<f64>();
        let is_named = standing().any(|finding| finding.place.first() == next.place.first());
        let is_rest = self.explained() >= MOST * heaviest.share() && explained + next.share() <= 1.0 + SLACK;
        let is_at_one_place = next.place_share.is_some_and(|one| one.share >= NEARLY_ALL);
        let is_said = is_rest && next.share() >= FAIR && is_at_one_place && !is_named;
        (is_said && next.group.end().is_some()).then_some(next)
    }

    /// The line that requests wait in most of their time, where no finding that stands explains a fair part of it.
    pub fn leading_line(&self) -> Option<&Queue> {
        let queue = self.queue.as_ref().filter(|queue| queue.is_most())?;
        (self.explained() < PART * queue.share()).then_some(queue)
    }

    /// Whether one wait, or a line that requests wait in, takes most of the time the user waits for, and no finding that
    /// stands explains it: then the answer names it, recognised or not.
    pub fn names_a_wait(&self) -> bool {
        self.leading_line().is_some() || self.leading_account().is_some_and(|one| one.group.is_wait())
    }

    /// The largest share of the time the user waits for that a finding explains which stands.
    fn explained(&self) -> f64 {
        let standing = self.findings.iter().filter(|finding| finding.status != Status::Refuted);
        standing.map(Finding::share_waited_for).fold(0.0, f64::max)
    }

    /// The wait that nearly all of the time goes into, where nothing that was found explains it.
    pub fn one_wait(&self) -> Option<&Heaviest> {
        self.leading_account().filter(|one| one.share() >= NEARLY_ALL && one.group.is_wait())
    }
}

impl Finding {
    /// The share of the time the user waits for that the finding explains, 0 to 1: the measured one where it was
    /// measured, else the most that the ledger allows.
    pub fn share_waited_for(&self) -> f64 {
        match &self.effect {
            Some(effect) if self.status == Status::Confirmed && effect.is_waited_for() => effect.share(),
            _ => self.cost.share_of_wall,
        }
    }
}

impl Effect {
    /// The share of the metric that went away: 1 - 1 / ratio, and 0 where nothing was gained.
    pub fn share(&self) -> f64 {
        if self.ratio > 1.0 { 1.0 - 1.0 / self.ratio } else { 0.0 }
    }

    /// Whether its metric is one that somebody waits for: every one but CPU time.
    fn is_waited_for(&self) -> bool {
        !matches!(self.metric, Metric::Cpu | Metric::CpuPerExchange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cost;

    fn answer(share_of_wall: f64) -> Answer {
        let heaviest = Heaviest { ns: 90, of_ns: 100, ..Heaviest::default() };
        let cost = Cost { share_of_wall, share_of_cpu: 0.9, ..Cost::default() };
        let finding = Finding { cost, ..Finding::default() };
        Answer { heaviest: Some(heaviest), findings: vec![finding], ..Answer::default() }
    }

    #[test]
    fn a_finding_of_three_percent_does_not_head_an_answer_that_ninety_percent_is_something_else() {
        assert!(answer(0.03).leading_account().is_some());
        assert!(answer(0.5).leading_account().is_none());
    }

    #[test]
    fn what_was_measured_counts_and_not_what_the_ledger_allowed() {
        let mut answer = answer(0.9);
        let effect = Effect { metric: Metric::WallPerExchange, ratio: 1.03, ..Effect::default() };
        (answer.findings[0].status, answer.findings[0].effect) = (Status::Confirmed, Some(effect));
        assert!(answer.leading_account().is_some());
        // CPU time that went away says nothing about the wait: the ledger's bound stands.
        answer.findings[0].effect = Some(Effect { metric: Metric::CpuPerExchange, ratio: 1.03, ..Effect::default() });
        assert!(answer.leading_account().is_none());
    }

    #[test]
    fn a_wait_that_takes_most_of_the_time_is_named_and_work_is_not() {
        let of = |group: AccountGroup, share: f64| {
            let mut answer = answer(share);
            answer.heaviest.as_mut().expect("there is one").group = group;
            answer.names_a_wait()
        };
        assert!(of(AccountGroup::ServerBlocked, 0.0));
        assert!(!of(AccountGroup::ServerBlocked, 0.9));
        assert!(!of(AccountGroup::ServerCpu, 0.0));
    }

    #[test]
    fn where_nothing_holds_most_of_the_time_the_finding_leads() {
        let mut answer = answer(0.03);
        answer.heaviest = Some(Heaviest { ns: 40, of_ns: 100, ..Heaviest::default() });
        assert!(answer.leading_account().is_none());
    }

    #[test]
    fn a_refuted_suspicion_explains_nothing() {
        let mut answer = answer(0.9);
        answer.findings[0].status = Status::Refuted;
        assert!(answer.leading_account().is_some());
    }
}
