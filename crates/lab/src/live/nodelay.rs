//! `tcp-nodelay` in a running program: the option set, by pidfd_getfd, on all TCP connections that have it off.
//!
//! A connection is left alone until it has been seen twice: a program that sets the option itself does so as soon as the
//! connection is there, and what it sets is its own. Listeners are left alone.

use super::target::{self, Target};
use super::{LiveNot, State, Switch};
use crate::ending;
use crate::error::LabError;
use crate::journal::{Entry, Journal, Undo, UndoResult};
use record::{LiveSocket, Nodelay, RecordError, sockets_of};
use std::collections::{BTreeMap, HashMap, HashSet};

pub fn open(target: &Target, journal: &Journal) -> Result<Box<dyn Switch>, LiveNot> {
    let mut sockets = Sockets {
        target: *target,
        journal: journal.clone(),
        state: State::Off,
        off: HashSet::new(),
        own: HashSet::new(),
        set: HashMap::new(),
        held: 0,
        entries: Vec::new(),
    };
    // The first sighting of those that are there already.
    sockets.refresh().map_err(|error| LiveNot(error.to_string()))?;
    Ok(Box::new(sockets))
}

/// The connections of a process and its descendants, by inode: several processes can have the same one.
struct Sockets {
    target: Target,
    journal: Journal,
    state: State,
    /// Seen with the option off.
    off: HashSet<u64>,
    /// Seen with the option on, which was not our doing.
    own: HashSet<u64>,
    /// Set by us.
    set: HashMap<u64, LiveSocket>,
    /// How many of these were open when they were listed last.
    held: u64,
    /// What the journal says of these.
    entries: Vec<Entry>,
}

impl Sockets {
    fn connections(&self) -> BTreeMap<u64, LiveSocket> {
        let all = sockets_of(&self.target.processes()).into_iter();
        all.filter(|socket| !socket.is_listener).map(|socket| (socket.inode, socket)).collect()
    }

