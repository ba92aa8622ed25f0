//! The list of detectors. Each is one file: its page (the doc comment), its rule, its test.
//!
//! To add one: write `NAME.rs` with a `detector!` declaration and a `detect` function, and add a line to [`ALL`].

mod allocator_pressure;
mod app_window_below_bdp;
mod beat;
mod body_not_drained;
mod bufferbloat;
mod busy_spin;
mod ca_bundle_per_context;
mod ca_path_layout;
mod call_filters;
mod chain_over_initial_window;
mod client_per_request;
mod close_wait_framing;
mod compiled_per_request;
mod compression_level;
mod connection_churn;
mod context_per_request;
mod corked_writes;
mod costly_switch;
mod cpu_affinity;
mod cpu_quota_throttling;
mod dead_ipv6;
mod debug_build;
mod delayed_ack_at_mss_multiple;
mod expect_continue;
mod files_per_request;
mod fixed_socket_buffers;
mod fresh_connections;
pub mod healthy;
mod held_up;
mod hello_retry;
mod hot_library;
mod idle_cpus;
mod in_kernel;
mod inline_revocation_check;
mod listen_backlog_overflow;
mod lock_convoy;
mod loss_and_rto;
mod memory_churn;
mod missed_readiness;
mod mtu_blackhole;
mod nagle_delayed_ack;
mod name_lookup;
mod no_resumption;
mod occupied;
mod older_tls;
mod openssl3_fetch_locks;
mod packet_filter;
mod poll_scan;
mod pool_exhausted;
mod port_exhaustion;
mod process_per_request;
mod refetched_answers;
mod regex_matching;
mod retry_storm;
mod saturated_thread;
mod serial_requests;
mod server_rate_limit;
mod silent_upstream;
mod sleep_polling;
mod slow_clock_or_entropy;
mod slow_key_type;
mod slow_reader;
mod slow_start_after_idle;
mod small_kernel_buffers;
mod split_writes;
mod startup_self_tests;
mod stopped_by_signals;
mod superlinear_work;
mod sync_disk;
mod table_scan;
mod thundering_herd;
mod tiny_reads;
mod tiny_tls_records;
mod tiny_writes;
mod token_bucket;
mod traced_program;
mod uncached_reads;
mod uncompressed_answers;
mod uneven_accept;
mod work;

use crate::analysis::{Analysis, PotentialSaving};
use crate::place::{self, Located};
use case::facts::Observation;
use case::tables::Sample;
use case::{Kind, Nanos};
use std::collections::BTreeMap;
use work::{Work, goes_on, work_in_requests};

/// A pathology's page, for `explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The stable identifier, `P01`.
    pub id: &'static str,
    /// The name, `nagle-delayed-ack`.
    pub name: &'static str,
    /// The detector's doc comment.
    pub text: &'static str,
}

/// A detector.
pub struct Detector {
    /// What it looks for.
    pub page: Page,
    /// Looks for it.
    pub detect: fn(&Analysis) -> Option<Found>,
    /// Whether it names a cause, or only where the time goes.
    pub kind: Kind,
    /// Whether it only says where CPU time went, not by what mechanism. It then gives way to findings that stand
    /// before it and explain half of that time.
    pub is_general: bool,
    /// Identifiers of the pathologies that it is a consequence of: beside one of them it says nothing new.
    pub follows_from: &'static [&'static str],
    /// Whether packets on a wire are enough for it, without anything of processes.
    pub on_the_wire: bool,
    /// Whether it looks by itself at all that servers ask each other.
    pub looks_behind: bool,
    /// What a recording must show for it to be seen, or to be seen in full.
    pub needs: &'static [Needs],
    /// Why nothing outside can switch it off, in a sentence; empty where something can.
    pub not_switched: &'static str,
    /// What it saw held back for want of a full segment. With it a swept size can be tied to the size of segments.
    pub held: Option<fn(&Analysis) -> HeldLengths>,
}

/// What a recording may not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The server's threads.
    Server,
    /// TCP connections.
    Tcp,
    /// Requests over TCP: nothing of it is seen in datagrams.
    Requests,
    /// One request at a time on a connection.
    SingleStreams,
    /// The records of TLS, as they are written and read.
    TlsRecords,
    /// Calls that read, write or sync.
    Calls,
    /// CPU samples: they alone show it.
    Samples,
    /// Questions to name servers.
    Lookups,
}

