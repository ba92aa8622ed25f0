//! The requests that take many times as long as most, for another reason than those.

use super::{Answer, Finding, Status, WaitNode, WaitTree};
use crate::facts::RequestKind;
use crate::facts::{Activity, End, Ender, Object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The slow few of a run's requests, and what their time went into.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tail {
    /// How many they are.
    pub count: u64,
    /// The shortest of them, in nanoseconds.
    pub least_ns: u64,
    /// The median length of all requests, in nanoseconds.
    pub usual_ns: u64,
    /// Their part of the time of all requests, 0 to 1.
    pub share: f64,
    /// What nearly all of them ask for and few of the others do; null where that is not what they have in common.
    pub kind: Option<RequestKind>,
    /// The few connections that all of them are on; null where they are on many.
    pub connections: Option<FewConnections>,
    /// When the first of them began, in nanoseconds after recording began, where there should have been several before had
    /// they come all along; null otherwise.
    pub since_ns: Option<u64>,
    /// Whether what was found is about them.
    pub explained: bool,
    /// Who waits for whom in them; its lengths are those of the mean one.
    pub waits: WaitTree,
}

/// Few connections among many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FewConnections {
    /// How many they are.
    pub count: u64,
    /// Of so many that requests were made on.
    pub of: u64,
    /// The other end of the one, `address:port`; null where they are several or it has no name.
    pub remote: Option<String>,
}

impl Tail {
    /// What most of their time goes into in the end, where that has a name.
    pub fn cause(&self) -> Option<&WaitNode> {
        self.waits.main_end()
    }
}

impl WaitTree {
    /// The last node of the main branch that holds most of the whole, where it says more than that somebody waits: neither
    /// for a CPU nor for what nobody saw, unless it is a server that waits for somebody with a name.
    pub fn main_end(&self) -> Option<&WaitNode> {
        let branch = self.main_branch();
        let last = branch.into_iter().rfind(|node| node.ns * 2 >= self.of_ns)?;
        let is_known = !matches!(last.activity, Activity::RunDelay | Activity::BlockedElsewhere | Activity::Other)
            && (last.is_for_somebody() || !matches!(last.mostly_ended_by(), Some(Ender::Network | Ender::Unknown)));
        is_known.then_some(last)
    }
}

impl WaitNode {
    /// Whether a server waits for somebody it has asked, of whom nothing but the address is known.
    fn is_for_somebody(&self) -> bool {
        let asked =
            matches!(self.activity, Activity::Blocked { object: Some(Object::Connection { remote: Some(_) }), .. });
        asked && self.end == Some(End::Server)
    }
}

impl Answer {
    /// The slow few, where nothing that was found and stands is about them.
    pub fn leading_tail(&self) -> Option<&Tail> {
        let tail = self.tail.as_ref().filter(|tail| !tail.explained)?;
        let is_about = |finding: &&Finding| {
            let is_there = |node: &&WaitNode| finding.place.first().is_some_and(|place| node.place.contains(place));
            finding.cost.few.is_some() || tail.waits.main_branch().iter().any(is_there)
        };
        let mut standing = self.findings.iter().filter(|finding| finding.status != Status::Refuted);
        (!standing.any(|finding| is_about(&finding))).then_some(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cost, Few, Place};

    fn sleeping(ns: u64, line: u32) -> WaitNode {
        let place = vec![Place { file: "a.py".into(), line, ..Place::default() }];
        WaitNode { ns, place, activity: Activity::OnCpu, ..WaitNode::default() }
    }

    fn answer(findings: Vec<Finding>) -> Answer {
        let waits = WaitTree { of_ns: 100, branches: vec![sleeping(90, 7)], ..WaitTree::default() };
        Answer { tail: Some(Tail { waits, ..Tail::default() }), findings, ..Answer::default() }
    }

    #[test]
    fn it_leads_unless_a_finding_that_stands_is_about_it() {
        let at = |line| Finding { place: sleeping(1, line).place, ..Finding::default() };
        assert!(answer(Vec::new()).leading_tail().is_some());
        assert!(answer(vec![at(3)]).leading_tail().is_some());
        assert!(answer(vec![at(7)]).leading_tail().is_none());
        assert!(answer(vec![Finding { status: Status::Refuted, ..at(7) }]).leading_tail().is_some());
        let few = Cost { few: Some(Few::default()), ..Cost::default() };
        assert!(answer(vec![Finding { cost: few, ..Finding::default() }]).leading_tail().is_none());
    }

    #[test]
    fn waiting_for_a_cpu_is_no_end_worth_naming() {
        let tree = |activity| WaitTree {
            of_ns: 100,
            branches: vec![WaitNode { activity, ..sleeping(90, 7) }],
            ..WaitTree::default()
        };
        assert!(tree(Activity::OnCpu).main_end().is_some());
        assert!(tree(Activity::RunDelay).main_end().is_none());
    }
}
