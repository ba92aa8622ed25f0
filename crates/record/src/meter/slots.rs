//! The meter's sums, read straight from the kernel's memory.

use super::mapped::Mapped;
use crate::error::RecordError;
use aya::maps::Map;
use case::Nanos;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// How often a processor's sums are read again where they changed meanwhile. A change takes tens of nanoseconds; where
/// the host of a virtual machine stops its processor within one, what was read last has to do.
const ATTEMPTS: usize = 1_000;

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
    pad: u64,
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
            sum.add(&read(words), time);
        }
        sum
    }
}

/// A copy that no change came into.
fn read(words: &[AtomicU64; WORDS]) -> Slot {
    let mut copy = [0; WORDS];
    for _ in 0..ATTEMPTS {
        copy[DONE] = words[DONE].load(Ordering::Acquire);
        for (copy, word) in copy.iter_mut().zip(words).skip(BEGUN + 1) {
            *copy = word.load(Ordering::Relaxed);
        }
        fence(Ordering::Acquire);
        copy[BEGUN] = words[BEGUN].load(Ordering::Relaxed);
        if copy[DONE] == copy[BEGUN] {
            break;
        }
        std::hint::spin_loop();
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
        self.unfollowed += slot.unfollowed;
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
        self.unfollowed = self.unfollowed.saturating_sub(before.unfollowed);
        self
    }
}
