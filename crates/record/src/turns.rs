//! Whose turn it is on each socket: requests are counted by it, and how long the slowest exchange took of those that
//! end with rows of all of it.

use case::Nanos;
use case::tables::{direction, role};
use rustc_hash::FxHashMap;

/// Sockets of which it is remembered who spoke last. Where there are more, some requests are counted twice.
const MOST: usize = 1_000_000;

/// A request has waited for its answer a while after so long: most have one by then.
const A_WHILE: u64 = 20_000_000;

/// Of more sockets nobody looks which ones wait for an answer: that is done every 20 ms.
const MOST_LOOKED_AT: usize = 50_000;

/// Who spoke last.
#[derive(Clone, Copy)]
struct Turn {
    direction: u8,
    /// Whether that was the client.
    is_asked: bool,
    /// When the exchange began that is under way; 0 where that is not known.
    asked: u64,
    /// When the last bytes were moved.
    last: u64,
    /// Whether more was asked a while after what had been asked before: nobody waits for an answer.
    goes_on: bool,
}

/// All sockets' turns.
#[derive(Default)]
pub struct Turns {
    of: FxHashMap<u32, Turn>,
    slowest: Nanos,
}

/// Bytes that were moved, and by a socket of which role.
#[derive(Clone, Copy)]
pub struct Moved {
    pub socket: u32,
    pub role: u8,
    /// See [`direction`].
    pub direction: u8,
    pub start: Nanos,
    pub end: Nanos,
}

impl Turns {
    /// Takes note of bytes. Whether they begin a request of a client's: bytes out after bytes in, or first of all.
    pub fn take(&mut self, moved: Moved) -> bool {
        if self.of.len() >= MOST {
            self.of.clear();
        }
        let before = self.of.get(&moved.socket).copied();
        let is_turn = before.is_none_or(|before| before.direction != moved.direction);
        let asks = if moved.role == role::SERVER { direction::IN } else { direction::OUT };
        let mut asked = before.map_or(0, |before| before.asked);
        if moved.direction != asks {
            if asked > 0 {
                self.slowest = self.slowest.max(moved.end - Nanos(asked));
            }
        } else if is_turn {
            // What is written begins with the call, what is read with its end.
            asked = if asks == direction::OUT { moved.start.0 } else { moved.end.0 };
        }
        let waited = before.map_or(0, |before| moved.start.0.saturating_sub(before.last));
        self.of.insert(
            moved.socket,
            Turn {
                direction: moved.direction,
                is_asked: moved.direction == asks,
                asked,
                last: moved.end.0,
                goes_on: !is_turn && (waited >= A_WHILE || before.is_some_and(|before| before.goes_on)),
            },
        );
        is_turn && moved.direction == direction::OUT && moved.role == role::CLIENT
    }

    /// A connection is over: nobody will speak on it any more.
    pub fn over(&mut self, socket: u32) {
        self.of.remove(&socket);
    }

    /// How long the slowest exchange took that has been answered since this was asked last; 0 where there was none.
    pub fn slowest(&mut self) -> Nanos {
        std::mem::take(&mut self.slowest)
    }

    /// Whether a request has waited a while for its answer that began while there were rows. Who goes on sending does not wait.
    pub fn is_unanswered(&self, now: Nanos) -> bool {
        let is_asked = |turn: &Turn| turn.is_asked && turn.asked > 0 && !turn.goes_on;
        let is_waiting = |turn: &Turn| is_asked(turn) && turn.last.saturating_add(A_WHILE) <= now.0;
        self.of.len() <= MOST_LOOKED_AT && self.of.values().any(is_waiting)
    }

    /// There were no rows for a while: of what is under way nobody knows since when.
    pub fn forget(&mut self) {
        self.of.values_mut().for_each(|turn| turn.asked = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(role: u8, direction: u8, start: u64) -> Moved {
        Moved { socket: 1, role, direction, start: Nanos(start), end: Nanos(start + 10) }
    }

    #[test]
    fn an_exchange_lasts_from_the_first_byte_of_a_request_to_the_last_of_its_answer() {
        use direction::{IN, OUT};
        let mut turns = Turns::default();
        let client = [(OUT, 100), (OUT, 120), (IN, 200), (IN, 290), (OUT, 1000), (IN, 1020)];
        let requests = client.map(|(way, start)| turns.take(moved(role::CLIENT, way, start)));
        assert_eq!((requests, turns.slowest()), ([true, false, false, false, true, false], Nanos(200)));
        assert_eq!(turns.slowest(), Nanos(0));
        let mut turns = Turns::default();
        let server = [(IN, 100), (OUT, 300), (IN, 5000)];
        let requests = server.map(|(way, start)| turns.take(moved(role::SERVER, way, start)));
        assert_eq!((requests, turns.slowest()), ([false; 3], Nanos(200)));
        // What began before a time without rows ends nothing.
        turns.forget();
        turns.take(moved(role::SERVER, OUT, 9000));
        assert_eq!(turns.slowest(), Nanos(0));
        turns.take(moved(role::SERVER, IN, 9500));
        let later = [0, 2].map(|whiles| turns.is_unanswered(Nanos(9500 + whiles * A_WHILE)));
        assert_eq!(later, [false, true]);
        turns.take(moved(role::SERVER, OUT, 9600));
        assert!(!turns.is_unanswered(Nanos(9500 + 2 * A_WHILE)));
        turns.over(1);
        assert!(turns.of.is_empty(), "of a connection that is over nothing is kept");
    }

    #[test]
    fn who_goes_on_sending_does_not_wait_for_an_answer() {
        let mut turns = Turns::default();
        let mut sends = |time: u64| turns.take(moved(role::CLIENT, direction::OUT, time));
        (1..=50).for_each(|part| _ = sends(part * A_WHILE / 10));
        assert!(!turns.is_unanswered(Nanos(55 * A_WHILE / 10)), "a stream");
        assert!(turns.is_unanswered(Nanos(70 * A_WHILE / 10)), "or a large request, which is over now");
        turns.take(moved(role::CLIENT, direction::OUT, 80 * A_WHILE / 10));
        assert!(!turns.is_unanswered(Nanos(100 * A_WHILE / 10)), "a line now and then");
        turns.take(moved(role::CLIENT, direction::IN, 101 * A_WHILE / 10));
        turns.take(moved(role::CLIENT, direction::OUT, 102 * A_WHILE / 10));
        assert!(turns.is_unanswered(Nanos(115 * A_WHILE / 10)), "a request again");
    }
}
