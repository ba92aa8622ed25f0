//! Requests that have arrived and wait in line: who is served meanwhile, and what that takes.

use super::group::Groups;
use super::kinds::Kinds;
use super::served::{Served, idle, served};
use super::{Above, Follower};
use crate::analysis::Analysis;
use crate::analysis::ender::Window;
use case::{Activity, Queue, RequestKind, ServedKind, WaitNode};
use std::collections::BTreeMap;

/// Kinds of requests that are kept: those that take most.
const MOST_KINDS: usize = 6;
/// Stretches of service of one kind that are looked into, evenly spread: those of one kind are alike.
const MOST_SERVED: usize = 500;

/// The sums of one kind.
#[derive(Default)]
struct Sums {
    served: Vec<Window>,
    held: u64,
    waited: u64,
}

/// What the server's threads did for which requests, and how long others waited in line; none where no server was recorded.
pub(crate) fn queue<'a>(analysis: &'a Analysis) -> Option<&'a Queue> {
    analysis.queue.get_or_init(|| find(analysis)).as_ref()
}

fn find(analysis: &Analysis) -> Option<Queue> {
    let served = served(analysis);
    if served.is_empty() {
        return None;
    }
    let kinds = Kinds::new(analysis);
    let of: Vec<u32> = analysis.exchanges.iter().map(|exchange| kinds.of(exchange)).collect();
    let mut sums: BTreeMap<u32, Sums> = BTreeMap::new();
    for (&thread, list) in &served {
        for one in list.iter().filter(|one| one.from < one.to) {
            let window = Window { thread, from: one.from, to: one.to, weight: 1.0 };
            sums.entry(of[one.exchange]).or_default().served.push(window);
        }
    }
    if sums.is_empty() {
        return None;
    }
    let mut lines = Vec::new();
    for (&thread, list) in &served {
        let idle = idle(analysis, thread);
        for one in list {
            let waited = behind(one, list, &idle, &mut |other, part| {
                let held = &mut sums.entry(of[other]).or_default().held;
                *held = held.saturating_add(part);
            });
            if waited > 0 {
                let sum = &mut sums.entry(of[one.exchange]).or_default().waited;
                *sum = sum.saturating_add(waited);
                lines.push((one.arrived, one.from));
            }
        }
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let names = kinds.all();
    Some(Queue {
        ns: total(sums.values().map(|sums| sums.held)) / count,
        of_ns: analysis.exchange_wall() / count,
        behind: String::new(),
        threads: served.len() as u64,
        most: most_at_a_time(lines.iter().copied()) as u64,
        waited: lines.len() as u64,
        kinds: shown(analysis, sums.into_iter().map(|(kind, sums)| (&names[kind as usize], sums)).collect(), count),
    })
}

/// Damaged rows can name any time: a sum of theirs is at most the largest number.
fn total(lengths: impl Iterator<Item = u64>) -> u64 {
    lengths.fold(0, u64::saturating_add)
}

fn shown(analysis: &Analysis, sums: BTreeMap<&RequestKind, Sums>, count: u64) -> Vec<ServedKind> {
    let length = |sums: &Sums| total(sums.served.iter().map(|window| window.to - window.from));
    let whole = total(sums.values().map(length)).max(1) as f64;
    let follower = Follower::new(analysis);
    let mut kinds: Vec<(u64, ServedKind)> = Vec::new();
    let mut by_time: Vec<(&RequestKind, Sums)> = sums.into_iter().collect();
    by_time.sort_by_key(|(_, sums)| std::cmp::Reverse(length(sums)));
    for (kind, sums) in by_time.into_iter().take(MOST_KINDS) {
        let mut lengths: Vec<u64> = sums.served.iter().map(|window| window.to - window.from).collect();
        lengths.sort_unstable();
        let many = sums.served.len().max(1) as u64;
        let mut groups = Groups::new(analysis.recording);
        for window in sums.served.iter().step_by(sums.served.len().div_ceil(MOST_SERVED).max(1)) {
            follower.walk(*window, &Above::default(), &mut groups);
        }
        let mut nodes = groups.above(0.0).into_iter().map(|group| group.node(analysis, 1.0));
        let most = nodes.next().unwrap_or_default();
        // What waits for a CPU is where it is on one.
        let on_cpu = nodes.find(|node| most.activity == Activity::RunDelay && node.activity == Activity::OnCpu);
        let node = WaitNode { activity: most.activity.clone(), ..on_cpu.unwrap_or(most) };
        let kind = ServedKind {
            kind: kind.clone(),
            count: many,
            usual_ns: lengths.get(lengths.len() / 2).copied().unwrap_or_default(),
            share: length(&sums) as f64 / whole,
            held_ns: sums.held / count,
            waited_ns: sums.waited / many,
            activity: node.activity,
            place: node.place,
            place_share: node.place_share,
        };
        kinds.push((length(&sums), kind));
    }
    kinds.into_iter().map(|(_, kind)| kind).collect()
}

/// For how long a request had arrived, or had been dealt with and was not answered yet, and its thread was with others. Whoever waits
/// while the thread has nothing to do waits for something else.
fn behind(one: &Served, list: &[Served], idle: &[(u64, u64)], held: &mut dyn FnMut(usize, u64)) -> u64 {
    let mut waited = 0_u64;
    for (from, to) in [(one.arrived, one.from), (one.to, one.answered)].into_iter().filter(|(from, to)| from < to) {
        // What it was idle with when the request came ends with that.
        let next_idle = idle.get(idle.partition_point(|span| span.0 <= from)).map_or(u64::MAX, |span| span.0);
        let until = to.min(next_idle);
        let first = list.partition_point(|other| other.to <= from);
        let meanwhile = list[first..].iter().take_while(|other| other.from < until);
        for other in meanwhile.filter(|other| other.exchange != one.exchange) {
            let part = other.to.min(until).saturating_sub(other.from.max(from));
            held(other.exchange, part);
            waited = waited.saturating_add(part);
        }
    }
    waited
}

/// The most stretches that there are at one time.
pub(crate) fn most_at_a_time(stretches: impl Iterator<Item = (u64, u64)>) -> usize {
    let ends = stretches.flat_map(|(from, to)| [(from, 1), (to, -1)]);
    let mut ends = ends.collect::<Vec<(u64, isize)>>();
    ends.sort_unstable();
    let (_, most) = ends.iter().fold((0, 0), |(now, most), (_, step)| (now + step, (now + step).max(most)));
    most.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::answer;
    use case::RequestKind;
    use case::tables::{Command, transport};

    const SELECT: u16 = 23;

    /// Rounds in which two clients ask a server with one thread at the same time: the first one's request takes it 8 ms.
    fn rounds() -> Fixture {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.process(CLIENT + 1, "client");
        fixture.connect(2, CLIENT + 1);
        fixture.script(5, &["client.py:3:report"]);
        fixture.script(6, &["client.py:9:ping"]);
        let mut idle = fixture.now;
        for _ in 0..10 {
            let start = fixture.now;
            for client in 0..2 {
                fixture.now = start + u64::from(client) * US;
                fixture.moves(CLIENT + client, client + 1, WRITE, 200);
                fixture.recording.calls.last_mut().expect("a call").script_stack = 5 + client;
                fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
            }
            fixture.now = idle;
            fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 2);
            let mut answered = Vec::new();
            for client in 0..2 {
                fixture.moves(SERVER, client + 1001, READ, 200);
                fixture.now += if client == 0 { 8 * MS } else { 50 * US };
                answered.push(fixture.now);
                fixture.moves(SERVER, client + 1001, WRITE, 1000);
                fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
            }
            idle = fixture.now;
            for client in 0..2 {
                fixture.now = start + 5 * US;
                let end = answered[client as usize] + 12 * US;
                fixture.waits_for(CLIENT + client, client + 1, end - fixture.now, 1000);
            }
            fixture.now = idle + 100 * US;
        }
        fixture.off(SERVER, idle, fixture.now + MS);
        fixture
    }

    #[test]
    fn the_kind_that_holds_a_thread_and_the_kind_that_waits_behind_it_are_told_apart() {
        let queue = answer(&rounds().end()).queue.expect("requests were served");
        assert_eq!((queue.threads, queue.most, queue.waited), (1, 1, 10), "{queue:#?}");
        // 8 of the 8 ms that one of two takes.
        assert!((0.45..0.55).contains(&queue.share()), "{queue:#?}");
        let holder = queue.holder().expect("one holds it");
        assert_eq!(holder.kind, queue.kinds[0].kind);
        assert!(holder.usual_ns > 7 * MS && holder.share > 0.9 && holder.waited_ns == 0, "{queue:#?}");
        assert!(queue.kinds[1].waited_ns > 7 * MS && queue.kinds[1].held_ns == 0, "{queue:#?}");
    }

    #[test]
    fn over_a_unix_socket_a_request_has_arrived_when_it_is_written() {
        let mut recording = rounds().end();
        recording.segments.clear();
        recording.connections.iter_mut().for_each(|row| row.transport = transport::UNIX);
        let queue = answer(&recording).queue.expect("requests were served");
        assert_eq!((queue.threads, queue.most, queue.waited), (1, 1, 10), "{queue:#?}");
        assert!((0.45..0.55).contains(&queue.share()), "{queue:#?}");
    }

    #[test]
    fn where_commands_could_be_read_they_are_the_kinds() {
        let mut recording = rounds().end();
        for call in recording.calls.iter().filter(|call| call.number == WRITE && call.connection < 1000) {
            let name = if call.connection == 1 { "KEYS" } else { "GET" };
            let row = Command { time: call.start, connection: call.connection, tid: call.tid, ..Command::default() };
            recording.commands.push(Command { name: name.into(), ..row });
        }
        recording.commands.sort_by_key(|row| (row.connection, row.time));
        let queue = answer(&recording).queue.expect("requests were served");
        let command = |name: &str| RequestKind::Command { name: name.into() };
        assert_eq!(queue.holder().map(|holder| &holder.kind), Some(&command("KEYS")), "{queue:#?}");
        let waits = queue.kinds.iter().find(|kind| kind.waited_ns > 0).map(|kind| &kind.kind);
        assert_eq!(waits, Some(&command("GET")), "{queue:#?}");
    }

    #[test]
    fn a_server_that_sleeps_in_select_is_not_idle() {
        let mut fixture = rounds();
        let before = answer(&rounds().end()).queue.map_or(0, |queue| queue.ns);
        // Half of each request's 8 ms.
        let reads: Vec<u64> = fixture
            .recording
            .calls
            .iter()
            .filter(|call| call.tid == SERVER && call.number == READ)
            .map(|call| call.start.0)
            .collect();
        let now = fixture.now;
        for read in reads.iter().step_by(2) {
            fixture.now = read + 10 * US;
            fixture.waits(SERVER, 4 * MS, SELECT, |_| {});
        }
        fixture.now = now;
        let recording = fixture.end();
        assert_eq!(answer(&recording).queue.map_or(0, |queue| queue.ns), before);
        // Whoever waits behind that is not waiting for the thread to wake up.
        let wake_up = |recording: &case::Recording| {
            let accounts = answer(recording).ledger.accounts;
            let is_it = |one: &&case::AccountTime| one.account == case::Account::WakeUp { end: case::End::Server };
            accounts.iter().filter(is_it).map(|one| one.ns).sum::<u64>()
        };
        assert!(wake_up(&recording) < MS, "{}", wake_up(&recording));
        let mut waits_for_some = recording;
        waits_for_some.calls.iter_mut().filter(|call| call.number == SELECT).for_each(|call| call.argument_1 = 1);
        assert!(answer(&waits_for_some).queue.map_or(0, |queue| queue.ns) < before);
    }

    #[test]
    fn a_request_that_came_before_the_connection_was_there_has_arrived_then() {
        let mut recording = rounds().end();
        let first = recording.segments.iter().find(|row| row.connection == 1002 && row.payload > 0);
        let arrived = first.expect("it came").time;
        // As with a kernel that takes a connection only once something has come on it.
        recording.segments.retain(|row| (row.connection, row.time) != (1002, arrived));
        recording.connections.iter_mut().filter(|row| row.id == 1002).for_each(|row| row.established = arrived);
        let analysis = crate::Analysis::new(&recording);
        let asked = analysis.exchanges.iter().find(|one| analysis.connections.row(one.connection).id == 2);
        let found = crate::waits::unread(&analysis, asked.expect("it asks"));
        assert_eq!(found.map(|(time, _)| time), Some(arrived.0));
    }

    #[test]
    fn who_is_served_at_once_waits_in_no_line() {
        let queue = answer(&crate::fixture::keep_alive(20, 900 * US).end()).queue.expect("requests were served");
        assert_eq!((queue.ns, queue.waited, queue.kinds.len()), (0, 0, 1), "{queue:#?}");
        assert!(queue.holder().is_none() && !queue.is_most());
    }
}
