//! P03: one message in many small writes.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::pieces;
use crate::threads::{busy_part, call_end};
use case::Nanos;

detector! {
    /// # split-writes
    ///
    /// ## What it is
    /// A message is written in many small pieces. Each costs a syscall, a segment and a wake-up of the peer, although
    /// all of them were ready at the same time.
    ///
    /// ## Evidence
    /// Four writes or more of at most 512 bytes each on one connection, at most a millisecond apart, without a read in
    /// between, from whomever, or a wait for one; the CPU time of all but the first write of each such run. Elapsed time may fall as well, or not: the peer
    /// already works on the first pieces while the others are written.
    ///
    /// ## What proves it
    /// Buffering the pieces until the program reads or waits: calls, segments and CPU time fall.
    ///
    /// ## Remedy
    /// Write into a buffer and flush it once per message, or use writev, MSG_MORE or TCP_CORK.
    ///
    /// ## Not to be confused with
    /// nagle-delayed-ack (there a piece is held back; such runs are left to it); tiny-tls-records (each piece is encrypted by
    /// itself as well); a stream whose pieces are produced one after the other; answers to pipelined requests, each of which is a
    /// message; messages that a server pushes as they come from others; a head written before a file sent with sendfile; datagrams, each of which is a message; bytes by which the threads
    /// of a program wake each other.
    "P03" "split-writes",
    needs: &[Tcp, SingleStreams, Calls]
}

/// A piece larger than this is worth a call of its own.
const SMALL: i64 = 512;

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut saving = PotentialSaving::default();
    let mut explains = Vec::new();
    let mut example: Option<Vec<usize>> = None;
    let mut later = Vec::new();
    let mut pieces = 0;
    let slots = 0..analysis.connections.all().len();
    for slot in slots.filter(|&slot| pieces::are_of_one_message(analysis, slot)) {
        for run in runs(analysis, slot) {
            saving.affected += 1;
            pieces += run.len();
            for &row in &run[1..] {
                let call = analysis.call(row);
                let cpu = busy_part(call);
                // No elapsed time is claimed: the peer reads the first pieces while the others are written.
                saving.cpu += cpu;
                explains.push((call.tid, call.start.0, call_end(call)));
                later.push((row, cpu));
            }
            example.get_or_insert(run);
        }
    }
    let example = example?;
    let first = analysis.call(example[0]);
    let place = costly_call(analysis, later);
    let owner = analysis
        .connections
        .slot(first.connection)
        .map_or("a program".to_string(), |slot| format!("the {}", analysis.end(slot)));
    let sizes: Vec<String> = example.iter().take(8).map(|&row| analysis.call(row).result.to_string()).collect();
    let title = format!(
        "Messages are written in {} pieces each: {} of CPU per request for writes that one could replace{}",
        pieces as u64 / saving.affected.max(1),
        Nanos(saving.cpu / analysis.exchanges.len().max(1) as u64),
        place.in_words(),
    );
    let mechanism = vec![
        format!("In one turn, {owner} writes {} bytes, one call each, without reading in between.", sizes.join(" + ")),
        format!("{} messages were written like that, in {pieces} calls; nothing held them up.", saving.affected),
    ];
    let remedy = "Collect a message in a buffer and write it once (or use writev, MSG_MORE, TCP_CORK).".to_string();
    let what = format!("Messages are written in {} pieces each", pieces as u64 / saving.affected.max(1));
    let rows = rows("calls", example);
    Some(Found { title, what, mechanism, saving, place, remedy, rows, explains, ..Found::default() })
}

/// Runs of small writes that belong together and that Nagle's algorithm did not hold. With TLS they are records
/// (tiny-tls-records).
fn runs(analysis: &Analysis, slot: usize) -> Vec<Vec<usize>> {
    if analysis.connections.handshake(slot).is_some() {
        return Vec::new();
    }
    let mut runs = pieces::runs(analysis, slot, |call| call.result <= SMALL);
    runs.retain(|run| !is_held(analysis, slot, run));
    runs
}