/// How often bytes of a length were held back on connections with segments of a size: by length and by size (MSS).
pub type HeldLengths = BTreeMap<(u32, u32), usize>;

impl Detector {
    /// One that stands for itself.
    const fn new(page: Page, detect: fn(&Analysis) -> Option<Found>) -> Detector {
        Detector {
            page,
            detect,
            kind: Kind::Cause,
            is_general: false,
            follows_from: &[],
            on_the_wire: false,
            looks_behind: false,
            needs: &[],
            not_switched: "",
            held: None,
        }
    }
}

/// What a detector found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// One sentence: what is wrong and what it costs.
    pub title: String,
    /// What is wrong, without figures that trials replace and without the place.
    pub what: String,
    /// How it comes about, a sentence each.
    pub mechanism: Vec<String>,
    /// What the claim rests on, measured.
    pub observed: Vec<Observation>,
    /// What removing it could save at most.
    pub saving: PotentialSaving,
    /// Where in the code most of it is.
    pub place: Located,
    /// What to change.
    pub remedy: String,
    /// The rows that show it.
    pub rows: case::Evidence,
    /// When it happened, start and end, where it is a wait that can be told by itself.
    pub stalls: Vec<(u64, u64)>,
    /// CPU time it explains: thread, start, end.
    pub explains: Vec<(u32, u64, u64)>,
}