    /// Sets the option where it is off, after the journal has it.
    fn set(&mut self, wanted: &[LiveSocket]) -> Result<(), LabError> {
        let mut ready = Vec::new();
        for socket in wanted {
            match socket.nodelay()? {
                Some(Nodelay::Off) => ready.push(*socket),
                Some(Nodelay::On) => drop(self.own.insert(socket.inode)),
                None => {}
            }
        }
        let undos = undos(&ready);
        self.entries.extend(if undos.is_empty() { Vec::new() } else { self.journal.note(&undos)? });
        for socket in ready {
            // From here on it is ours to set back, whatever comes.
            self.set.insert(socket.inode, socket);
            match socket.set_nodelay(Nodelay::On)? {
                Some(Nodelay::Off) => self.held += 1,
                // The program was first, by microseconds.
                Some(Nodelay::On) => {
                    self.set.remove(&socket.inode);
                    self.own.insert(socket.inode);
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Sets back what was set. What is not found any more has been closed.
    fn set_back(&mut self) -> Result<(), LabError> {
        if self.set.is_empty() {
            return Ok(());
        }
        let now = self.connections();
        let held = self.set.values().map(|socket| now.get(&socket.inode).unwrap_or(socket));
        let failed = held.filter_map(|socket| reset(socket).err()).last();
        if let Some(error) = failed {
            return Err(error.into());
        }
        self.held = 0;
        self.off.extend(self.set.drain().map(|(inode, _)| inode));
        self.entries.drain(..).for_each(|entry| self.journal.tick_off(entry));
        Ok(())
    }
}

impl Switch for Sockets {
    fn turn(&mut self, state: State) -> Result<(), LabError> {
        self.state = state;
        if state == State::Off {
            self.set_back()?;
        }
        let known = self.connections().into_values().filter(|socket| self.off.contains(&socket.inode));
        let known = known.collect::<Vec<_>>();
        match state {
            State::On => self.set(&known),
            // As much work, to no effect: the option is set to what it is.
            State::Off => Ok(known.iter().try_for_each(exercise)?),
        }
    }

    fn refresh(&mut self) -> Result<(), LabError> {
        let now = self.connections();
        for known in [&mut self.off, &mut self.own] {
            known.retain(|inode| now.contains_key(inode));
        }
        // A listing can miss one that is there: what is set stays to be set back.
        self.held = self.set.keys().filter(|inode| now.contains_key(inode)).count() as u64;
        let mut again = Vec::new();
        for (inode, socket) in now {
            if self.off.contains(&inode) {
                again.push(socket);
            } else if !self.own.contains(&inode) && !self.set.contains_key(&inode) {
                match socket.nodelay()? {
                    Some(Nodelay::Off) => drop(self.off.insert(inode)),
                    Some(Nodelay::On) => drop(self.own.insert(inode)),
                    None => {}
                }
            }
        }
        again.retain(|socket| !self.set.contains_key(&socket.inode));
        if self.state == State::On { self.set(&again) } else { Ok(()) }
    }

    fn reached(&self) -> u64 {
        self.held
    }

    fn why_none(&self) -> String {
        match (self.own.len(), self.off.len()) {
            (0, 0) => "it has no TCP connection that stays open long enough to be changed".to_string(),
            (1.., 0) => "the program itself sets TCP_NODELAY on all its connections".to_string(),
            _ => "its connections close before they can be changed".to_string(),
        }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        // What cannot be set back stays in the journal.
        let _ = self.set_back();
    }
}

fn exercise(socket: &LiveSocket) -> Result<(), RecordError> {
    // Only what is off is set to off: the program may have set its own since.
    if socket.nodelay()? == Some(Nodelay::Off) {
        socket.set_nodelay(Nodelay::Off)?;
    }
    Ok(())
}

/// Sets one back; whether there was something to set back.
fn reset(socket: &LiveSocket) -> Result<bool, RecordError> {
    Ok(socket.set_nodelay(Nodelay::Off)? == Some(Nodelay::On))
}

/// An undo for each process that has some of them.
fn undos(sockets: &[LiveSocket]) -> Vec<Undo> {
    let mut by_process = BTreeMap::<u32, Vec<u64>>::new();
    for socket in sockets {
        by_process.entry(socket.pid).or_default().push(socket.inode);
    }
    let undo = |(pid, inodes)| Some(Undo::Sockets { pid, started_ticks: target::started_ticks(pid)?, inodes });
    by_process.into_iter().filter_map(undo).collect()
}

/// Sets back the sockets that a run which was killed has left set.
pub fn undo(pid: u32, started_ticks: u64, inodes: &[u64]) -> UndoResult {
    let target = Target { pid, started_ticks };
    let is_ours = |socket: &LiveSocket| !socket.is_listener && inodes.contains(&socket.inode);
    let held = sockets_of(&target.processes()).into_iter().filter(is_ours);
    let mut reset_now = HashSet::new();
    for socket in held {
        match reset(&socket) {
            Ok(true) => drop(reset_now.insert(socket.inode)),
            Ok(false) => {}
            Err(error) => return UndoResult::Left(format!("could not reset TCP_NODELAY in process {pid}: {error}")),
        }
    }
    let name = ending::name(pid);
    match reset_now.len() {
        0 => UndoResult::WasGone,
        1 => UndoResult::Undone(format!("restored TCP_NODELAY on a connection of process {pid} ({name})")),
        more => UndoResult::Undone(format!("restored TCP_NODELAY on {more} connections of process {pid} ({name})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    #[test]
    fn only_the_connection_of_the_process_that_was_switched_is_set_back() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        client.set_nodelay(true).expect("set");
        let pid = std::process::id();
        let started = target::started_ticks(pid).expect("it runs");
        let live = sockets_of(&[pid]).into_iter().find(|socket| socket.fd == client.as_raw_fd()).expect("listed");
        assert!(matches!(undo(pid, started + 1, &[live.inode]), UndoResult::WasGone), "another process of that id");
        assert!(matches!(undo(pid, started, &[live.inode + 1_000_000]), UndoResult::WasGone), "another socket");
        assert!(client.nodelay().expect("read"));
        assert!(matches!(undo(pid, started, &[live.inode]), UndoResult::Undone(_)));
        assert!(!client.nodelay().expect("read"));
        assert!(matches!(undo(pid, started, &[live.inode]), UndoResult::WasGone));
    }
}
