//! What can be switched off from outside, one file each. Adding one is a file, a line in [`ALL`], and where it is a
//! shim a C file of the same name in `shims`.

mod accept_in_turn;
mod all_processors;
mod answer_100_continue;
mod answer_not_found;
mod bound_sscanf;
mod buffered_entropy;
mod cached_reads;
mod cached_sources;
mod coalesce_tls_writes;
mod coalesce_writes;
mod cpu_quota;
mod default_buffers;
mod default_groups;
mod delayed_ack_cap;
mod drop_log_lines;
mod empty_openssl_conf;
mod exclusive_wakeups;
mod fast_compression;
mod free_running;
mod hosts_entry;
mod issue_tickets;
mod keep_memory;
mod kept_algorithms;
mod kept_connections;
mod large_heap;
mod large_http2_windows;
mod larger_pool;
mod listen_queue;
mod more_descriptors;
mod network;
mod newest_tls;
mod no_explicit_gc;
mod no_fsync;
mod no_time_wait;
mod nothing;
mod other_hosts_entry;
mod parse_ca_once;
mod pauses;
mod prediction;
mod proxies;
mod quickack_route;
mod read_buffer;
mod refuse_silent;
mod resume_sessions;
mod same_ca_bundle;
mod same_pool;
mod send_queue_empty;
mod share_ssl_context;
mod short_ca_path;
mod short_pauses;
mod short_sleeps;
mod sleep_in_halves;
mod sleep_scale;
mod small_ca_bundle;
mod small_segments;
mod switch_off;
mod tcp_nodelay;
mod timeouts;
mod uncorked;
mod wait_when_not_ready;
mod without_switches;

use crate::aspect::Aspect;
use crate::intervention_counters::InterventionCounters;
use crate::metric::Metric;
use crate::treatment::{End, Treatment};
use crate::world::World;
use case::tables::Call;
use case::{Finding, Recording};
use std::collections::BTreeSet;

pub use case::Purpose;
pub use prediction::{Prediction, WITHOUT_CONTROL};

/// A change of the subject's world that removes (or scales) one cause and nothing else.
pub struct Intervention {
    /// Its page: the doc comment of its declaration.
    pub page: &'static str,
    /// Its name, as `--json` and `whyslow trial` know it.
    pub name: &'static str,
    /// What it does, in one line, to follow "With NAME, which ...": begins with a verb, ends without a full stop.
    pub summary: &'static str,
    /// What it must do if one of these pathologies is the cause: what it is tried for.
    pub predictions: &'static [Prediction],
    /// The doses to try where none is asked for; empty where it has none. The unit belongs to the intervention.
    pub doses: &'static [f64],
    /// The unit of its dose, as it is written behind the number (`ms`); empty where it has none.
    pub unit: &'static str,
    /// What has to be named for it, as its usage shows it (`FUNCTION`); empty if it needs no name.
    pub about: &'static str,
    /// Whether what it does to the program is only harmless as far as the program writes the same: then runs are whole,
    /// their output has to be the same to the letter, and without a comparison it proves nothing.
    pub needs_same_output: bool,
    /// What it is judged by, where that is not the metric in which the finding's cost lies.
    pub judged_by: Option<Metric>,
    /// What of the work that can be seen it changes because that is what it does: it is not compared then.
    pub may_change: &'static [Aspect],
    /// Names of interventions that it stands on: they are attached with it.
    pub stands_on: &'static [&'static str],
    /// What it is tried for in this finding, given what its prediction declares: none where what is to be expected depends
    /// on something that is not known, or where another one is meant.
    pub purpose_here: fn(&Request, Purpose) -> Option<Purpose>,
    /// Asks for the machinery that it needs, or says why it cannot be tried here.
    pub treat: fn(&Request, &mut Treatment) -> Result<(), NotHere>,
    /// Whether it took effect, from its counters: how often it changed something, or why it did not.
    pub applied: fn(&InterventionCounters) -> Result<u64, String>,
}

/// What an intervention may look at when it is asked to treat a trial.
pub struct Request<'a> {
    /// What was recorded of the subject; none when a trial is run from a file.
    pub recording: Option<&'a Recording>,
    /// The finding that it is to prove; none when a trial is run from a file.
    pub finding: Option<&'a Finding>,
    /// The world of the trial.
    pub world: &'a World,
    /// Whether there is a server of ours.
    pub has_server: bool,
    /// The dose, in the intervention's unit.
    pub dose: Option<f64>,
    /// What is named for it: a function, say.
    pub about: Option<&'a str>,
}

/// Why an intervention cannot be tried here: a sentence without its subject (`needs a link ...`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotHere(pub String);

