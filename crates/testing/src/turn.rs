//! Who has the machine: alone, or beside others. Verdicts have to hold on a busy machine, so that stories need not be alone.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MACHINE: RwLock<()> = RwLock::new(());

thread_local! {
    /// Whether this thread has a turn already: what is asked for within it is granted.
    static HAS_TURN: Cell<bool> = const { Cell::new(false) };
}

/// The right to use the machine, until it is dropped.
pub struct Turn(Held);

enum Held {
    /// Nobody else has a turn.
    Alone(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'static, ()>),
    /// Nobody else is alone.
    Beside(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'static, ()>),
    /// Part of a turn that this thread has.
    Within,
}

/// Waits until no other test of this program has a turn: for what counts events of the whole host, or compares it before and
/// after.
pub fn alone() -> Turn {
    take(|| Held::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner)))
}

/// Waits until no other test is alone.
pub fn beside_others() -> Turn {
    take(|| Held::Beside(MACHINE.read().unwrap_or_else(PoisonError::into_inner)))
}

fn take(wait: impl FnOnce() -> Held) -> Turn {
    if HAS_TURN.get() {
        return Turn(Held::Within);
    }
    let held = wait();
    HAS_TURN.set(true);
    Turn(held)
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !matches!(self.0, Held::Within) {
            HAS_TURN.set(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_turn_within_a_turn_is_granted_and_others_wait() {
        let outer = alone();
        let inner = beside_others();
        drop(inner);
        let (done, waits) = mpsc::channel();
        let other = std::thread::spawn(move || {
            let _turn = beside_others();
            done.send(()).expect("heard");
        });
        assert!(waits.recv_timeout(Duration::from_millis(50)).is_err(), "it is not alone");
        drop(outer);
        waits.recv().expect("its turn");
        other.join().expect("over");
    }
}
