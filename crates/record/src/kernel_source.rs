//! The source of rows that sees most: programs in the kernel, and a thread that takes what they hand over.

mod attach;

use crate::call_sums::CallSums;
use crate::clock::now;
use crate::drain::Drain;
use crate::error::RecordError;
use crate::events::{ListenerKey, Sums, ThreadState, begun};
use crate::governed::Governed;
use crate::governor::Budget;
use crate::host;
use crate::kernel::Kernel;
use crate::loaded::refused;
use crate::own_cost::{OwnCost, time_of_a_call};
use crate::programs::InterpreterMaps;
use crate::row_switch::RowSwitch;
use crate::scheduling::{Prefer, Starvation};
use crate::source::{Options, Progress, Role, Source};
use crate::watched::Watched;
use aya::maps::{HashMap, MapData, RingBuf};
use broker::ask;
use case::{CaseWriter, Manifest, Nanos};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// How long the drain sleeps where the ring does not fill up: long enough to cost nothing, short enough to find a
/// short-lived process alive and to keep a 16 MB ring from filling at a million events a second.
const DRAIN_PERIOD_MS: u16 = 20;
/// The same while no rows are made: what still comes is rare, and what cannot wait asks for attention.
const QUIET_PERIOD_MS: u16 = 100;

/// Something for the drain to do between two takings.
type Task = Box<dyn FnOnce(&mut Drain) + Send>;

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
    threads: Mutex<Watched>,
    listeners: Mutex<HashMap<MapData, ListenerKey, u32>>,
    tasks: Sender<Task>,
    shared: Arc<Shared>,
    drain: JoinHandle<Drain>,
    sums: CallSums,
}

impl KernelSource {
    /// Loads the recorder into the kernel and makes the case.
    ///
    /// # Errors
    /// Where privileges or kernel features are missing, or the case cannot be made.
    pub fn begin(folder: &Path, manifest: &Manifest, options: &Options) -> Result<Box<dyn Source>, RecordError> {
        host::may_record()?;
        host::raise_open_files();
        let before = time_of_a_call();
        let mut kernel = Kernel::load(options.sampling_hertz, options.counts_requests)?;
        let mut manifest = Manifest { start: now(), ..manifest.clone() };
        manifest.missing.append(&mut kernel.missing);
        if options.sampling_hertz == 0 {
            manifest.missing.push("CPU samples: switched off with --hz 0, so no code is named for CPU time".into());
        }
        manifest.missing.push("operations inside io_uring: only io_uring_enter itself is seen".to_string());
        let writer = CaseWriter::create(folder, manifest)?;
        let ring = kernel.take_ring()?;
        let threads = Mutex::new(Watched::take(&mut kernel)?);
        let listeners = Mutex::new(kernel.take_map("listeners")?);
        let maps =
            InterpreterMaps { offsets: kernel.take_map("interpreters")?, any: kernel.take_array("any_interpreter")? };
        let sums = CallSums::take(&mut kernel)?;
        let switch = RowSwitch::take(&mut kernel)?;
        let governed = match options.overhead {
            Some(overhead) => {
                let budget = Budget { overhead, events: options.event_limit, duration: options.duration };
                Some(Governed::new(budget, OwnCost::take(&mut kernel, before)?))
            }
            None => None,
        };
        let (tasks, asked) = channel();
        let shared = Arc::new(Shared::default());
        let drain = Drain::new(maps, kernel.take_counts("lost")?, (switch, governed, options.event_limit), writer);
        let thread = std::thread::Builder::new().name("drain".to_string());
        let of_thread = Arc::clone(&shared);
        let drain = thread
            .spawn(move || run(drain, ring, &asked, &of_thread))
            .map_err(RecordError::io("starting the thread that takes events"))?;
        Ok(Box::new(KernelSource { kernel, threads, listeners, tasks, shared, drain, sums }))
    }
}

impl KernelSource {
    /// Lets the drain do something, and waits until it has.
    pub fn ask(&self, task: impl FnOnce(&mut Drain) + Send + 'static) -> Result<(), RecordError> {
        let (done, is_done) = sync_channel(1);
        let task: Task = Box::new(move |drain| {
            task(drain);
            // The one who asked may have given up waiting; nothing is lost by that.
            let _ = done.send(());
        });
        self.tasks.send(task).map_err(|_| stopped())?;
        is_done.recv().map_err(|_| stopped())
    }

