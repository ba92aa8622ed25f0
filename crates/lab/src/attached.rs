//! What is attached to a subject while it runs, and what it tells afterwards.

use crate::arrangement::{End, Sockets};
use crate::groups::Groups;
use crate::laid::Laid;
use crate::sessions::Sessions;
use crate::traces::Traces;
use std::path::Path;

/// All machinery around one subject. When it is dropped, what still runs of a trial is ended (SIGTERM, 2 s, SIGKILL), also
/// what has turned itself into a daemon; a watched client is left alone; then groups and files are removed and ticked off
/// in the journal. The end of a trial's processes is collected then: who wants to know it asks before.
pub struct Attached {
    /// What the host refused.
    pub(crate) notes: Vec<String>,
    /// Ends whose route acknowledges at once.
    pub(crate) routes: Vec<End>,
    // In the order in which they are to go.
    pub(crate) groups: Option<Groups>,
    pub(crate) sessions: Option<Sessions>,
    laid: Option<Laid>,
}

impl Attached {
    pub(crate) fn new(laid: Option<Laid>) -> Attached {
        Attached { notes: Vec::new(), routes: Vec::new(), groups: None, sessions: None, laid }
    }

    /// What the interventions have left behind so far.
    pub fn traces(&self) -> Traces {
        Traces {
            shims: self.laid.as_ref().map(Laid::counts).unwrap_or_default(),
            sockets: None,
            routes: self.routes.clone(),
            replaced: self.laid.as_ref().map_or(0, Laid::opened),
            outside_quota: self.groups.as_ref().is_some_and(|groups| groups.outside_quota),
        }
    }

    /// What could not be attached, and why: sentences for the user.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The processes of the subject that run, as far as groups tell.
    pub fn members(&self) -> Vec<u32> {
        self.groups.as_ref().map(Groups::members).unwrap_or_default()
    }

    /// The control group (version 2) that holds both ends.
    pub fn group(&self) -> Option<&Path> {
        self.groups.as_ref().and_then(Groups::unified)
    }

    /// Attaches the program that sets sockets, where there is one to attach.
    pub(crate) fn watch_sockets(&mut self, sockets: Option<Sockets>) {
        if sockets.is_some() {
            self.notes.push("the program on sockets is not attached by this version".to_string());
        }
    }
}
