//! Switching a suspected cause off and on again in a program that runs: the proof of `whyslow attach`. Nothing is restarted.
//!
//! Windows with the intervention and without it take turns (off, on, off, on, ... off), at least four with it, each
//! compared with the mean of its two neighbours; the same looks as in trials decide when that is enough. In the windows
//! without it the same machinery works and changes nothing: it is the sham.
//!
//! Promises: whatever happens, all is set back to what it was; what would outlive a kill stands in the journal first; what
//! the program set itself is neither touched nor set back.

mod judgement;
mod nodelay;
mod quota;
mod target;
mod windows;

pub use judgement::Live;
pub(crate) use nodelay::undo as undo_sockets;
pub(crate) use quota::undo as undo_quota;

use crate::error::LabError;
use crate::interventions;
use crate::journal::Journal;
use case::tables::TcpEvent;
use case::{Finding, Purpose, Row, Thing};
use judgement::Gauge;
pub(crate) use quota::SetQuota;
use record::{ConnectionOrigin, Meter, Role};
use std::time::Duration;
use target::Target;
use windows::Windows;

/// How a cause is tried in a running program.
pub struct LiveTerms<'a> {
    /// How long each window is.
    pub window: Duration,
    /// Time for all windows.
    pub budget: Duration,
    /// What the program is.
    pub role: Role,
    /// Whose exchanges are to count; none for those that a server accepted, or else the best that there are.
    pub origin: Option<ConnectionOrigin>,
    /// Shown what is being done.
    pub say: &'a dyn Fn(&str),
}

impl LiveTerms<'_> {
    /// A second holds enough exchanges to compare, twenty even where each of them is stalled for 40 ms.
    pub const WINDOW: Duration = Duration::from_secs(1);
}

/// Whether an intervention is at work, or only its machinery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    On,
    Off,
}

/// Why something cannot be switched in this program: a clause (`no group limits its CPU time`).
#[derive(Clone, Debug, PartialEq, Eq)]
struct LiveNot(String);

/// What can be switched in a program that runs. Dropped, it is off.
trait Switch {
    /// Turns it on or off. Off, it exercises the same machinery and changes nothing.
    fn turn(&mut self, state: State) -> Result<(), LabError>;
    /// Looks for what has come since: called a few times a second, on and off.
    fn refresh(&mut self) -> Result<(), LabError>;
    /// On how many objects it is on.
    fn reached(&self) -> u64;
    /// Why it has reached nothing; asked where it has not.
    fn why_none(&self) -> String;
}

/// An intervention that can be switched in a program that runs.
struct LiveIntervention {
    /// Its name among [`interventions::ALL`].
    name: &'static str,
    /// What it is switched on.
    thing: Thing,
    open: Open,
}

/// Readies an intervention for a process, off; or says why it cannot be switched there.
type Open = fn(&Target, &Journal) -> Result<Box<dyn Switch>, LiveNot>;

/// All of them.
const ALL: &[LiveIntervention] = &[
    LiveIntervention { name: "tcp-nodelay", thing: Thing::Socket, open: nodelay::open },
    LiveIntervention { name: "cpu-quota", thing: Thing::Group, open: quota::open },
];

/// The intervention that [`switch`] tries for a finding; none where none reaches a running program.
pub fn reaches(finding: &Finding) -> Option<&'static str> {
    live_for(finding).map(|one| one.name)
}

/// What would prove a finding and cannot be switched in a running program: a sentence, or none. Not to be asked where
/// what can be switched has proved it already.
pub fn not_reached(finding: &Finding) -> Vec<String> {
    if !is_at_home(finding) {
        let whose = "the sockets that hold data back belong to the other program; attach to that one";
        return vec![format!("{} was not switched off: {whose}", finding.name)];
    }
    let rest = causes(finding).filter(|name| ALL.iter().all(|one| one.name != *name)).collect::<Vec<_>>();
    let (names, have) = match rest.as_slice() {
        [] => return Vec::new(),
        [one] => ((*one).to_string(), "was not tried: it has"),
        [others @ .., last] => (format!("{} and {last}", others.join(", ")), "were not tried: they have"),
    };
    vec![format!("{names} {have} to be in place before the program starts; `whyslow run -- CMD` tries that")]
}

