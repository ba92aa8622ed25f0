//! P21: HTTP/2's own flow control lets less leave in a round trip than the path would take.

mod turns;

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use crate::spans;
use crate::syscall;
use case::{Bytes, End, Nanos};
use turns::{Turn, Windowed};

detector! {
    /// # app-window-below-bdp
    ///
    /// ## What it is
    /// In HTTP/2 a receiver says how many bytes may be in flight to it, on each stream and on the connection: 65,535 if it says
    /// nothing. Then the sender stops, whatever TCP would allow, until a WINDOW_UPDATE arrives a round trip later. However
    /// fast the path, a transfer gets no further than a window in each round trip.
    ///
    /// ## Evidence
    /// On an HTTP/2 connection with a round trip of a millisecond or more, bursts of equal size; after each the sender has nothing
    /// left in its kernel, nothing moves for about a round trip, and small frames of a WINDOW_UPDATE's length let the next
    /// burst go at once. Where TLS hides the frames, their lengths tell them. Charged is the time between bursts.
    ///
    /// ## What proves it
    /// A larger window, where the receiver uses the library nghttp2. Elsewhere nothing outside can switch it, and the prediction is
    /// the evidence: the throughput is the window divided by the round trip.
    ///
    /// ## Remedy
    /// Let the receiver open its windows, the stream's (SETTINGS_INITIAL_WINDOW_SIZE) and the connection's (WINDOW_UPDATE on stream
    /// 0), to bandwidth times round trip. For uploads the receiver is the server. Or use HTTP/1.1 for long transfers.
    ///
    /// ## Not to be confused with
    /// A slow start (the kernel holds bytes back, and bursts grow); fixed-socket-buffers; slow-reader (updates come late, not
    /// after a round trip); serial-requests (each burst answers a question of its own). Windows of protocols other than
    /// HTTP/2 are not looked for.
    "P21" "app-window-below-bdp"
}

/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.1;

/// A connection that is held by a window, with the spans of its turns within exchanges.
struct Held<'a> {
    windowed: &'a Windowed,
    wall: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let windowed: Vec<Windowed> = turns::find(analysis);
    let waits = spans::merge(windowed.iter().flat_map(|one| one.turns.iter().map(Turn::span)).collect());
    let (mut wall, mut affected) = (0, 0);
    for exchange in &analysis.exchanges {
        let length = spans::length(spans::within(&waits, exchange.start, exchange.end));
        wall += length;
        affected += u64::from(length > 0);
    }
    if waits.is_empty() || (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64 {
        return None;
    }
    let held = windowed
        .iter()
        .map(|windowed| Held { windowed, wall: windowed.turns.iter().map(|turn| turn.to - turn.from).sum() });
    let top = held.max_by_key(|one| one.wall)?.windowed;
    Some(found(analysis, &windowed, top, waits, PotentialSaving { wall, affected, ..PotentialSaving::default() }))
}

fn found(
    analysis: &Analysis,
    all: &[Windowed],
    top: &Windowed,
    waits: Vec<(u64, u64)>,
    saving: PotentialSaving,
) -> Found {
    let [receiver, sender] = match analysis.end(top.sender.unwrap_or(top.seen)) {
        End::Server if top.sender.is_some() => ["client", "server"],
        End::Client if top.sender.is_some() => ["server", "client"],
        End::Server => ["server", "client"],
        End::Client => ["client", "server"],
    };
    let window = Bytes(median(top.turns.iter().map(|turn| turn.bytes).collect()));
    let round_trip = Nanos(top.round_trip);
    let rate = |bytes: u64, nanos: u64| number::per_second(bytes as f64 / nanos.max(1) as f64);
    let calls: Vec<(usize, u64)> = all.iter().flat_map(|one| updates(analysis, one)).collect();
    let place = costly_call(analysis, calls.iter().copied());
    let what =
        format!("The {receiver}'s HTTP/2 window lets {window} leave the {sender} in each round trip of {round_trip}");
    let share = Nanos(saving.wall).share_of(Nanos(analysis.exchange_wall()));
    Found {
        title: format!("{what}: the {sender} waits for {share} of the time{}", place.in_words()),
        what,
        mechanism: vec![
            format!(
                "{} times the {sender} sent a window's worth and stopped with nothing left in its kernel; small frames of a \
                 WINDOW_UPDATE's length let it go on, a median of {} after the last byte.",
                number::count(top.turns.len() as u64),
                Nanos(median(top.turns.iter().map(|turn| turn.to - turn.from).collect())),
            ),
            format!(
                "A window in a round trip is {}; the transfer had {}. A path of twice the round trip would halve it.",
                rate(window.0, top.round_trip),
                rate(top.moved, top.lasted),
            ),
        ],
        saving,
        place,
        remedy: format!(
            "Open the {receiver}'s HTTP/2 windows, the stream's and the connection's, to bandwidth times round trip, or use \
             HTTP/1.1 for long transfers."
        ),
        rows: rows("calls", calls.iter().map(|(row, _)| *row)),
        stalls: waits,
        ..Found::default()
    }
}

/// The receiver's writes that opened the window, each with the wait before; where it was not recorded, the sender's that went on.
fn updates(analysis: &Analysis, windowed: &Windowed) -> Vec<(usize, u64)> {
    let slot = windowed.receiver.unwrap_or(windowed.seen);
    let transfers = analysis.connections.transfer_numbers(slot);
    let is_write = |row: &usize| syscall::is_write(analysis.call(*row).number);
    let writes: Vec<usize> = transfers.iter().map(|&row| row as usize).filter(is_write).collect();
    let of_turn = |turn: &Turn| {
        let next = writes.partition_point(|&row| analysis.call(row).start.0 < turn.to);
        let row = if windowed.receiver.is_some() { next.checked_sub(1) } else { Some(next) };
        row.and_then(|at| writes.get(at)).map(|&row| (row, turn.to - turn.from))
    };
    windowed.turns.iter().filter_map(of_turn).collect()
}

#[cfg(test)]
mod tests;
