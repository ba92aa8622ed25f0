//! Ctrl-C and its kin, read like a file instead of breaking in anywhere: nothing is ever cut off half-way.

use fail::Failure;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::cell::Cell;
use std::os::fd::AsFd;
use std::time::Duration;
pub use studies::{Interrupt, Reach};

/// The kernel's own mark on a signal that a terminal sends to all programs in front of it (`SI_KERNEL`).
const FROM_THE_TERMINAL: i32 = 0x80;

/// Takes SIGINT, SIGTERM and SIGHUP instead of being ended by them, as long as it lives.
pub struct Interrupts {
    signals: SigSet,
    source: SignalFd,
    has_come: Cell<bool>,
}

impl Interrupts {
    /// Begins to take them. To be called before any thread is started, since threads inherit it.
    pub fn take() -> Result<Interrupts, Failure> {
        let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect::<SigSet>();
        let source = signals
            .thread_block()
            .and_then(|()| SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC));
        let source = source.map_err(|error| Failure::internal(&format!("signals cannot be read: {error}")))?;
        Ok(Interrupts { signals, source, has_come: Cell::new(false) })
    }

    /// Whether any has come so far.
    pub fn has_come(&self) -> bool {
        self.has_come.get()
    }

    /// The next one, waiting for it at most so long.
    pub fn next(&self, longest: Duration) -> Option<Interrupt> {
        let mut waiting = [nix::poll::PollFd::new(self.source.as_fd(), nix::poll::PollFlags::POLLIN)];
        let milliseconds = u16::try_from(longest.as_millis()).unwrap_or(u16::MAX);
        // An error of poll can only be an interruption: the next round looks again.
        let _ = nix::poll::poll(&mut waiting, milliseconds);
        let read = self.source.read_signal().ok().flatten()?;
        self.has_come.set(true);
        let reach = if read.ssi_code == FROM_THE_TERMINAL { Reach::EveryoneInFront } else { Reach::Us };
        Some(Interrupt { signal: read.ssi_signo as i32, reach })
    }
}

impl Drop for Interrupts {
    /// Lets the next one end us, after those that had come already: they meant what is over now.
    fn drop(&mut self) {
        while self.next(Duration::ZERO).is_some() {}
        let _ = self.signals.thread_unblock();
    }
}