/// Tries the intervention that reaches a finding, on a process that runs and all its descendants. What the user ends early
/// is no error, and neither is what does not take effect: the outcome says so.
///
/// # Errors
/// Where nothing reaches the finding, or the kernel does not let us measure.
pub fn switch(
    finding: &Finding,
    pid: u32,
    terms: &LiveTerms,
    journal: &Journal,
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Live, LabError> {
    let Some(intervention) = live_for(finding) else {
        let nothing = format!("nothing that can be switched in a running program removes {}", finding.name);
        return Err(LabError::World(nothing));
    };
    let name = intervention.name;
    let opened = Target::of(pid).and_then(|target| Ok(((intervention.open)(&target, journal)?, target)));
    let (switch, target) = match opened {
        Ok(opened) => opened,
        Err(LiveNot(why)) => return Ok(judgement::not_tried(finding, name, why)),
    };
    let mut meter = Meter::load()?;
    meter.attach(pid, terms.role)?;
    (terms.say)(&format!("proving: {name} is switched on and off in the running process {pid}, which goes on"));
    let gauge = Gauge::of(finding, name, terms.role);
    let measured = Windows::new(&gauge, target, switch, &mut meter, terms, wait).run();
    Ok(judgement::judge(finding, name, &gauge, measured))
}

/// What an intervention is switched on.
fn thing(intervention: &str) -> Thing {
    ALL.iter().find(|one| one.name == intervention).map(|one| one.thing).unwrap_or_default()
}

fn live_for(finding: &Finding) -> Option<&'static LiveIntervention> {
    causes(finding).filter(|_| is_at_home(finding)).find_map(|name| ALL.iter().find(|one| one.name == name))
}

/// Whether the cause is in the program itself. Where only the end that reads is watched, a stall rests on the events of its
/// TCP, and the sockets that hold bytes back are the other end's: nothing that is switched here would tell.
fn is_at_home(finding: &Finding) -> bool {
    finding.evidence.table != TcpEvent::TABLE
}

/// The interventions that are tried as the cause of a finding.
fn causes(finding: &Finding) -> impl Iterator<Item = &'static str> {
    let is_cause = |one: &&interventions::Intervention| {
        one.prediction(&finding.id).is_some_and(|prediction| prediction.purpose == Purpose::Cause)
    };
    interventions::ALL.iter().filter(is_cause).map(|one| one.name).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_live_intervention_is_one_that_trials_know() {
        assert!(ALL.iter().all(|one| interventions::find(one.name).is_some()));
    }

    #[test]
    fn a_stall_of_the_other_program_is_not_tried_here() {
        let mut finding = judgement::tests::finding("P01");
        finding.evidence.table = TcpEvent::TABLE.to_string();
        assert_eq!(reaches(&finding), None);
        assert!(not_reached(&finding)[0].contains("attach to that one"));
    }

    #[test]
    fn a_finding_is_reached_live_or_it_is_said_why_not() {
        let finding = |id: &str| judgement::tests::finding(id);
        assert_eq!(reaches(&finding("P01")), Some("tcp-nodelay"));
        assert_eq!(reaches(&finding("P29")), Some("cpu-quota"));
        let loaded = interventions::ALL.iter().flat_map(|one| one.predictions).map(|one| finding(one.pathology));
        let unreached = loaded.filter(|one| reaches(one).is_none() && causes(one).next().is_some());
        let sentences_of_each = unreached.map(|one| not_reached(&one)).collect::<Vec<_>>();
        assert!(
            !sentences_of_each.is_empty()
                && sentences_of_each.iter().flatten().all(|why| why.ends_with("`whyslow run -- CMD` tries that"))
        );
        assert!(sentences_of_each.iter().all(|sentences| !sentences.is_empty()));
    }
}