fn is_held(analysis: &Analysis, slot: usize, run: &[usize]) -> bool {
    let send_stalls = &analysis.connections.all()[slot].send_stalls;
    let start = analysis.call(run[0]).start.0;
    let end = run.last().map_or(start, |&row| call_end(analysis.call(row)));
    let first = send_stalls.partition_point(|stall| stall.start < start);
    send_stalls[first..].iter().take_while(|stall| stall.start <= end).any(|stall| stall.nagle.is_some())
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, US, WRITE, keep_alive};
    use crate::tests::names;
    use case::Recording;
    use case::tables::{content, transport};

    fn pieces(count: u32, apart: u64) -> Vec<String> {
        names(&writing(keep_alive(20, 100 * US), count, apart))
    }

    fn writing(mut fixture: Fixture, count: u32, apart: u64) -> Recording {
        for _ in 0..20 {
            for _ in 0..count {
                fixture.moves(CLIENT, 1, WRITE, 20);
                fixture.now += apart;
            }
            fixture.waits_for(CLIENT, 1, 50 * US, 100);
        }
        fixture.end()
    }

    #[test]
    fn messages_of_many_requests_at_a_time_are_left_alone() {
        let mut plain = keep_alive(20, 100 * US);
        let first = plain.recording.calls.iter_mut().find(|call| call.connection == 1 && call.number == WRITE);
        first.expect("a write").content = content::HTTP2_PREFACE;
        assert_eq!(names(&writing(plain, 10, US)), Vec::<String>::new());
        let mut encrypted = keep_alive(20, 100 * US);
        encrypted.handshake(1, CLIENT, MS, |row| {
            (row.protocols, row.end) = ("h2,http/1.1".to_string(), row.start + case::Nanos(50 * US));
        });
        assert_eq!(names(&writing(encrypted, 10, US)), Vec::<String>::new());
    }

    #[test]
    fn answers_to_pipelined_requests_are_messages_of_their_own() {
        let mut recording = writing(keep_alive(20, 100 * US), 10, US);
        for call in recording.calls.iter_mut().filter(|call| call.connection == 1 && call.number == WRITE) {
            call.content = content::HTTP_RESPONSE;
        }
        assert_eq!(names(&recording), Vec::<String>::new());
    }

    #[test]
    fn a_message_in_many_small_writes_is_found() {
        assert_eq!(pieces(10, US), ["split-writes"]);
    }

    #[test]
    fn datagrams_and_bytes_to_itself_are_left_alone() {
        let mut datagrams = keep_alive(20, 100 * US);
        datagrams.recording.connections.iter_mut().for_each(|row| row.transport = transport::UDP);
        assert_eq!(names(&writing(datagrams, 10, US)), Vec::<String>::new());
        let mut itself = keep_alive(20, 100 * US);
        itself.recording.connections.iter_mut().for_each(|row| row.pid = CLIENT);
        assert_eq!(names(&writing(itself, 10, US)), Vec::<String>::new());
    }

    #[test]
    fn messages_that_are_passed_on_as_they_come_are_left_alone() {
        let passed_on = |from_others: bool| {
            let mut fixture = keep_alive(20, 100 * US);
            fixture.connect(2, CLIENT);
            for _ in 0..20 {
                for _ in 0..10 {
                    fixture.moves(CLIENT, 1, WRITE, 36);
                    fixture.moves(CLIENT, if from_others { 2 } else { 0 }, READ, 36);
                }
                fixture.waits_for(CLIENT, 1, 50 * US, 100);
            }
            names(&fixture.end())
        };
        assert_eq!(passed_on(true), Vec::<String>::new());
        assert_eq!(passed_on(false), ["split-writes"], "out of a file");
    }

    #[test]
    fn head_and_body_in_two_writes_are_left_alone() {
        assert_eq!(pieces(2, US), Vec::<String>::new());
    }

    #[test]
    fn pieces_that_come_one_after_the_other_are_left_alone() {
        assert_eq!(pieces(10, 2_000 * US), Vec::<String>::new());
    }
}
