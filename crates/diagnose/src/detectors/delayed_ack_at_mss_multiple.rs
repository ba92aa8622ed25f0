//! P02: a kernel that delays the ACK of exactly those writes that fill their segments.

use super::nagle_delayed_ack::{self, Stall};
use super::{Found, costly_call, detector, median, rows, within_exchanges};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use case::Nanos;
use case::tables::direction;
use std::collections::BTreeSet;

detector! {
    /// # delayed-ack-at-mss-multiple
    ///
    /// ## What it is
    /// Until October 2023, Linux acknowledged at once what a program had read if that was less than a segment, or more than one, and
    /// delayed the ACK by 40 ms where a write filled its segments exactly. A sender that waits for the ACK, for Nagle's
    /// algorithm, then stalls after messages that fill their segments, and after no others. Linux itself is no such sender: what it
    /// has sent in full segments holds nothing back (Minshall's variant of the algorithm); other systems are.
    ///
    /// ## Evidence
    /// Small writes that are held until a delayed ACK of the bytes before them, which are a multiple of the segment size (MSS); nearly
    /// all that are held so; and on the same connections small writes that left at once, though the bytes before them were
    /// not acknowledged long before either: those were no such multiple. A receiving end on a kernel that is known to be
    /// mended is left out; distributions' version numbers (6.1.0-18) do not tell.
    ///
    /// ## What proves it
    /// A byte more or less in the write before, a newer kernel at the receiving end, or TCP_NODELAY at the sending one: the stall is
    /// gone. `whyslow sweep` over the size shows stalls at multiples of a segment alone.
    ///
    /// ## Remedy
    /// A kernel of after October 2023 at the receiving end (Linux 6.6, or 6.5.7, 6.1.57, 5.10.198, 4.19.296, 4.14.327 and what
    /// followed them), or TCP_NODELAY at the sending end.
    ///
    /// ## Not to be confused with
    /// nagle-delayed-ack (pieces of any size are held).
    "P02" "delayed-ack-at-mss-multiple",
    on_the_wire: true,
    needs: &[Tcp]
}

/// Fewer stalls, or small writes that were not held, are chance.
const REPEATED: usize = 3;
/// So many of all stalls must follow a multiple.
const MOSTLY: f64 = 0.9;
/// The first Linux without it ("tcp: fix delayed ACKs for MSS boundary condition"), and the first of each older series.
const MENDED: [(u32, u32, u32); 6] = [(6, 6, 0), (6, 5, 7), (6, 1, 57), (5, 10, 198), (4, 19, 296), (4, 14, 327)];

fn detect(analysis: &Analysis) -> Option<Found> {
    let all = nagle_delayed_ack::stalls(analysis);
    let count = all.len();
    let stalls: Vec<Stall> = all.into_iter().filter(|stall| is_after_multiple(analysis, stall)).collect();
    if stalls.len() < REPEATED || (stalls.len() as f64) < MOSTLY * count as f64 {
        return None;
    }
    let slots: BTreeSet<usize> = stalls.iter().map(|stall| stall.slot).collect();
    let free: usize = slots.iter().map(|&slot| free(analysis, slot)).sum();
    (free >= REPEATED).then(|| found(analysis, &stalls, free))
}

/// Whether the bytes before a held write fill their segments, at a receiving end that may delay their ACK for that.
fn is_after_multiple(analysis: &Analysis, stall: &Stall) -> bool {
    let mss = u64::from(analysis.connections.row(stall.slot).mss);
    if mss == 0 || is_mended(analysis, stall.slot) {
        return false;
    }
    let segments = analysis.connections.segments(stall.slot);
    let before = segments.partition_point(|row| row.time.0 <= stall.release.sent);
    let turn = segments[..before].iter().rev().filter(|row| row.payload > 0);
    let bytes: u64 = turn.take_while(|row| row.direction == direction::OUT).map(|row| u64::from(row.payload)).sum();
    bytes > 0 && bytes.is_multiple_of(mss)
}

/// Whether the receiving end is on the kernel that was recorded, and that is known to be mended.
fn is_mended(analysis: &Analysis, slot: usize) -> bool {
    let kernel = &analysis.recording.manifest.host.kernel;
    let mut numbers = kernel.split(['.', '-', '+']).map_while(|part| part.parse::<u32>().ok());
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else { return false };
    let version = (major, minor, numbers.next().unwrap_or(0));
    let in_its_series = |first: &(u32, u32, u32)| (first.0, first.1) == (major, minor) && version >= *first;
    analysis.connections.all()[slot].peer.is_some() && (version >= MENDED[0] || MENDED.iter().any(in_its_series))
}

/// How many small segments followed soon upon others of the same turn that were no multiple.
fn free(analysis: &Analysis, slot: usize) -> usize {
    let mss = u64::from(analysis.connections.row(slot).mss.max(1));
    let (mut before, mut last, mut count) = (0u64, 0, 0);
    for row in analysis.connections.segments(slot).iter().filter(|row| row.payload > 0) {
        if row.direction != direction::OUT {
            before = 0;
            continue;
        }
        let is_soon = row.time.0 - last < nagle_delayed_ack::DELAYED;
        count += usize::from(!before.is_multiple_of(mss) && u64::from(row.payload) < mss && is_soon);
        (before, last) = (before + u64::from(row.payload), row.time.0);
    }
    count
}

