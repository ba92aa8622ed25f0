//! P04: a message in many small TLS records.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::pieces;
use crate::threads::{busy_part, call_end};
use case::Nanos;
use case::tables::Call;

detector! {
    /// # tiny-tls-records
    ///
    /// ## What it is
    /// A message is written to a TLS connection in many small pieces. Each becomes a record of its own, which is encrypted,
    /// sent, received and decrypted by itself, with 22 bytes or more added to it.
    ///
    /// ## Evidence
    /// Four writes or more of at most 1,024 bytes each on one connection after its handshake, at most a millisecond apart,
    /// without a read in between; the CPU time of all but the first write of each such run. What encrypting and reading each
    /// of them costs comes on top.
    ///
    /// ## What proves it
    /// Collecting what the program hands to SSL_write until it reads or waits: records, calls and CPU time fall.
    ///
    /// ## Remedy
    /// Put a buffer before the TLS connection and flush it once per message (a BufferedWriter, bufio.Writer, BIO_f_buffer), or
    /// raise the server's record size (nginx: ssl_buffer_size).
    ///
    /// ## Not to be confused with
    /// split-writes (the same without TLS: only the calls are saved); a stream whose pieces are produced one after the other;
    /// records of one segment at the start of a connection, as some libraries make them to be readable early; HTTP/2, whose
    /// frames belong to many messages.
    "P04" "tiny-tls-records",
    needs: &[Tcp, SingleStreams, TlsRecords, Calls]
}

/// More than this in a record, and its fixed costs are small beside those of its bytes: 1 kB, as in the catalogue.
const SMALL: i64 = 1_024;

/// What TLS adds to a record at most with ciphers in use: header 5, explicit nonce 8 or IV 16, tag 16 or MAC 32 with padding 16.
const ADDED: i64 = 69;

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut saving = PotentialSaving::default();
    let mut explains = Vec::new();
    let mut later = Vec::new();
    let mut example: Option<Vec<usize>> = None;
    let (mut records, mut bytes) = (0, 0);
    let slots = 0..analysis.connections.all().len();
    for slot in slots.filter(|&slot| pieces::are_of_one_message(analysis, slot)) {
        for run in runs(analysis, slot) {
            saving.affected += 1;
            records += run.len() as u64;
            bytes += run.iter().map(|&row| analysis.call(row).result as u64).sum::<u64>();
            for &row in &run[1..] {
                let call = analysis.call(row);
                let cpu = busy_part(call);
                let (inside, outside) = analysis.split(call.tid, call.start.0, call.start.0.saturating_add(cpu));
                saving.cpu += cpu;
                saving.wall += inside;
                saving.outside += outside;
                explains.push((call.tid, call.start.0, call_end(call)));
                later.push((row, cpu));
            }
            example.get_or_insert(run);
        }
    }
    let example = example?;
    let first = analysis.call(example[0]);
    let place = costly_call(analysis, later);
    let slot = analysis.connections.slot(first.connection);
    let owner = slot.map_or("a program".to_string(), |slot| format!("the {}", analysis.end(slot)));
    let (each, mean) = (records / saving.affected.max(1), bytes / records.max(1));
    let what = format!("Messages are written in {each} TLS records of {mean} bytes each");
    let title = format!(
        "{what}: {} of CPU per request for writes that one could replace{}",
        Nanos(saving.cpu / analysis.exchanges.len().max(1) as u64),
        place.in_words(),
    );
    let mechanism = vec![
        format!(
            "{records} records in {} messages; {owner} writes each by itself and reads nothing in between.",
            saving.affected
        ),
        "Each is encrypted and sent by itself, and the peer reads and decrypts each by itself.".to_string(),
    ];
    let remedy = "Put a buffer before the TLS connection and flush it once per message.".to_string();
    let rows = rows("calls", example);
    Some(Found { title, what, mechanism, saving, place, remedy, rows, explains, ..Found::default() })
}

/// Runs of small records of the program's own, which the handshake is not.
fn runs(analysis: &Analysis, slot: usize) -> Vec<Vec<usize>> {
    let Some(handshake) = analysis.connections.handshake(slot) else { return Vec::new() };
    let is_small = |call: &Call| call.start >= handshake.end && call.result <= SMALL + ADDED;
    pieces::runs(analysis, slot, is_small)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, keep_alive};
    use crate::tests::names;
    use case::Nanos;

    /// Requests of so many writes of so many bytes each, over a connection with a handshake or without one.
    fn written(is_encrypted: bool, count: u32, bytes: i64) -> Vec<String> {
        let mut fixture = keep_alive(20, 100 * US);
        if is_encrypted {
            shake_hands(&mut fixture);
        }
        for _ in 0..20 {
            for _ in 0..count {
                fixture.moves(CLIENT, 1, WRITE, bytes);
                fixture.now += US;
            }
            fixture.waits_for(CLIENT, 1, 50 * US, 100);
        }
        names(&fixture.end())
    }

    fn shake_hands(fixture: &mut Fixture) {
        let now = fixture.now;
        fixture.handshake(1, CLIENT, MS, |row| row.end = Nanos(now));
    }

    #[test]
    fn a_message_in_many_small_records_is_found_and_not_called_split_writes() {
        assert_eq!(written(true, 10, 60), ["tiny-tls-records"]);
    }

    #[test]
    fn without_tls_it_is_not_this() {
        assert_eq!(written(false, 10, 60), ["split-writes"]);
    }

    #[test]
    fn head_and_body_in_two_records_are_left_alone() {
        assert_eq!(written(true, 2, 60), Vec::<String>::new());
    }

    #[test]
    fn records_of_a_segment_each_are_left_alone() {
        assert_eq!(written(true, 10, 1_378), Vec::<String>::new());
    }

    #[test]
    fn the_records_of_a_handshake_are_left_alone() {
        let mut fixture = keep_alive(20, 100 * US);
        for _ in 0..6 {
            fixture.moves(CLIENT, 1, WRITE, 60);
        }
        shake_hands(&mut fixture);
        fixture.waits_for(CLIENT, 1, 50 * US, 100);
        assert!(!names(&fixture.end()).contains(&"tiny-tls-records".to_string()));
    }
}
