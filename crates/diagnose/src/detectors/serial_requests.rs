//! P35: many round trips, one after the other.

mod detours;
mod housekeeping;
mod in_hand;
mod statements;

use super::{Found, app_window_below_bdp, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::syscall;
use crate::threads::call_end;
use case::{Kind, Nanos};
use std::collections::BTreeMap;

detector! {
    /// # serial-requests
    ///
    /// ## What it is
    /// A program asks a distant peer one question at a time, many times. Each waits for a round trip, although the
    /// questions could have been sent together, in a batch, or concurrently. Or a server asks a database for a list and
    /// then for each of its rows (N+1 queries), while one request waits. Or each request is made twice: the first is only
    /// redirected, or turned away for lack of credentials, or asks only what the next one may do (OPTIONS) or for its head (HEAD).
    /// Or a database is asked whether it is there before each statement (SELECT 1, PING), or a transaction is begun and ended
    /// around each single one.
    ///
    /// ## Evidence
    /// Ten requests or more between one process and one peer that never overlap and follow each other closely; a round
    /// trip of a millisecond or more; and a wait of one to two round trips for each answer, so the peer's work takes
    /// less time than the network. Or ten questions or more of one length that a server asks one peer within one
    /// request, one after another, in at least half of its requests, however near the peer is; or a hundred statements
    /// of one verb and table that a client asks a database, one after another. What each of those costs for being asked
    /// alone is measured: no more than the time that the quickest tenth of them take, without what the peer works or waits
    /// for each beyond 100 us, where it was recorded. Or ten requests or more, and a
    /// quarter of all, that are answered 301, 302, 307 or 308 and followed by one for the same path on another host, in
    /// another folder, or with a slash, or answered 401 or 407 and followed by the same again; which succeeds. Or as many by OPTIONS or
    /// HEAD, each followed by another for the same address. Or a hundred statements or more that fetch and change nothing, a quarter
    /// as many as others at least, of which half stand right beside one: `SELECT 1` and PING, the begin of a transaction of one
    /// statement, and its end where that one reads.
    ///
    /// ## What proves it
    /// Adding d ms to the round trip: the total grows by n times d.
    ///
    /// ## Remedy
    /// Ask for many things in one request, pipeline requests, or make them concurrently. Ask for the final address, with
    /// credentials, at once.
    ///
    /// ## Not to be confused with
    /// A slow peer (waits of many round trips); nagle-delayed-ack and name-lookup (waits of the program's own making).
    /// On loopback a round trip takes no time; what a server waits for within one request is counted there, too, and so
    /// are statements.
    "P35" "serial-requests",
    kind: Kind::Observation,
    on_the_wire: true,
    follows_from: &[app_window_below_bdp::DETECTOR.page.id],
    not_switched: "What a program asks next may depend on what it was told: nobody else can ask for it beforehand.",
    needs: &[Tcp, Requests, SingleStreams]
}

/// A round trip shorter than this is not what a program waits for.
const DISTANT: u64 = 1_000_000;

/// Fewer questions than this are not worth asking together.
const HABIT: usize = 10;

/// What a peer does for each question whatever it is, at most: PostgreSQL takes 31 to 60 us for a row by its key, the way
/// there and back included (story `queries`). What it works or waits beyond that is for the answer, and stays.
const WHATEVER_IT_IS: u64 = 100_000;

/// Questions to one peer, in order.
struct Series<'e> {
    exchanges: Vec<&'e Exchange>,
    round_trip: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    // Which questions a server asks for which request, a capture does not show.
    let within = if analysis.is_capture() { None } else { in_hand::find(analysis) };
    // What servers ask one after another, they ask since their clients do.
    if analysis.steps > 0 {
        return housekeeping::find(analysis).or(within);
    }
    // Requests that need not be made are to be left out, however far away the peer is.
    let needless = detours::find(analysis).or_else(|| housekeeping::find(analysis));
    needless.or_else(|| {
        let found = [distant(analysis), within, statements::find(analysis)];
        found.into_iter().flatten().max_by_key(|found| found.saving.wall)
    })
}

/// The peer that most is waited for because it is far away.
fn distant(analysis: &Analysis) -> Option<Found> {
    let mut groups: BTreeMap<(u32, String), Series> = BTreeMap::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let row = analysis.connections.row(exchange.connection);
        let Some(round_trip) = analysis.connections.round_trip(exchange.connection) else { continue };
        let key = (row.pid, analysis.connections.remote(exchange.connection));
        let series = groups.entry(key).or_insert_with(|| Series { exchanges: Vec::new(), round_trip: u64::MAX });
        series.exchanges.push(exchange);
        series.round_trip = series.round_trip.min(round_trip);
    }
    let mut top: Option<(u64, &(u32, String), &Series)> = None;
    for (key, series) in &groups {
        if let Some(wall) = serial_wait(analysis, series)
            && top.is_none_or(|(known, ..)| known < wall)
        {
            top = Some((wall, key, series));
        }
    }
    let (wall, (_, remote), series) = top?;
    let first = |exchange: &&Exchange| Some((*analysis.transfers(exchange).first()? as usize, exchange.length()));
    let place = costly_call(analysis, series.exchanges.iter().filter_map(first));
    let count = series.exchanges.len();
    let title = format!(
        "{count} requests to {remote} run one after another, each waiting a round trip: {} in total{}",
        Nanos(wall),
        place.in_words(),
    );
    let mechanism = vec![
        format!("The {count} requests never overlap."),
        format!(
            "A round trip takes {}, and each answer arrives within two, so the peer is not busy.",
            Nanos(series.round_trip)
        ),
        "Whether one needs the answer to another cannot be seen from outside.".to_string(),
    ];
    let remedy = "Ask for many things in one request, pipeline requests, or make them concurrently.".to_string();
    let saving = PotentialSaving { wall, outside: 0, cpu: 0, affected: count as u64 };
    let writes = series.exchanges.iter().filter_map(|exchange| analysis.transfers(exchange).first());
    let rows = rows("calls", writes.map(|&row| row as usize));
    let what = format!("{count} requests to {remote} run one after another, each waiting a round trip");
    Some(Found { title, what, mechanism, saving, place, remedy, rows, ..Found::default() })
}

