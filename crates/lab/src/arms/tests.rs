use super::*;
use crate::treatment::SocketOptions;
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
        nodelay.treatment.sockets.as_ref().is_some_and(|sockets| !sockets.nodelay)
            && nodelay.treatment.preloads.is_empty()
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
    assert_eq!(arm("no-fsync").sockets, Some(SocketOptions::default()));
    // The same shim with another parameter.
    let polling = of_connected(&["P06"]);
    assert_eq!(controls(&polling, "P06"), [("sleep-in-halves", SHAM)]);
}

#[test]
fn where_no_cause_can_be_switched_off_no_control_is_run() {
    let mut arms = of_connected(&["P07", "P39"]);
    assert_eq!(controls(&arms, "P07"), [("no-time-wait", "nothing:no-time-wait")]);
    // As where the connections are TLS, so that nothing from outside can keep them.
    arms.experiment.attempts.retain(|attempt| attempt.arm != "kept-connections");
    arms.drop_idle_controls();
    assert_eq!((controls(&arms, "P07"), controls(&arms, "P39").len()), (vec![], 1));
    assert!(arms.alone.iter().all(|arm| arm.name != "no-time-wait"), "{:?}", arms.experiment.attempts);
}

#[test]
fn what_another_finding_gains_by_is_no_control_unless_it_tells_the_two_apart() {
    assert_eq!(controls(&of_connected(&["P42"]), "P42").len(), 1);
    assert_eq!(controls(&of_connected(&["P01", "P42"]), "P42"), []);
    // Joining writes cures both: whether holding none back does tells which it is.
    assert_eq!(controls(&of_connected(&["P01", "P03"]), "P03").len(), 1);
}