/// Declares a detector: its page is its doc comment. How it stands to other findings follows its name, field by field.
macro_rules! detector {
    ($(#[doc = $doc:literal])+ $id:literal $name:literal $(, $field:ident: $value:expr)*) => {
        $(#[doc = $doc])+
        pub const DETECTOR: $crate::detectors::Detector = {
            #[allow(unused_imports)]
            use $crate::detectors::Needs::*;
            $crate::detectors::Detector {
                $($field: $value,)*
                ..$crate::detectors::Detector::new(
                    $crate::detectors::Page { id: $id, name: $name, text: concat!($($doc, "\n"),+) },
                    detect,
                )
            }
        };
    };
}
use detector;

/// Every detector; where two explain the same time, the more specific stands first.
pub const ALL: &[Detector] = &[
    app_window_below_bdp::DETECTOR,
    fixed_socket_buffers::DETECTOR,
    small_kernel_buffers::DETECTOR,
    delayed_ack_at_mss_multiple::DETECTOR,
    nagle_delayed_ack::DETECTOR,
    corked_writes::DETECTOR,
    inline_revocation_check::DETECTOR,
    startup_self_tests::DETECTOR,
    ca_path_layout::DETECTOR,
    ca_bundle_per_context::DETECTOR,
    context_per_request::DETECTOR,
    hello_retry::DETECTOR,
    older_tls::DETECTOR,
    slow_key_type::DETECTOR,
    openssl3_fetch_locks::DETECTOR,
    no_resumption::DETECTOR,
    client_per_request::DETECTOR,
    body_not_drained::DETECTOR,
    connection_churn::DETECTOR,
    name_lookup::DETECTOR,
    dead_ipv6::DETECTOR,
    silent_upstream::DETECTOR,
    listen_backlog_overflow::DETECTOR,
    mtu_blackhole::DETECTOR,
    bufferbloat::DETECTOR,
    loss_and_rto::DETECTOR,
    token_bucket::DETECTOR,
    slow_start_after_idle::DETECTOR,
    chain_over_initial_window::DETECTOR,
    expect_continue::DETECTOR,
    port_exhaustion::DETECTOR,
    retry_storm::DETECTOR,
    close_wait_framing::DETECTOR,
    server_rate_limit::DETECTOR,
    slow_reader::DETECTOR,
    cpu_quota_throttling::DETECTOR,
    cpu_affinity::DETECTOR,
    sync_disk::DETECTOR,
    uncached_reads::DETECTOR,
    sleep_polling::DETECTOR,
    missed_readiness::DETECTOR,
    uneven_accept::DETECTOR,
    thundering_herd::DETECTOR,
    pool_exhausted::DETECTOR,
    lock_convoy::DETECTOR,
    process_per_request::DETECTOR,
    busy_spin::DETECTOR,
    poll_scan::DETECTOR,
    compiled_per_request::DETECTOR,
    regex_matching::DETECTOR,
    superlinear_work::DETECTOR,
    compression_level::DETECTOR,
    memory_churn::DETECTOR,
    packet_filter::DETECTOR,
    call_filters::DETECTOR,
    table_scan::DETECTOR,
    allocator_pressure::DETECTOR,
    debug_build::DETECTOR,
    costly_switch::DETECTOR,
    traced_program::DETECTOR,
    stopped_by_signals::DETECTOR,
    slow_clock_or_entropy::DETECTOR,
    files_per_request::DETECTOR,
    tiny_reads::DETECTOR,
    tiny_writes::DETECTOR,
    tiny_tls_records::DETECTOR,
    split_writes::DETECTOR,
    uncompressed_answers::DETECTOR,
    refetched_answers::DETECTOR,
    serial_requests::DETECTOR,
    hot_library::DETECTOR,
    saturated_thread::DETECTOR,
];

/// A handful of rows is shown as evidence, not all.
const SHOWN_ROWS: usize = 5;

/// Rows of a table as evidence: the first few.
fn rows(table: &str, rows: impl IntoIterator<Item = usize>) -> case::Evidence {
    let rows = rows.into_iter().take(SHOWN_ROWS).map(|row| row as u64).collect();
    case::Evidence { table: table.to_string(), rows }
}

/// The middle value; 0 of nothing.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// What is wrong, with what it costs the mean request and where: `...: 3.60 ms of every 5.25 ms request, server.py:51 in rates`.
fn of_every_request(analysis: &Analysis, what: &str, wall: u64, place: &Located) -> String {
    let requests = analysis.exchanges.len().max(1) as u64;
    let (part, whole) = (Nanos(wall / requests), Nanos(analysis.exchange_wall() / requests));
    format!("{what}: {part} of every {whole} request{}", place.in_words())
}

/// The place where most of some samples were taken.
fn common_place(analysis: &Analysis, samples: &[&Sample]) -> Located {
    place::of_most_on_cpu(&analysis.code, samples.iter().map(|sample| ((sample.script_stack, sample.stack), 1)))
}

/// From where a function that the test accepts was called when most of some samples were taken.
fn common_caller(analysis: &Analysis, samples: &[&Sample], accepts: impl Fn(&str) -> bool) -> Located {
    let stacks = samples.iter().map(|sample| ((sample.script_stack, sample.stack), 1));
    place::of_most_by(stacks, |script, native| place::of_callers(&analysis.code, script, native, &accepts))
}

/// The place where calls took most of something: each call's row with its part of it.
fn costly_call(analysis: &Analysis, calls: impl IntoIterator<Item = (usize, u64)>) -> Located {
    analysis.place_of_calls(calls)
}

/// A path by its id, as the program gave it.
fn path_name<'r>(analysis: &Analysis<'r>, id: u32) -> &'r str {
    let paths = &analysis.recording.paths;
    paths.binary_search_by_key(&id, |row| row.id).map_or("a file", |index| paths[index].path.as_str())
}

/// The part of stalls (connection, start, end) that falls into exchanges: those on the same connection, or all where it is a
/// server's own that stalled.
fn within_exchanges(analysis: &Analysis, stalls: impl Iterator<Item = (usize, u64, u64)>) -> u64 {
    let mut spans: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
    let mut all = Vec::new();
    for exchange in &analysis.exchanges {
        spans.entry(exchange.connection).or_default().push((exchange.start, exchange.end));
        all.push((exchange.start, exchange.end));
    }
    let all = crate::spans::merge(all);
    let overlap = |spans: &[(u64, u64)], from: u64, to: u64| -> u64 {
        let first = spans.partition_point(|&(_, end)| end <= from);
        let here = spans[first..].iter().take_while(|&&(start, _)| start < to);
        here.map(|&(start, end)| end.min(to).saturating_sub(start.max(from))).sum()
    };
    let counted = |(slot, from, to): (usize, u64, u64)| {
        let peer = analysis.connections.all()[slot].peer;
        let own = spans.get(&slot).or_else(|| peer.and_then(|peer| spans.get(&peer)));
        overlap(own.map_or(&all, |spans| spans), from, to)
    };
    stalls.map(counted).sum()
}
