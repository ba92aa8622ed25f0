//! The meter's sums, read straight from the kernel's memory.

use super::mapped::Mapped;
use crate::error::RecordError;
use aya::maps::Map;
use case::Nanos;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

/// How often a processor's sums are read again at once where they are being changed: a change takes tens of nanoseconds.
const ATTEMPTS: usize = 1_000;

/// For so long it is waited for a change then. An interrupt may come into one, or the host of a virtual machine stop its
/// processor within one: for hundreds of microseconds, seldom for milliseconds. What is read before it ends may count
/// that time to the mode that the thread left, and fall at the next reading.
const LONGEST_CHANGE: Duration = Duration::from_millis(20);

/// Words in a [`Slot`].
const WORDS: usize = size_of::<Slot>() / size_of::<u64>();
/// The words that tell whether a copy is whole.
const DONE: usize = 0;
const BEGUN: usize = 1;

/// Mirrors `struct slot` of `bpf/meter.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    done: u64,
    begun: u64,
    mark: u64,
    running: u32,
    role: u16,
    mode: u16,
    /// By role, then user and kernel.
    pub cpu: [[u64; 2]; 2],
    /// On connections made by a client's processes, made by a server's, accepted.
    pub exchanges: [u64; 3],
    /// The time that they took.
    pub wall: [u64; 3],
    /// Threads for which there was no room.
    pub unfollowed: u64,
    /// Bytes of answers, by side.
    pub moved: [u64; 3],
    /// Answers by the first digit of their HTTP status, by side.
    pub statuses: [[u64; 5]; 3],
    /// TLS alerts in the clear.
    pub alerts: u64,
    /// Calls that found their connection reset or refused.
    pub resets: u64,
    pad: [u64; 5],
}

/// One slot a processor, in memory shared with the kernel.
pub struct Slots(Mapped<[AtomicU64; WORDS]>);

impl Slots {
    /// Maps them for reading.
    pub fn map(map: Map, processors: usize) -> Result<Slots, RecordError> {
        Ok(Slots(Mapped::new(map, "slots", processors)?))
    }

    /// The sums over all processors, with the time of the threads that run on them until `time`.
    pub fn sum(&self, time: Nanos) -> Slot {
        let mut sum = Slot::default();
        for words in self.0.each() {
            sum.add(&read(words, LONGEST_CHANGE), time);
        }
        sum
    }
}

/// A copy that no change came into, unless one takes longer than it is waited for.
fn read(words: &[AtomicU64; WORDS], longest_change: Duration) -> Slot {
    let mut copy = [0; WORDS];
    let mut waiting = None;
    for attempt in 0.. {
        copy[DONE] = words[DONE].load(Ordering::Acquire);
        for (copy, word) in copy.iter_mut().zip(words).skip(BEGUN + 1) {
            *copy = word.load(Ordering::Relaxed);
        }
        fence(Ordering::Acquire);
        copy[BEGUN] = words[BEGUN].load(Ordering::Relaxed);
        if copy[DONE] == copy[BEGUN] {
            break;
        }
        if attempt < ATTEMPTS {
            std::hint::spin_loop();
            continue;
        }
        // The change may be that of a thread on this very processor.
        std::thread::yield_now();
        if waiting.get_or_insert_with(Instant::now).elapsed() > longest_change {
            break;
        }
    }
    // SAFETY: of the same size, and any bytes are a slot.
    unsafe { std::mem::transmute::<[u64; WORDS], Slot>(copy) }
}

impl Slot {
    /// Adds another processor's sums, and the time of the thread that runs on it.
    fn add(&mut self, slot: &Slot, time: Nanos) {
        let all = |sum: &mut [u64], more: &[u64]| sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        all(&mut self.exchanges, &slot.exchanges);
        all(&mut self.wall, &slot.wall);
        all(self.cpu.as_flattened_mut(), slot.cpu.as_flattened());
        all(&mut self.moved, &slot.moved);
        all(self.statuses.as_flattened_mut(), slot.statuses.as_flattened());
        self.unfollowed += slot.unfollowed;
        self.alerts += slot.alerts;
        self.resets += slot.resets;
        let (role, mode) = (usize::from(slot.role), usize::from(slot.mode));
        if slot.running != 0
            && let Some(cpu) = self.cpu.get_mut(role).and_then(|modes| modes.get_mut(mode))
        {
            *cpu += time.0.saturating_sub(slot.mark);
        }
    }

    /// What has been added since.
    pub fn since(mut self, before: &Slot) -> Slot {
        let all = |sum: &mut [u64], less: &[u64]| {
            sum.iter_mut().zip(less).for_each(|(sum, less)| *sum = sum.saturating_sub(*less));
        };
        all(&mut self.exchanges, &before.exchanges);
        all(&mut self.wall, &before.wall);
        all(self.cpu.as_flattened_mut(), before.cpu.as_flattened());
        all(&mut self.moved, &before.moved);
        all(self.statuses.as_flattened_mut(), before.statuses.as_flattened());
        self.unfollowed = self.unfollowed.saturating_sub(before.unfollowed);
        self.alerts = self.alerts.saturating_sub(before.alerts);
        self.resets = self.resets.saturating_sub(before.resets);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slot of a thread that has run in user mode since 100, after so many changes begun and done.
    fn slot(begun: u64, done: u64) -> [AtomicU64; WORDS] {
        let slot = Slot { begun, done, mark: 100, running: 7, ..Slot::default() };
        // SAFETY: of the same size, and plain integers.
        unsafe { std::mem::transmute::<Slot, [AtomicU64; WORDS]>(slot) }
    }

    #[test]
    fn a_change_that_is_interrupted_is_waited_for() {
        let words = slot(5, 4);
        let read = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(2));
                // The thread went into the kernel at 150, before the interruption.
                let changed = Slot { mark: 150, running: 7, mode: 1, cpu: [[50, 0], [0, 0]], ..Slot::default() };
                // SAFETY: as above.
                let changed = unsafe { std::mem::transmute::<Slot, [u64; WORDS]>(changed) };
                for (word, value) in words.iter().zip(changed).skip(BEGUN + 1) {
                    word.store(value, Ordering::Relaxed);
                }
                words[DONE].store(5, Ordering::Release);
            });
            // On a busy machine the other thread may begin late.
            super::read(&words, Duration::from_mins(1))
        });
        let mut sum = Slot::default();
        sum.add(&read, Nanos(1_150));
        assert_eq!(sum.cpu[0], [50, 1_000]);
    }

    #[test]
    fn a_change_that_never_ends_is_not_waited_for_for_ever() {
        let begun = Instant::now();
        assert_eq!(super::read(&slot(5, 4), LONGEST_CHANGE).mark, 100);
        assert!(begun.elapsed() >= LONGEST_CHANGE);
    }
}
