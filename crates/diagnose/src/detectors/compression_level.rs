//! P40: requests wait for compression.

use super::{Found, common_caller, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::syscall;
use case::tables::Sample;
use case::{Kind, Nanos};
use std::collections::BTreeMap;

detector! {
    /// # compression-level
    ///
    /// ## What it is
    /// What is sent is compressed while the request waits, at a level that costs more time than it saves on the wire, or
    /// again for each request though it is always the same.
    ///
    /// ## Evidence
    /// CPU samples inside a compressor (zlib, zstd, brotli, LZ4, bzip2, xz and those of Go and Java) make up a fifth of the
    /// requests' time or more, without the time in which bytes were held for Nagle's algorithm or a delayed ACK: that can
    /// hide it, and goes by itself; those of a pool's threads count where a request waits for them. Or those in threads that ask, before their requests, make up a fifth of the run. They
    /// say that time goes into compression, not at which level: until a lower one has been tried, this is an observation.
    ///
    /// ## What proves it
    /// The same run at the lowest level: CPU time and latency fall. Answers become somewhat longer.
    ///
    /// ## Remedy
    /// Lower the level (nginx: gzip_comp_level, brotli_comp_level; on 330 kB of JSON zlib's 1 took a fifth of the time of
    /// 6 and a thirteenth of that of 9), leave out what is small or already compressed, and compress what does not
    /// change once (nginx: gzip_static).
    ///
    /// ## Not to be confused with
    /// Decompression, whose cost the sender's level hardly changes; a slow serializer in front of the compressor
    /// (hot-library); a slow network, where the higher level pays.
    "P40" "compression-level",
    kind: Kind::Observation,
    needs: &[Server, Samples]
}

/// Below a fifth of the exchanges' time, without what held bytes add to it, a lower level, which leaves a part of the work, hardly shows.
const MOST: f64 = 0.2;

/// Fewer samples than this say little about a share: 50 ms at the usual rate.
const SAMPLES: usize = 50;

/// What the functions of compressors begin with. Decompressors share their libraries, not these names.
const COMPRESSORS: [&str; 13] = [
    "deflate",
    "ZSTD_compress",
    "ZSTD_CCtx",
    "BrotliEncoder",
    "BrotliCompress",
    "LZ4_compress",
    "LZ4F_compress",
    "BZ2_bzCompress",
    "lzma_easy_buffer_encode",
    "Java_java_util_zip_Deflater_",
    "compress/flate.(*compressor).",
    "compress/gzip.(*Writer).",
    "github.com/andybalholm/brotli.(*Encoder).",
];

/// What some programs put before the names of a zlib of their own: Chromium and Node.js, zlib-ng.
const PREFIXES: [&str; 2] = ["Cr_z_", "zng_"];

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut kinds: BTreeMap<u32, bool> = BTreeMap::new();
    let mut compresses = |sample: &Sample| {
        *kinds.entry(sample.stack).or_insert_with(|| analysis.code.passes_through(sample.stack, is_compressor))
    };
    let numbered = analysis.recording.samples.iter().enumerate().filter(|(_, sample)| compresses(sample));
    let (found_rows, samples): (Vec<usize>, Vec<&Sample>) = numbered.unzip();
    let period = analysis.sample_period();
    let time = |is_one: &dyn Fn(&&&Sample) -> bool| samples.iter().filter(is_one).count() as u64 * period;
    let (cpu, wall) = (samples.len() as u64 * period, time(&|sample| analysis.is_for_requests(sample)));
    let outside = time(&|sample| !analysis.is_for_requests(sample) && asks(analysis, sample.tid));
    let without_held = analysis.exchange_wall().saturating_sub(analysis.held_wall());
    let is_most_of_requests = wall as f64 >= MOST * without_held as f64;
    let outside = if outside as f64 >= MOST * analysis.wall() as f64 { outside } else { 0 };
    if samples.len() < SAMPLES || analysis.exchanges.is_empty() || !(is_most_of_requests || outside > 0) {
        return None;
    }
    Some(found(analysis, PotentialSaving { wall, outside, cpu, affected: 0 }, &found_rows, &samples))
}

