//! A thread that carries packets between two tunnels, each in a network namespace of its own: the link with a delay, which
//! kernels without netem have no other means for.
//!
//! Promises: packets of a direction stay in order; what is under way is bounded; it ends when dropped, and the devices vanish with it.

use super::path::{Direction, Path};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use record::{Tunnel, run_at_once};
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest packet of IP.
const LONGEST: usize = 65_535;
/// How many packets are taken from one end before the other has its turn.
const TURN: usize = 64;
/// What is under way in one direction at most, in bytes; more is dropped, as it is by a router. A second of 2 Gbit/s.
const UNDER_WAY: usize = 256 << 20;

/// The seed of the next one: each loses other packets, and the first of every run the same.
static SEED: AtomicU64 = AtomicU64::new(1);

/// A relay at work.
#[derive(Debug)]
pub(crate) struct Relay {
    /// Its end is seen by the thread.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Starts carrying packets between two devices.
    pub(super) fn start(ends: [Tunnel; 2], path: Path) -> io::Result<Relay> {
        let (stopped, stop) = io::pipe()?;
        let seed = SEED.fetch_add(1, Ordering::Relaxed) << 32;
        let ways = [0, 1].map(|way| Way::new(path, seed + way));
        let run = move || {
            run_at_once();
            carry(&ends, ways, &stopped);
        };
        let thread = std::thread::Builder::new().name("link".to_string()).spawn(run)?;
        Ok(Relay { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked carries nothing any more, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}

/// One direction and its packets under way, in the order in which they arrive.
struct Way {
    direction: Direction,
    packets: VecDeque<(u64, Box<[u8]>)>,
    bytes: usize,
}

impl Way {
    fn new(path: Path, seed: u64) -> Way {
        Way { direction: Direction::new(path, seed), packets: VecDeque::new(), bytes: 0 }
    }

    fn take(&mut self, now: u64, packet: &[u8]) {
        let Some(arrival) = self.direction.arrival(now, packet.len() as u32) else { return };
        if self.bytes + packet.len() <= UNDER_WAY {
            self.bytes += packet.len();
            self.packets.push_back((arrival, packet.into()));
        }
    }

    fn deliver(&mut self, now: u64, to: &Tunnel) {
        while let Some((_, packet)) = self.packets.pop_front_if(|(arrival, _)| *arrival <= now) {
            self.bytes -= packet.len();
            // A device that is down takes nothing: a packet more that is lost.
            let _ = to.deliver(&packet);
        }
    }
}

/// Carries packets until the pipe's other end is closed. `ways[0]` leads from the first end to the second.
fn carry(ends: &[Tunnel; 2], mut ways: [Way; 2], stopped: &PipeReader) {
    let begin = Instant::now();
    let now = || begin.elapsed().as_nanos() as u64;
    let mut buffer = vec![0; LONGEST];
    loop {
        let next = ways.iter().filter_map(|way| way.packets.front().map(|(arrival, _)| *arrival)).min();
        let wait = next.map(|arrival| TimeSpec::from(Duration::from_nanos(arrival.saturating_sub(now()))));
        let mut waited =
            [ends[0].as_fd(), ends[1].as_fd(), stopped.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        // Interrupted or not, what is there is looked at.
        let _ = ppoll(&mut waited, wait, None);
        if waited[2].revents().is_some_and(|events| !events.is_empty()) {
            return;
        }
        for (way, from) in ways.iter_mut().zip(ends) {
            for _ in 0..TURN {
                let Ok(Some(length)) = from.take(&mut buffer) else { break };
                way.take(now(), &buffer[..length]);
            }
        }
        ways[0].deliver(now(), &ends[1]);
        ways[1].deliver(now(), &ends[0]);
    }
}
