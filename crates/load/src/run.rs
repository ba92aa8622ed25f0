//! A load from its beginning to its end.

use crate::arrival::Arrival;
use crate::connection::Peer;
use crate::course::Course;
use crate::drive::{Common, drive};
use crate::failure::LoadFailure;
use crate::histogram::Times;
use crate::histograms::Histograms;
use crate::plan::Plan;
use crate::tally::Tally;
use crate::tls;
use case::{Latency, Load, LoadArrival, LoadPhase, Phase, redact_target};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustls::pki_types::ServerName;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Descriptors besides those of connections: each thread has two, the process a few.
const OTHER_DESCRIPTORS: u64 = 256;
/// Late enough for all threads to be there when the first request is due.
const HEAD_START: Duration = Duration::from_millis(5);

/// How a load is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Live {
    /// How long it has gone on.
    pub elapsed: Duration,
    /// Requests answered.
    pub answered: u64,
    /// Requests failed.
    pub failed: u64,
    /// Answers a second since the last time.
    pub rate: f64,
    /// The median since the last time.
    pub p50: Duration,
    /// The 99th percentile since the last time.
    pub p99: Duration,
}

/// What came of a load.
#[derive(Clone, Debug)]
pub struct Done {
    /// What it found.
    pub load: Load,
    /// The distributions that this sums up.
    pub histograms: Histograms,
}

/// What threads have told since someone last looked.
struct Told {
    recent: Times,
    answered: u64,
    failed: u64,
    course: Course,
}

/// Drives the load. `watch` is called again and again: it may ask how the load is doing since it last asked, takes its time,
/// and says whether to go on.
///
/// # Errors
/// Where it cannot begin. What goes wrong with requests is counted.
pub fn run(plan: &Plan, watch: &mut dyn FnMut(&mut dyn FnMut() -> Live) -> bool) -> Result<Done, LoadFailure> {
    let first = plan.urls.first().ok_or(LoadFailure::SeveralServers)?;
    let is_same = |url: &crate::Url| (url.scheme, &url.host, url.port) == (first.scheme, &first.host, first.port);
    if !plan.urls.iter().all(is_same) {
        return Err(LoadFailure::SeveralServers);
    }
    let threads = plan.threads.clamp(1, plan.connections.max(1));
    raise_limit(plan.connections as u64);
    let (address, looking_up) = look_up(&first.host, first.port)?;
    let peer = Peer { address, tls: secured(plan, &first.host)? };
    let targets = plan.targets();
    let rates = rates(&plan.arrival);
    let begun = Instant::now() + HEAD_START;
    let told = Mutex::new(Told { recent: Times::new(), answered: 0, failed: 0, course: Course::new() });
    let stop = AtomicBool::new(false);
    let report = |tally: &mut Tally| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        told.recent.merge(&tally.recent);
        told.course.add(begun.elapsed(), &tally.recent, tally.told.1);
        tally.recent.clear();
        (told.answered, told.failed) = (told.answered + tally.told.0, told.failed + tally.told.1);
        tally.told = (0, 0);
    };
    let common = Common {
        plan,
        targets: &targets,
        peer: &peer,
        begun,
        threads,
        steps: rates.len(),
        stop: &stop,
        report: &report,
    };
    let mut whole = Tally::new(rates.len());
    std::thread::scope(|scope| -> Result<(), LoadFailure> {
        let share = |thread: usize| plan.connections / threads + usize::from(thread < plan.connections % threads);
        let common = &common;
        let started = (0..threads).map(|thread| scope.spawn(move || drive(common, thread, share(thread))));
        let started = started.collect::<Vec<_>>();
        let mut before = (begun, 0);
        while !started.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            if !watch(&mut || look(&told, begun, &mut before)) {
                stop.store(true, Ordering::Relaxed);
            }
        }
        for one in started {
            let tally = one.join().map_err(|_| std::io::Error::other("a thread has ended early"))??;
            whole.merge(&tally);
        }
        Ok(())
    })?;
    let wall = whole.ended.map_or_else(|| begun.elapsed(), |ended| ended.saturating_duration_since(begun));
    let course = told.into_inner().unwrap_or_else(PoisonError::into_inner).course;
    let is_open = plan.arrival != Arrival::Closed;
    let uncorrected = is_open.then(|| whole.uncorrected.clone());
    let histograms = Histograms { latency: whole.latency.clone(), uncorrected };
    let load = Load {
        over_time: course.document(),
        percentiles: histograms.percentiles(),
        ..document(plan, &whole, threads, wall, looking_up, &rates)
    };
    Ok(Done { load, histograms })
}

