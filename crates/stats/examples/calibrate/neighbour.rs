//! A neighbour who takes processors away now and then, as on a shared machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Two threads that each compute for up to 20 ms, then rest for up to 100; they end with this value.
pub struct Neighbour {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbour {
    pub fn new(seed: u64) -> Neighbour {
        let over = Arc::new(AtomicBool::new(false));
        let start = |number: u64| {
            let over = Arc::clone(&over);
            thread::spawn(move || disturb(&over, fastrand::Rng::with_seed(2 * seed + number)))
        };
        let threads = (0..2).map(start).collect();
        Neighbour { over, threads }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A neighbour that panicked has ended too.
            let _ = thread.join();
        }
    }
}

fn disturb(over: &AtomicBool, mut random: fastrand::Rng) {
    while !over.load(Ordering::Relaxed) {
        let until = Instant::now() + Duration::from_micros(random.u64(0..20_000));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        thread::sleep(Duration::from_micros(random.u64(0..100_000)));
    }
}