fn found(analysis: &Analysis, stalls: &[Stall], free: usize) -> Found {
    let within = within_exchanges(analysis, stalls.iter().map(Stall::held));
    let place = costly_call(analysis, stalls.iter().map(|stall| (stall.write, stall.end - stall.start)));
    let count = analysis.exchanges.len().max(1) as u64;
    let sender = analysis.end(stalls[0].slot);
    let receiver = sender.other();
    let late = median(stalls.iter().map(|one| one.release.acknowledged.saturating_sub(one.release.sent)).collect());
    let what = format!("The {receiver}'s kernel delays the ACKs of writes that fill their segments exactly");
    Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(within / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!(
                "{} times the {sender} had sent a multiple of {} bytes, the size of a segment, and its kernel held what came next \
                 until the ACK, {} after the data (Nagle's algorithm).",
                number::count(stalls.len() as u64),
                analysis.connections.row(stalls[0].slot).mss,
                Nanos(late),
            ),
            format!(
                "{} times it had sent no such multiple, and what came next left at once. Linux of before October 2023 acknowledges \
                 at once what is less than a segment or more than one, and delays the ACK of what is exactly that.",
                number::count(free as u64)
            ),
        ],
        saving: PotentialSaving { wall: within, outside: 0, cpu: 0, affected: stalls.len() as u64 },
        remedy: format!(
            "Use a kernel of after October 2023 (6.6, 6.1.57) at the {receiver}, or set TCP_NODELAY on the socket of the {sender}."
        ),
        rows: rows("calls", stalls.iter().map(|stall| stall.write)),
        stalls: stalls.iter().map(|stall| (stall.start, stall.end)).collect(),
        place,
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::Recording;

    const MSS: u32 = 1448;

    /// Twenty requests in two writes, the first of so many bytes, by number; the ACK of a first write that fills its segments is
    /// delayed where the kernel does that, and every one where `always`.
    fn requests(first: impl Fn(u64) -> u32, kernel: &str, always: bool) -> Recording {
        let mut fixture = Fixture::new();
        fixture.recording.manifest.host.kernel = kernel.to_string();
        fixture.connect(1, CLIENT);
        for number in 0..20 {
            let bytes = first(number);
            let is_late = always || bytes.is_multiple_of(MSS);
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, i64::from(bytes));
            fixture.travels(start + 3 * US, 1, 1001, bytes);
            fixture.moves(CLIENT, 1, WRITE, 109);
            let waiting = fixture.now;
            let acknowledged = start + if is_late { 41 * MS } else { 50 * US };
            if is_late {
                fixture.timer_fires(acknowledged - 6 * US, 1001);
            }
            fixture.acknowledges(acknowledged, 1001, 1);
            fixture.travels(acknowledged + 25 * US, 1, 1001, 109);
            fixture.travels(acknowledged + 100 * US, 1001, 1, 300);
            fixture.waits_for(CLIENT, 1, acknowledged + 110 * US - waiting, 300);
            let answered = fixture.now;
            fixture.now = start + 10 * US;
            fixture.moves(SERVER, 1001, READ, i64::from(bytes));
            fixture.now = acknowledged + 35 * US;
            fixture.moves(SERVER, 1001, READ, 109);
            fixture.now = acknowledged + 95 * US;
            fixture.moves(SERVER, 1001, WRITE, 300);
            fixture.now = answered + MS;
        }
        fixture.end()
    }

    /// Every other first write fills its segments, one or two of them.
    fn some(number: u64) -> u32 {
        if number.is_multiple_of(2) { MSS * (1 + number as u32 / 2 % 2) } else { 1000 }
    }

    #[test]
    fn stalls_after_multiples_of_a_segment_alone_are_the_kernels_and_not_nagles_in_general() {
        assert_eq!(names(&requests(some, "6.1.56", false)), ["delayed-ack-at-mss-multiple"]);
        let answer = answer(&requests(some, "6.1.0-18-amd64", false));
        let found: Vec<&str> = answer.findings.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(found, ["delayed-ack-at-mss-multiple"]);
        assert_eq!(answer.findings[0].cost.affected, 10);
        assert!(answer.findings[0].cost.share_of_wall > 0.9, "{:?}", answer.findings[0].cost);
    }

    #[test]
    fn stalls_at_any_size_or_one_size_alone_or_on_a_mended_kernel_are_nagles() {
        for recording in [
            requests(some, "6.1.0", true),
            requests(|_| MSS, "6.1.0", false),
            requests(some, "6.18.5", false),
            requests(some, "6.1.57+", false),
        ] {
            assert_eq!(names(&recording), ["nagle-delayed-ack"]);
        }
    }
}