/// How it is doing since the last look.
fn look(told: &Mutex<Told>, begun: Instant, before: &mut (Instant, u64)) -> Live {
    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let since = now.saturating_duration_since(before.0).as_secs_f64().max(1e-3);
    let live = Live {
        elapsed: now.saturating_duration_since(begun),
        answered: told.answered,
        failed: told.failed,
        rate: (told.answered - before.1) as f64 / since,
        p50: told.recent.quantile(0.5),
        p99: told.recent.quantile(0.99),
    };
    told.recent.clear();
    *before = (now, told.answered);
    live
}

fn look_up(host: &str, port: u16) -> Result<(SocketAddr, Duration), LoadFailure> {
    let begun = Instant::now();
    let failed = |error: String| LoadFailure::LookUp { host: host.to_string(), error };
    let mut found = (host, port).to_socket_addrs().map_err(|error| failed(error.to_string()))?;
    let address = found.next().ok_or_else(|| failed("it has no address".into()))?;
    Ok((address, begun.elapsed()))
}

fn secured(plan: &Plan, host: &str) -> Result<Option<(Arc<rustls::ClientConfig>, ServerName<'static>)>, LoadFailure> {
    if !plan.scheme().is_secured() {
        return Ok(None);
    }
    let name = ServerName::try_from(host.to_string()).map_err(|error| LoadFailure::Tls(error.to_string()))?;
    Ok(Some((Arc::new(tls::settings(&plan.secured, plan.scheme())?), name)))
}

/// Asks for as many descriptors as the system allows. What is refused all the same is counted later, by name.
pub(crate) fn raise_limit(connections: u64) {
    let wanted = connections + OTHER_DESCRIPTORS;
    if let Ok((now, most)) = getrlimit(Resource::RLIMIT_NOFILE)
        && now < wanted
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted.min(most), most);
    }
}

fn rates(arrival: &Arrival) -> Vec<f64> {
    if let Arrival::Steps(rates) = arrival { rates.clone() } else { Vec::new() }
}

fn document(plan: &Plan, whole: &Tally, threads: usize, wall: Duration, looking_up: Duration, rates: &[f64]) -> Load {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let mut once = Times::new();
    once.add(looking_up);
    let mut phases = vec![LoadPhase { phase: Phase::LookUp, time: once.summary() }];
    phases.extend(whole.phases());
    let is_open = plan.arrival != Arrival::Closed;
    Load {
        schema: case::SCHEMA,
        urls: plan.urls.iter().map(|url| redact_target(&url.text)).collect(),
        arrival: arrival(&plan.arrival),
        connections: plan.connections as u32,
        pipeline: plan.pipeline as u32,
        threads: threads as u32,
        wall_ns: nanos(wall),
        cpu_ns: nanos(whole.processor),
        requests: whole.requests,
        answered: whole.answered,
        failed: whole.failed,
        unsent: whole.unsent,
        answered_per_second: whole.answered as f64 / wall.as_secs_f64().max(1e-9),
        received_bytes: whole.received,
        sent_bytes: whole.sent,
        opened: whole.opened,
        tls_version: whole.tls_version.into(),
        latency: whole.latency.summary(),
        uncorrected: is_open.then(|| whole.uncorrected.summary()) as Option<Latency>,
        phases,
        steps: whole.steps(rates),
        statuses: whole.statuses(),
        errors: whole.errors(),
        ..Load::default()
    }
}

fn arrival(arrival: &Arrival) -> LoadArrival {
    match arrival {
        Arrival::Closed => LoadArrival::Closed,
        Arrival::Constant(rate) => LoadArrival::Constant { rate: *rate },
        Arrival::Poisson(rate) => LoadArrival::Poisson { rate: *rate },
        Arrival::Steps(rates) => LoadArrival::Steps { rates: rates.clone() },
        Arrival::Replay(replay) => LoadArrival::Replay {
            requests: replay.arrivals.len() as u64,
            left_out: replay.left_out,
            speed: replay.speed,
        },
    }
}

#[cfg(test)]
mod tests;
