//! The server that a run starts: until it listens, and until it is gone.

mod asked;
mod work;

use crate::{LabError, Subject};
use record::{Ended, Held, ProcessStat, Running};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use work::Work;

/// A server that needs longer to start is better started by hand.
const LONGEST_START: Duration = Duration::from_secs(10);
/// So long after something listens, and after the server was last at work, is waited for the ports that the client asks for:
/// where one starts in front of another, such as a database before what uses it.
const LONGEST_LATER: Duration = Duration::from_secs(1);
/// What a server gets to finish its work after SIGTERM.
const LONGEST_STOP: Duration = Duration::from_secs(5);
/// What the kernel gets to end what was killed.
const LONGEST_KILL: Duration = Duration::from_secs(1);
/// How often is looked whether something has happened. Each look takes some of its CPU time.
const TICK: Duration = Duration::from_millis(5);
/// When is first looked again whether it has ended, which most do within a millisecond; then after twice as long each time.
const FIRST_TICK: Duration = Duration::from_millis(1);

/// A server that listens. It is stopped when dropped.
pub struct Server {
    process: Running,
    /// Children of ours that are not the server's: the client's process, and proxies.
    others: Vec<u32>,
    /// Processes that it made and left to us, as daemons do.
    adopted: BTreeSet<u32>,
}

/// How a server went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It ended when it was asked to, or had ended before.
    Willingly,
    /// It was killed, so long after it had been asked.
    Killed(Duration),
}

impl Server {
    /// Lets it run and waits until it listens, on the ports that the client's command names where it names some. `others` are
    /// children of ours that are not the server's: the client's process, which is held meanwhile, and proxies; `wait` waits that
    /// long and tells whether the user gives up.
    pub fn start(
        held: Held,
        subject: &Subject,
        others: Vec<u32>,
        wait: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Server, LabError> {
        record::adopt_orphans();
        let process = held.release()?;
        let mut server = Server { process, others, adopted: BTreeSet::new() };
        let deadline = Instant::now() + LONGEST_START;
        let (mut ended, mut first, mut work) = (None, None, Work::new());
        let asked = asked::ports(&subject.client);
        let name = || subject.server.as_deref().unwrap_or_default().join(" ");
        loop {
            let running = record::processes();
            server.adopt(&running);
            let members = server.members(&running);
            let below = members.iter().flat_map(|member| record::descendants_among(&running, *member));
            let all = members.iter().copied().chain(below).collect::<BTreeSet<_>>();
            let is_late = Instant::now() > deadline;
            if all.iter().copied().any(record::process_listens) {
                let first = *first.get_or_insert_with(Instant::now);
                let open = all.iter().copied().flat_map(record::process_ports).collect::<BTreeSet<_>>();
                let at_rest = work.rests_for(running.into_iter().filter(|process| all.contains(&process.pid)));
                let is_settled = first.elapsed() > LONGEST_LATER && at_rest > LONGEST_LATER;
                if asked.iter().all(|port| open.contains(port)) || is_settled || is_late {
                    return Ok(server);
                }
            }
            if let Some(how) = server.process.poll()?.filter(|_| server.adopted.is_empty()) {
                // It may have left a child that we are about to adopt: one more look.
                if ended.replace(how).is_some() {
                    return Err(LabError::ServerEnded { command: name(), ended: how });
                }
            }
            if is_late {
                return Err(LabError::ServerSilent { command: name(), waited: LONGEST_START });
            }
            if wait(TICK) {
                return Err(LabError::Interrupted);
            }
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// How it ended, where it has ended of its own.
    pub fn ended(&mut self) -> Option<Ended> {
        let ended = self.process.poll().ok().flatten();
        ended.filter(|_| self.adopted.is_empty())
    }

    /// Collects orphans that have ended.
    pub fn reap(&self) {
        self.reap_among(&record::processes());
    }

    fn reap_among(&self, running: &[ProcessStat]) {
        let kept = self.others.iter().copied().chain([self.pid()]).collect::<Vec<_>>();
        record::reap_orphans(running, &kept);
    }

    /// Asks it to end, waits, and makes it end where it does not.
    pub fn stop(mut self) -> Stopped {
        self.end()
    }

    /// Notes children of ours that can only be the server's: the client has not begun yet.
    fn adopt(&mut self, running: &[ProcessStat]) {
        let children = record::children(running, std::process::id()).into_iter();
        let children = children.filter(|child| !child.is_zombie());
        let (own, others) = (self.pid(), &self.others);
        self.adopted.extend(children.map(|child| child.pid).filter(|pid| *pid != own && !others.contains(pid)));
    }

    /// Its own process and those it has left to us, as far as they still run.
    fn members(&mut self, running: &[ProcessStat]) -> Vec<u32> {
        let own = self.process.poll().ok().flatten().is_none().then(|| self.process.pid());
        let is_there = |pid: &u32| running.iter().any(|process| process.pid == *pid && !process.is_zombie());
        let adopted = self.adopted.iter().copied().filter(is_there);
        own.into_iter().chain(adopted).collect()
    }

    /// Everything that belongs to it: its members, what is in its session, and all their descendants.
    fn whole(&mut self, running: &[ProcessStat]) -> BTreeSet<u32> {
        let members = self.members(running);
        let in_session = running.iter().filter(|process| process.session == self.process.pid() && !process.is_zombie());
        let roots = members.into_iter().chain(in_session.map(|process| process.pid)).collect::<BTreeSet<_>>();
        let below = roots.iter().flat_map(|root| record::descendants_among(running, *root)).collect::<Vec<_>>();
        let is_running = |pid: &u32| running.iter().any(|process| process.pid == *pid && !process.is_zombie());
        roots.into_iter().chain(below).filter(is_running).collect()
    }

    fn end(&mut self) -> Stopped {
        let running = record::processes();
        if self.whole(&running).is_empty() {
            return Stopped::Willingly;
        }
        self.process.signal_group(libc::SIGTERM);
        // Daemons have left its process group.
        let others = self.members(&running).into_iter().filter(|pid| *pid != self.process.pid());
        others.for_each(|pid| record::send_signal(pid, libc::SIGTERM));
        let deadline = Instant::now() + LONGEST_STOP;
        let left = self.left(deadline);
        if left.is_empty() {
            return Stopped::Willingly;
        }
        for pid in left {
            record::send_signal(pid, libc::SIGKILL);
        }
        self.left(deadline + LONGEST_KILL);
        Stopped::Killed(LONGEST_STOP)
    }

    /// What of it still runs when that has ended by itself, or time is up.
    fn left(&mut self, deadline: Instant) -> BTreeSet<u32> {
        let mut tick = FIRST_TICK;
        loop {
            let running = record::processes();
            self.reap_among(&running);
            let left = self.whole(&running);
            if left.is_empty() || Instant::now() >= deadline {
                return left;
            }
            std::thread::sleep(tick);
            tick = (tick * 2).min(TICK);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