/// How long a question took, without what its peer did for it beyond [`WHATEVER_IT_IS`]: from the last read of it to the first
/// write of the answer, where that was recorded.
fn without_the_answers_work(analysis: &Analysis, slot: usize, (start, end): (u64, u64)) -> u64 {
    let work = analysis.connections.all()[slot].peer.map_or(0, |peer| work_of(analysis, peer, (start, end)));
    (end - start).saturating_sub(work.saturating_sub(WHATEVER_IT_IS))
}

fn work_of(analysis: &Analysis, peer: usize, (start, end): (u64, u64)) -> u64 {
    let rows = analysis.connections.transfer_numbers(peer);
    let first = rows.partition_point(|&row| call_end(analysis.call(row as usize)) <= start);
    let calls = rows[first..].iter().map(|&row| analysis.call(row as usize)).take_while(|call| call.start.0 < end);
    let mut asked = None;
    for call in calls {
        if syscall::is_read(call.number) {
            asked = Some(call_end(call));
        } else if let Some(asked) = asked {
            return call.start.0.saturating_sub(asked);
        }
    }
    0
}

/// What all but the first question waited, if they are what the page describes.
fn serial_wait(analysis: &Analysis, series: &Series) -> Option<u64> {
    let exchanges = &series.exchanges;
    if exchanges.len() < HABIT || series.round_trip < DISTANT {
        return None;
    }
    if exchanges.windows(2).any(|pair| pair[1].start < pair[0].end) {
        return None;
    }
    let gaps: Vec<u64> = exchanges.windows(2).map(|pair| pair[1].start.saturating_sub(pair[0].end)).collect();
    let lengths: Vec<u64> = exchanges.iter().map(|exchange| exchange.length()).collect();
    if median(gaps) > median(lengths) {
        return None;
    }
    let waits: Vec<u64> = exchanges.iter().map(|exchange| wait(analysis, exchange)).collect();
    // A little under one is the clock's doing: segments are timed at the device, calls at the program.
    let trips = |&&wait: &&u64| wait * 5 >= series.round_trip * 4 && wait <= series.round_trip * 2;
    let of_trips = waits.iter().filter(trips).count();
    (of_trips * 5 >= waits.len() * 4).then(|| waits.iter().skip(1).filter(trips).sum())
}

/// From the last byte of the question to the first of the answer.
fn wait(analysis: &Analysis, exchange: &Exchange) -> u64 {
    let calls = || analysis.transfers(exchange).iter().map(|&row| analysis.call(row as usize));
    let Some(answer) = calls().find(|call| syscall::is_read(call.number)) else { return 0 };
    let question = calls().take_while(|call| syscall::is_write(call.number)).last().map_or(exchange.start, call_end);
    call_end(answer).saturating_sub(question)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE};
    use crate::tests::names;
    use case::tables::direction::{IN, OUT};

    /// Questions to a peer that was not watched, answered after `wait`, the way there and back being `round_trip`.
    fn questions(count: u32, round_trip: u64, wait: u64) -> Vec<String> {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.recording.connections.truncate(1);
        fixture.recording.connections[0].peer = 0;
        for _ in 0..count {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 100);
            fixture.segment(start + 3 * US, 1, OUT, 100);
            fixture.segment(start + round_trip, 1, IN, 0);
            fixture.segment(start + wait, 1, IN, 100);
            fixture.waits_for(CLIENT, 1, wait, 100);
            fixture.now += 20 * US;
        }
        names(&fixture.end())
    }

    #[test]
    fn round_trips_one_after_the_other_are_found() {
        assert_eq!(questions(50, 10 * MS, 11 * MS), ["serial-requests"]);
    }

    #[test]
    fn a_near_peer_is_left_alone() {
        assert_eq!(questions(50, 50 * US, 60 * US), Vec::<String>::new());
    }

    #[test]
    fn a_peer_that_thinks_is_left_alone() {
        assert_eq!(questions(50, 10 * MS, 60 * MS), Vec::<String>::new());
    }

    #[test]
    fn a_few_questions_are_left_alone() {
        assert_eq!(questions(5, 10 * MS, 11 * MS), Vec::<String>::new());
    }
}