/// What most interventions leave as it is.
const USUAL: Intervention = Intervention {
    page: "",
    name: "",
    summary: "",
    predictions: &[],
    doses: &[],
    unit: "",
    about: "",
    needs_same_output: false,
    judged_by: None,
    may_change: &[],
    stands_on: &[],
    purpose_here: |_, declared| Some(declared),
    treat: |_, _| Ok(()),
    applied: |_| Ok(0),
};

/// Declares an intervention: its page is its doc comment.
macro_rules! intervention {
    ($(#[doc = $doc:literal])+ pub const $name:ident: Intervention = Intervention { $($field:tt)* };) => {
        $(#[doc = $doc])+
        pub const $name: Intervention = Intervention {
            page: concat!($($doc, "\n"),+),
            $($field)*
            ..$crate::interventions::USUAL
        };
    };
}
use intervention;

/// All interventions.
pub const ALL: &[Intervention] = &[
    nothing::NOTHING,
    tcp_nodelay::TCP_NODELAY,
    delayed_ack_cap::DELAYED_ACK_CAP,
    quickack_route::QUICKACK_SERVER_ROUTE,
    quickack_route::QUICKACK_CLIENT_ROUTE,
    uncorked::UNCORKED,
    coalesce_tls_writes::COALESCE_TLS_WRITES,
    coalesce_writes::COALESCE_WRITES,
    send_queue_empty::SEND_QUEUE_EMPTY,
    wait_when_not_ready::WAIT_WHEN_NOT_READY,
    no_fsync::NO_FSYNC,
    cached_reads::CACHED_READS,
    cached_sources::CACHED_SOURCES,
    parse_ca_once::PARSE_CA_ONCE,
    small_ca_bundle::SMALL_CA_BUNDLE,
    same_ca_bundle::SAME_CA_BUNDLE,
    share_ssl_context::SHARE_SSL_CONTEXT,
    resume_sessions::RESUME_SESSIONS,
    empty_openssl_conf::EMPTY_OPENSSL_CONF,
    kept_algorithms::KEPT_ALGORITHMS,
    hosts_entry::HOSTS_ENTRY,
    other_hosts_entry::OTHER_HOSTS_ENTRY,
    listen_queue::LISTEN_QUEUE,
    accept_in_turn::ACCEPT_IN_TURN,
    exclusive_wakeups::EXCLUSIVE_WAKEUPS,
    refuse_silent::REFUSE_SILENT,
    no_time_wait::NO_TIME_WAIT,
    kept_connections::KEPT_CONNECTIONS,
    proxies::POOLING_PROXY,
    proxies::DRAINING_PROXY,
    proxies::COMPRESSING_PROXY,
    proxies::CACHING_PROXY,
    proxies::SHED_REQUESTS,
    timeouts::LONG_TIMEOUTS,
    timeouts::SHORT_TIMEOUTS,
    network::LOSSLESS_LINK,
    network::LARGE_BUCKET,
    network::WINDOW_KEPT_WHEN_IDLE,
    network::LARGE_FIRST_FLIGHT,
    small_segments::SMALL_SEGMENTS,
    network::SMALL_SEGMENTS_ROUTE,
    network::MTU_PROBING,
    network::LARGE_KERNEL_BUFFERS,
    network::BBR_ROUTE,
    large_http2_windows::LARGE_HTTP2_WINDOWS,
    default_buffers::DEFAULT_BUFFERS,
    all_processors::ALL_PROCESSORS,
    cpu_quota::CPU_QUOTA,
    read_buffer::READ_BUFFER,
    answer_100_continue::ANSWER_100_CONTINUE,
    default_groups::DEFAULT_GROUPS,
    newest_tls::NEWEST_TLS,
    issue_tickets::ISSUE_TICKETS,
    answer_not_found::ANSWER_NOT_FOUND,
    short_ca_path::SHORT_CA_PATH,
    buffered_entropy::BUFFERED_ENTROPY,
    drop_log_lines::DROP_LOG_LINES,
    fast_compression::FAST_COMPRESSION,
    large_heap::LARGE_HEAP,
    no_explicit_gc::NO_EXPLICIT_GC,
    keep_memory::KEEP_MEMORY,
    keep_memory::SAME_MEMORY,
    free_running::FREE_RUNNING,
    without_switches::WITHOUT_SWITCHES,
    without_switches::SAME_SWITCHES,
    more_descriptors::MORE_DESCRIPTORS,
    larger_pool::LARGER_POOL,
    same_pool::SAME_POOL,
    short_pauses::SHORT_PAUSES,
    short_sleeps::SHORT_SLEEPS,
    sleep_scale::SLEEP_SCALE,
    sleep_in_halves::SLEEP_IN_HALVES,
    bound_sscanf::BOUND_SSCANF,
    switch_off::SWITCH_OFF,
];

/// An intervention by its name.
pub fn find(name: &str) -> Option<&'static Intervention> {
    ALL.iter().find(|one| one.name == name)
}

impl Intervention {
    /// Its page as text, without the blank that a doc comment has before each line.
    pub fn page(&self) -> String {
        let lines = self.page.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// What it must do if a pathology is the cause; none where nothing is predicted.
    pub fn prediction(&self, pathology: &str) -> Option<&'static Prediction> {
        self.predictions.iter().find(|prediction| prediction.pathology == pathology)
    }

    /// What it is tried for in a finding of a pathology; none where it is not tried for that, or not here.
    pub fn purpose(&self, pathology: &str, request: &Request) -> Option<Purpose> {
        (self.purpose_here)(request, self.prediction(pathology)?.purpose)
    }
}

impl Request<'_> {
    /// The calls that the finding rests on, as far as they are known.
    fn calls(&self) -> impl Iterator<Item = &Call> {
        let known = self.recording.zip(self.finding).filter(|(_, finding)| finding.evidence.table == "calls");
        known.into_iter().flat_map(|(recording, finding)| {
            finding.evidence.rows.iter().filter_map(move |row| recording.calls.get(*row as usize))
        })
    }

    /// Whether the finding's calls were mostly made without a C library, as Go and static programs make them: as far as stacks show.
    /// A shim reaches none of these.
    fn is_made_without_libc(&self) -> bool {
        let Some(recording) = self.recording else { return false };
        let libc: BTreeSet<u32> = recording.locations.iter().filter(|row| row.is_libc).map(|row| row.id).collect();
        let innermost = recording.stacks.iter().filter(|row| row.depth == 0 && libc.contains(&row.location));
        let through: BTreeSet<u32> = innermost.map(|row| row.stack).collect();
        let seen = self.calls().filter(|call| call.stack != 0);
        let (by_libc, without): (Vec<&Call>, Vec<&Call>) = seen.partition(|call| through.contains(&call.stack));
        without.len() > by_libc.len()
    }

    /// The end whose process made the calls that the finding rests on: where the mechanism sits.
    pub fn end_of_finding(&self) -> Option<End> {
        let recording = self.recording?;
        let roles = self.calls().filter_map(|call| recording.processes.iter().find(|process| process.pid == call.pid));
        let servers = roles.map(|process| process.role == "server").collect::<Vec<_>>();
        let in_server = servers.iter().filter(|is_server| **is_server).count();
        match (servers.len(), in_server * 2 > servers.len()) {
            (0, _) => None,
            (_, true) => Some(End::Server),
            (_, false) => Some(End::Client),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::tables::Process;
    use case::{Evidence, Status};

    /// A request with nothing recorded.
    pub(super) fn request(world: &World) -> Request<'_> {
        Request { recording: None, finding: None, world, has_server: true, dose: None, about: None }
    }

    /// A recording of one call at one end, and a finding that rests on it.
    pub(super) fn finding_at(end: End) -> (Recording, Finding) {
        let process = |pid, role: End| Process { pid, role: role.word().to_string(), ..Process::default() };
        let recording = Recording {
            processes: vec![process(10, End::Client), process(20, End::Server)],
            calls: vec![Call { pid: if end == End::Client { 10 } else { 20 }, ..Call::default() }],
            ..Recording::default()
        };
        let finding = Finding {
            id: "P01".into(),
            name: "nagle-delayed-ack".into(),
            status: Status::Suspected,
            evidence: Evidence { table: "calls".into(), rows: vec![0] },
            ..Finding::default()
        };
        (recording, finding)
    }

    #[test]
    fn every_intervention_has_a_name_of_its_own_and_says_what_it_does() {
        let mut names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|one| !one.summary.is_empty() && !one.summary.ends_with('.')));
        assert!(ALL.iter().all(|one| one.stands_on.iter().all(|name| find(name).is_some())));
        assert!(ALL.iter().all(|one| one.doses.is_empty() == one.unit.is_empty()));
        assert!(ALL.iter().all(|one| one.unit.is_empty() || one.about.is_empty()), "a dose or a name, not both");
    }

    #[test]
    fn every_intervention_has_a_page_under_its_name() {
        for one in ALL {
            let page = one.page();
            assert!(page.starts_with(&format!("# {}\n", one.name)), "{page}");
            assert!(page.contains("\n## What it does\n"), "{page}");
            assert!(page.lines().all(|line| line.chars().count() <= 120), "{page}");
        }
    }

    #[test]
    fn the_end_of_a_finding_is_that_whose_calls_it_rests_on() {
        let world = World::default();
        for end in End::BOTH {
            let (recording, finding) = finding_at(end);
            let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
            assert_eq!(request.end_of_finding(), Some(end));
        }
        assert_eq!(request(&world).end_of_finding(), None);
    }
}
