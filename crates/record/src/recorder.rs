//! The recorder as its user sees it: start it, tell it whom to follow, finish it.

use crate::drain::{Drain, now};
use crate::error::RecordError;
use crate::events::ThreadState;
use crate::host;
use crate::kernel::Kernel;
use crate::programs::InterpreterMaps;
use aya::maps::{HashMap, MapData, RingBuf};
use case::{Case, CaseWriter, Manifest, SCHEMA};
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

/// What to record.
#[derive(Clone, Debug)]
pub struct Options {
    /// CPU samples a second on each processor; 0 takes none.
    pub sampling_hertz: u32,
    /// Most events that are kept; those beyond are counted as lost, by table.
    pub event_limit: u64,
}

impl Default for Options {
    fn default() -> Options {
        // 997 is prime, so that samples do not run in step with timers. Ten million events are about 300 MB on disk
        // and can be diagnosed within 1 GB of memory.
        Options { sampling_hertz: 997, event_limit: 10_000_000 }
    }
}

/// Whose process it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The subject's command.
    Client,
    /// The command given by `--server`.
    Server,
}

/// How far a recording has got.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Events taken.
    pub events: u64,
    /// Events lost.
    pub lost: u64,
    /// Requests (first bytes out after bytes in) seen so far on clients' connections.
    pub requests: u64,
}

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

/// A recording under way.
pub struct Recorder {
    kernel: Kernel,
    threads: Mutex<HashMap<MapData, u32, ThreadState>>,
    follow: Sender<Follow>,
    shared: Arc<Shared>,
    drain: JoinHandle<Drain>,
}

impl Recorder {
    /// Loads the recorder into the kernel and makes the case. Nothing is followed yet.
    ///
    /// # Errors
    /// Where privileges or kernel features are missing, or the case cannot be made.
    pub fn start(folder: &Path, mut manifest: Manifest, options: &Options) -> Result<Recorder, RecordError> {
        host::may_record()?;
        host::raise_open_files();
        let mut kernel = Kernel::load(options.sampling_hertz)?;
        manifest.schema = SCHEMA;
        manifest.start = now();
        manifest.host = host::describe();
        manifest.sampling_hertz = options.sampling_hertz;
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
        Ok(Recorder { kernel, threads: Mutex::new(threads), follow, shared, drain })
    }

    /// Follows a process that has not begun its program yet, and all its children to be.
    ///
    /// # Errors
    /// Where the kernel's table of watched threads is full, or the drain is gone.
    pub fn follow(&self, pid: u32, role: Role) -> Result<(), RecordError> {
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

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        Progress {
            events: self.shared.events.load(Ordering::Relaxed),
            lost: self.shared.lost.load(Ordering::Relaxed),
            requests: self.shared.requests.load(Ordering::Relaxed),
        }
    }

    /// Whether rows can no longer be written (a full disk, say); [`Recorder::finish`] tells why.
    pub fn has_failed(&self) -> bool {
        self.shared.failed.load(Ordering::Relaxed)
    }

    /// Stops recording, resolves symbols, lets `complete` fill in the manifest, and closes the case.
    ///
    /// # Errors
    /// Where the case could not be written; the rows written before stay readable.
    pub fn finish(self, complete: impl FnOnce(&mut Manifest)) -> Result<Case, RecordError> {
        let end = now();
        self.kernel.detach();
        self.shared.stop.store(true, Ordering::Relaxed);
        let drain = self.drain.join().map_err(|_| {
            RecordError::io("taking the last events")(std::io::Error::other("the thread that takes them panicked"))
        })?;
        let threads = self.threads.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut writer = drain.finish(&threads, end)?;
        complete(writer.manifest());
        Ok(writer.close()?)
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