/// Whether a thread sends requests: what it does between them, the next one waits for.
fn asks(analysis: &Analysis, tid: u32) -> bool {
    let calls = analysis.threads.get(tid).map_or(0..0, |thread| thread.calls.clone());
    let mut writes = calls.map(|row| analysis.call(row)).filter(|call| syscall::is_write(call.number));
    writes.any(|call| {
        let slot = analysis.connections.slot(call.connection).filter(|_| call.connection != 0);
        slot.is_some_and(|slot| analysis.connections.all()[slot].end == Some(End::Client))
    })
}

fn is_compressor(function: &str) -> bool {
    let name = PREFIXES.iter().find_map(|prefix| function.strip_prefix(prefix)).unwrap_or(function);
    COMPRESSORS.iter().any(|compressor| name.starts_with(compressor))
}

fn found(analysis: &Analysis, saving: PotentialSaving, found_rows: &[usize], samples: &[&Sample]) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let place = common_caller(analysis, samples, is_compressor);
    let (part, whole) = (Nanos(saving.wall + saving.outside), Nanos(analysis.exchange_wall() + saving.outside));
    let where_to = if saving.outside > 0 { ", or before they are sent" } else { "" };
    Found {
        title: format!(
            "Compression takes {} of every {} request{}",
            Nanos(part.0 / count),
            Nanos(whole.0 / count),
            place.in_words(),
        ),
        what: "Data is compressed at a costly level".to_string(),
        mechanism: vec![
            format!(
                "{} of the requests' time is spent in a compressor{where_to}: {} samples.",
                part.share_of(whole),
                samples.len()
            ),
            "A lower level compresses the same several times faster, and a little less.".to_string(),
        ],
        saving: PotentialSaving { affected: count, ..saving },
        place,
        remedy:
            "Lower the level, leave out what is small or already compressed, and compress what does not change once."
                .to_string(),
        rows: rows("samples", found_rows.iter().copied()),
        explains: analysis.stretches(samples),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE, keep_alive, request};
    use crate::syscall::FUTEX;
    use crate::tests::{answer, names};
    use case::tables::Thread;
    use case::{Kind, Nanos, Recording};

    /// Twenty requests of 20 ms, of which the program spends so many milliseconds in a function of a library.
    fn working_in(function: &str, work: u64) -> Recording {
        working(function, work).end()
    }

    fn working(function: &str, work: u64) -> Fixture {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(
            7,
            &["libz.so.1!longest_match", &format!("libz.so.1!{function}"), "server!send_page", "server!main"],
        );
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, (20 - work) * MS, 100);
            fixture.computes(CLIENT, work * MS, 7);
            fixture.waits_for(CLIENT, 1, 10 * US, 100_000);
        }
        fixture
    }

    #[test]
    fn requests_that_spend_their_time_in_a_compressor_are_found_at_its_caller() {
        let answer = answer(&working_in("deflate", 10));
        let finding = answer.findings.iter().find(|finding| finding.name == "compression-level").expect("found");
        assert_eq!(finding.kind, Kind::Observation);
        assert!((9 * MS..11 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.title.contains("send_page"), "{}", finding.title);
    }

    #[test]
    fn decompression_and_a_little_compression_are_left_alone() {
        let is_found = |recording: &Recording| names(recording).contains(&"compression-level".to_string());
        assert!(is_found(&working_in("ZSTD_compressStream2", 10)) && is_found(&working_in("Cr_z_deflate", 10)));
        assert!(!is_found(&working_in("inflate", 10)));
        assert!(!is_found(&working_in("deflate", 3)));
    }

    /// Another thread of the server.
    const POOLED: u32 = SERVER + 2;

    /// Twenty requests that another thread of the server compresses for, while its own waits; by whom it is woken.
    fn compressed_elsewhere(woken_by: u32) -> Vec<String> {
        let mut fixture = Fixture::new();
        let start = Nanos(fixture.now);
        fixture.recording.threads.push(Thread { tid: POOLED, pid: SERVER, start, ..Thread::default() });
        fixture.stack(7, &["node!Cr_z_deflate", "node!DoThreadPoolWork", "node!start_thread"]);
        fixture.connect(1, CLIENT);
        for _ in 0..20 {
            fixture.served(|fixture| {
                let from = fixture.now;
                fixture.computes(POOLED, 10 * MS, 7);
                fixture.does(POOLED, 10 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
                let until = std::mem::replace(&mut fixture.now, from);
                fixture.waits(SERVER, until - from, FUTEX, |_| {});
                fixture.recording.switches.last_mut().expect("it waited").waker = woken_by;
            });
            let idle = Nanos(fixture.now);
            fixture.waits(POOLED, MS, FUTEX, |call| (call.start, call.pid) = (idle, SERVER));
        }
        fixture.recording.samples.iter_mut().for_each(|sample| sample.pid = SERVER);
        names(&fixture.end())
    }

    #[test]
    fn what_a_thread_of_a_pool_compresses_counts_where_a_request_waits_for_it() {
        let name = "compression-level".to_string();
        assert!(compressed_elsewhere(POOLED).contains(&name));
        assert!(!compressed_elsewhere(0).contains(&name), "nobody is known to wait for it");
    }

    /// Twenty requests, before each of which a thread compresses for 10 ms.
    fn before_requests(tid: u32) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(7, &["node!Cr_z_deflate", "node!gzip", "node!main"]);
        let start = Nanos(fixture.now);
        if tid != CLIENT {
            fixture.recording.threads.push(Thread { tid, pid: CLIENT, start, ..Thread::default() });
        }
        let mut idle = fixture.now;
        for _ in 0..20 {
            fixture.computes(tid, 10 * MS, 7);
            request(&mut fixture, CLIENT, 1, 50 * US, &mut idle);
        }
        fixture.end()
    }

    #[test]
    fn compression_before_requests_is_found_where_the_thread_that_asks_does_it() {
        let answer = answer(&before_requests(CLIENT));
        let finding = answer.findings.iter().find(|finding| finding.name == "compression-level").expect("found");
        assert!((9 * MS..11 * MS).contains(&finding.cost.between_ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.mechanism[0].contains("before they are sent"), "{:?}", finding.mechanism);
        assert!(!names(&before_requests(CLIENT + 9)).contains(&"compression-level".to_string()));
    }

    /// The same, with 40 ms in each request for which its last bytes are held until the server's delayed acknowledgement.
    fn held_as_well(function: &str, work: u64) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(
            7,
            &["libz.so.1!longest_match", &format!("libz.so.1!{function}"), "server!send_page", "server!main"],
        );
        for _ in 0..60 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 112);
            fixture.travels(start + 3 * US, 1, 1001, 112);
            fixture.computes(CLIENT, work * MS, 7);
            fixture.moves(CLIENT, 1, WRITE, 109);
            let waiting = fixture.now;
            let acknowledged = waiting + 40 * MS;
            fixture.timer_fires(acknowledged - 6 * US, 1001);
            fixture.acknowledges(acknowledged, 1001, 1);
            fixture.travels(acknowledged + 25 * US, 1, 1001, 109);
            fixture.travels(acknowledged + 100 * US, 1001, 1, 300);
            fixture.waits_for(CLIENT, 1, acknowledged + 110 * US - waiting, 300);
            let answered = fixture.now;
            fixture.now = start + 10 * US;
            fixture.moves(SERVER, 1001, READ, 112);
            fixture.now = acknowledged + 35 * US;
            fixture.moves(SERVER, 1001, READ, 109);
            fixture.now = acknowledged + 95 * US;
            fixture.moves(SERVER, 1001, WRITE, 300);
            fixture.now = answered + MS;
        }
        fixture.end()
    }

    #[test]
    fn compression_that_a_stall_would_hide_is_found_beside_it() {
        let found = names(&held_as_well("deflate", 1));
        assert_eq!(found, ["nagle-delayed-ack", "compression-level"]);
        assert_eq!(names(&held_as_well("inflate", 1)), ["nagle-delayed-ack"]);
    }
}
