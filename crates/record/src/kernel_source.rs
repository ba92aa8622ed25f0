//! The source of rows that sees most: programs in the kernel, and a thread that takes what they hand over.

use crate::drain::{Drain, now};
use crate::error::RecordError;
use crate::events::ThreadState;
use crate::host;
use crate::kernel::Kernel;
use crate::programs::InterpreterMaps;
use crate::recorder::{Options, Progress, Role};
use crate::source::Source;
use aya::maps::{HashMap, MapData, RingBuf};
use case::{CaseWriter, Manifest};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// How long the drain sleeps where the ring does not fill up: long enough to cost nothing, short enough to find a
/// short-lived process alive and to keep a 16 MB ring from filling at a million events a second.
const DRAIN_PERIOD_MS: u16 = 20;

/// A process to be followed from now on; the sender is told when it is.
struct Follow {
    pid: u32,
    role: Role,
    done: SyncSender<()>,
}

/// What the drain's thread and its owner share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    failed: AtomicBool,
    events: AtomicU64,
    lost: AtomicU64,
    requests: AtomicU64,
}

/// The recorder in the kernel, and the thread that takes its events.
pub struct KernelSource {
    kernel: Kernel,
    threads: Mutex<HashMap<MapData, u32, ThreadState>>,
    follow: Sender<Follow>,
    shared: Arc<Shared>,
    drain: JoinHandle<Drain>,
}

impl KernelSource {
    /// Loads the recorder into the kernel and makes the case.
    ///
    /// # Errors
    /// Where privileges or kernel features are missing, or the case cannot be made.
    pub fn begin(folder: &Path, manifest: &Manifest, options: &Options) -> Result<Box<dyn Source>, RecordError> {
        host::may_record()?;
        host::raise_open_files();
        let mut kernel = Kernel::load(options.sampling_hertz)?;
        let mut manifest = Manifest { start: now(), ..manifest.clone() };
        manifest.missing.append(&mut kernel.missing);
        manifest.missing.push("operations inside io_uring: only io_uring_enter itself is seen".to_string());
        let writer = CaseWriter::create(folder, manifest)?;
        let ring = kernel.take_ring()?;
        let threads = kernel.take_map("threads")?;
        let maps = InterpreterMaps { offsets: kernel.take_map("interpreters")?, any: kernel.take_switch()? };
        let (follow, requests) = channel();
        let shared = Arc::new(Shared::default());
        let drain = Drain::new(maps, kernel.take_lost()?, writer, options.event_limit);
        let thread = std::thread::Builder::new().name("drain".to_string());
        let of_thread = Arc::clone(&shared);
        let drain = thread
            .spawn(move || run(drain, ring, &requests, &of_thread))
            .map_err(RecordError::io("starting the thread that takes events"))?;
        Ok(Box::new(KernelSource { kernel, threads: Mutex::new(threads), follow, shared, drain }))
    }
}

impl Source for KernelSource {
    fn follow(&self, pid: u32, role: Role) -> Result<(), RecordError> {
        let gone = || RecordError::io("following a process")(std::io::Error::other("the recorder has stopped"));
        let (done, is_done) = sync_channel(1);
        self.follow.send(Follow { pid, role, done }).map_err(|_| gone())?;
        is_done.recv().map_err(|_| gone())?;
        // Held before its program, it is off the processor, blocked at the gate.
        let state = ThreadState {
            pid,
            off_since: now().0,
            reason: u16::from(case::tables::reason::BLOCKED),
            ..Default::default()
        };
        let mut threads = self.threads.lock().map_err(|_| gone())?;
        threads
            .insert(pid, state, 0)
            .map_err(|error| RecordError::Refused { program: "threads".to_string(), reason: error.to_string() })
    }

    fn progress(&self) -> Progress {
        Progress {
            events: self.shared.events.load(Ordering::Relaxed),
            lost: self.shared.lost.load(Ordering::Relaxed),
            requests: self.shared.requests.load(Ordering::Relaxed),
        }
    }

    fn has_failed(&self) -> bool {
        self.shared.failed.load(Ordering::Relaxed)
    }

    fn finish(self: Box<Self>) -> Result<CaseWriter, RecordError> {
        let end = now();
        self.kernel.detach();
        self.shared.stop.store(true, Ordering::Relaxed);
        let drain = self.drain.join().map_err(|_| {
            RecordError::io("taking the last events")(std::io::Error::other("the thread that takes them panicked"))
        })?;
        let threads = self.threads.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        drain.finish(&threads, end)
    }
}

/// The drain's thread.
fn run(mut drain: Drain, mut ring: RingBuf<MapData>, requests: &Receiver<Follow>, shared: &Shared) -> Drain {
    loop {
        // Read before the last taking, so that nothing that was in the ring at the stop is left there.
        let stopping = shared.stop.load(Ordering::Relaxed);
        while let Ok(follow) = requests.try_recv() {
            drain.follow(follow.pid, follow.role);
            // The one who asked may have given up waiting; nothing is lost by that.
            let _ = follow.done.send(());
        }
        drain.take(&mut ring);
        drain.turn();
        let progress = drain.progress();
        shared.events.store(progress.events, Ordering::Relaxed);
        shared.lost.store(progress.lost, Ordering::Relaxed);
        shared.requests.store(progress.requests, Ordering::Relaxed);
        shared.failed.store(drain.has_failed(), Ordering::Relaxed);
        if stopping {
            return drain;
        }
        wait(&ring);
    }
}

/// Sleeps until the ring asks for attention or the period is over.
fn wait(ring: &RingBuf<MapData>) {
    // SAFETY: the descriptor belongs to `ring`, which outlives the borrow.
    let descriptor = unsafe { BorrowedFd::borrow_raw(ring.as_raw_fd()) };
    let mut polled = [PollFd::new(descriptor, PollFlags::POLLIN)];
    // Interrupted or not, the ring is looked at next.
    let _ = poll(&mut polled, PollTimeout::from(DRAIN_PERIOD_MS));
}