    /// The kernel side's table of watched threads.
    pub fn threads(&self) -> Result<MutexGuard<'_, Watched>, RecordError> {
        self.threads.lock().map_err(|_| stopped())
    }

    /// The kernel side's table of listening sockets, by which it knows accepted connections from their beginning.
    pub fn listeners(&self) -> Result<MutexGuard<'_, HashMap<MapData, ListenerKey, u32>>, RecordError> {
        self.listeners.lock().map_err(|_| stopped())
    }
}

fn stopped() -> RecordError {
    RecordError::io("following a process")(std::io::Error::other("the recorder has stopped"))
}

impl Source for KernelSource {
    fn follow(&self, pid: u32, role: Role) -> Result<(), RecordError> {
        self.ask(move |drain| drain.follow(pid, role))?;
        // Held before its program, it is off the processor, blocked at the gate.
        let state = ThreadState {
            pid,
            off_since: now().0,
            reason: u16::from(case::tables::reason::BLOCKED),
            begun: begun::ENTERED,
            ..Default::default()
        };
        let state = state.counted_from(Sums::look(pid, pid).unwrap_or_default().before_this_wait());
        self.threads()?.insert(pid, &state, 0).map_err(|error| refused("threads", &error))
    }

    fn attach(&self, pid: u32, role: Role) -> Result<(), RecordError> {
        attach::follow(self, pid, role)
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
        let threads = self.threads.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let watched = threads.all();
        // The number of calls at the same moment: while the programs are taken off one after the other, some are seen to begin
        // and not to end.
        let sums = watched.filter_map(|(tid, state)| Some((tid, (Sums::look(state.pid, tid)?, state.recorded_calls))));
        let sums = sums.collect();
        let end = now();
        self.kernel.detach();
        self.shared.stop.store(true, Ordering::Relaxed);
        let drain = self.drain.join().map_err(|_| {
            RecordError::io("taking the last events")(std::io::Error::other("the thread that takes them panicked"))
        })?;
        Ok(drain.finish(&threads, &sums, self.sums.rows(), end))
    }
}

/// The drain's thread.
fn run(mut drain: Drain, mut ring: RingBuf<MapData>, tasks: &Receiver<Task>, shared: &Shared) -> Drain {
    let thread = nix::unistd::gettid().as_raw() as u32;
    // Beside a subject that fills all processors its share is too small, and what finds no room in the ring is lost. Where it is
    // refused, as without root, losses are counted as ever.
    let prefer = |before_all: bool| {
        let _ = ask(Prefer { thread, before_all }, &[]);
    };
    let (mut starvation, mut is_first) = (Starvation::default(), false);
    if drain.keeps_everything() {
        prefer(false);
    }
    loop {
        // Read before the last taking, so that nothing that was in the ring at the stop is left there.
        let stopping = shared.stop.load(Ordering::Relaxed);
        while let Ok(task) = tasks.try_recv() {
            task(&mut drain);
        }
        let is_empty = drain.take(&mut ring, Nanos(u64::from(DRAIN_PERIOD_MS) * 1_000_000));
        drain.turn();
        if drain.keeps_everything() && !is_first && starvation.is_there(is_empty) {
            prefer(true);
            is_first = true;
        }
        let progress = drain.progress();
        shared.events.store(progress.events, Ordering::Relaxed);
        shared.lost.store(progress.lost, Ordering::Relaxed);
        shared.requests.store(progress.requests, Ordering::Relaxed);
        shared.failed.store(drain.has_failed(), Ordering::Relaxed);
        if !is_empty {
            continue;
        }
        if stopping {
            return drain;
        }
        wait(&ring, if drain.makes_rows() { DRAIN_PERIOD_MS } else { QUIET_PERIOD_MS });
    }
}

/// Sleeps until the ring asks for attention or the period, in milliseconds, is over.
fn wait(ring: &RingBuf<MapData>, period: u16) {
    // SAFETY: the descriptor belongs to `ring`, which outlives the borrow.
    let descriptor = unsafe { BorrowedFd::borrow_raw(ring.as_raw_fd()) };
    let mut polled = [PollFd::new(descriptor, PollFlags::POLLIN)];
    // Interrupted or not, the ring is looked at next.
    let _ = poll(&mut polled, PollTimeout::from(period));
}
