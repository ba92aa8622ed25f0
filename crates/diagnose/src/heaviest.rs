//! What the user waits for most: the group of accounts that holds most of the time, the largest account in it, and where
//! in the code that is.

use crate::analysis::Analysis;
use crate::analysis::ender::is_timed_out;
use crate::analysis::ledger::{Account, Object, is_within, object};
use crate::connections::End;
use crate::kernel_work;
use crate::network_path;
use crate::place::{Located, of_most_on_cpu};
use crate::syscall;
use crate::threads::{busy_part, call_end};
use case::tables::Sample;
use case::{AccountGroup, Heaviest, KernelPart};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The two groups that hold most of the exchanges' time, of the run's where there are none; none where no time was recorded.
pub fn in_order(analysis: &Analysis) -> [Option<Heaviest>; 2] {
    let accounts = if analysis.exchanges.is_empty() { &analysis.accounts.run } else { &analysis.accounts.exchanges };
    let mut groups: BTreeMap<AccountGroup, Vec<(Account, f64)>> = BTreeMap::new();
    for (&account, &length) in accounts {
        groups.entry(account.group()).or_default().push((account, length));
    }
    let mut groups: Vec<(AccountGroup, Vec<(Account, f64)>)> = groups.into_iter().collect();
    // Of equals the last first, as ever.
    groups.reverse();
    groups.sort_by(|one, other| sum(&other.1).total_cmp(&sum(&one.1)));
    let mut groups = groups.into_iter().filter_map(|(group, accounts)| of_group(analysis, group, accounts));
    [groups.next(), groups.next()]
}

fn sum(accounts: &[(Account, f64)]) -> f64 {
    accounts.iter().map(|(_, length)| length).sum()
}

fn of_group(analysis: &Analysis, group: AccountGroup, accounts: Vec<(Account, f64)>) -> Option<Heaviest> {
    let whole = sum(&accounts);
    // What is waited for at one place is one wait, whoever ended it each time.
    let mut by_call: BTreeMap<Account, f64> = BTreeMap::new();
    for (account, length) in accounts {
        *by_call.entry(account.without_who(analysis)).or_default() += length;
    }
    let (largest, length) = by_call.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let count = analysis.exchanges.len().max(1) as u64;
    let Located { places, share } = located(analysis, group, largest);
    Some(Heaviest {
        group,
        ns: whole as u64 / count,
        of_ns: analysis.exchange_wall() / count,
        account: shown(analysis, largest),
        share_of_group: if whole > 0.0 { (length / whole).clamp(0.0, 1.0) } else { 0.0 },
        place: places,
        place_share: share,
        peer: peer(analysis, group),
        path: (group == AccountGroup::Network).then(|| network_path::find(analysis)).flatten(),
        kernel: kernel_part(analysis, largest),
    })
}

/// Where in the code an account is that is outside all exchanges.
pub fn located_outside(analysis: &Analysis, account: Account) -> Located {
    match account {
        Account::OutsideCpu(module) => {
            let is_it = |sample: &&Sample| analysis.code.module_of(sample) == module && !is_within(analysis, sample);
            let samples = analysis.recording.samples.iter().filter(is_it);
            of_most_on_cpu(&analysis.code, samples.map(|sample| ((sample.script_stack, sample.stack), 1)))
        }
        // Who ended the wait is named with where that was.
        Account::OutsideBlocked(_, Object::Awaited(_)) => Located::default(),
        Account::OutsideBlocked(number, on) => {
            let calls = analysis.calls_of(|one| one == number).filter(|(_, call)| call.blocked.0 > 0);
            let is_it = |row: usize| match on {
                Object::Unnamed => true,
                Object::TimeOut => is_timed_out(analysis.call(row)),
                on => object(analysis, row) == on,
            };
            let outside = calls.filter(|&(row, _)| is_it(row)).map(|(row, call)| {
                let end = call_end(call).saturating_sub(busy_part(call));
                (row, analysis.split(call.tid, call.start.0, end).1)
            });
            analysis.place_of_calls(outside.filter(|(_, blocked)| *blocked > 0))
        }
        _ => Located::default(),
    }
}

/// The account by the name that it has in the ledger of the run.
fn shown(analysis: &Analysis, account: Account) -> case::Account {
    let fact = account.fact(analysis);
    if analysis.exchanges.is_empty() { fact.of_run() } else { fact }
}

fn located(analysis: &Analysis, group: AccountGroup, account: Account) -> Located {
    match group {
        AccountGroup::ClientCpu | AccountGroup::ServerCpu => on_processor(analysis, account),
        AccountGroup::ClientBlocked | AccountGroup::ServerBlocked => blocked(analysis, account),
        AccountGroup::SetUp => analysis.place_of_calls(connects(analysis)),
        AccountGroup::Held => analysis.place_of_calls(held(analysis)),
        AccountGroup::NetworkAndPeer | AccountGroup::Network => analysis.place_of_calls(waits_for_answers(analysis)),
        AccountGroup::RunDelay | AccountGroup::Client | AccountGroup::Server | AccountGroup::Other => {
            Located::default()
        }
    }
}

/// Where the samples of a module, or of the kernel, were taken.
fn on_processor(analysis: &Analysis, account: Account) -> Located {
    let samples = samples(analysis, account);
    of_most_on_cpu(&analysis.code, samples.map(|sample| ((sample.script_stack, sample.stack), 1)))
}

/// What the kernel does most of the time that is its own.
fn kernel_part(analysis: &Analysis, account: Account) -> Option<KernelPart> {
    let Account::Kernel(_) = account else { return None };
    let (work, share) = kernel_work::most(analysis, samples(analysis, account))?;
    Some(KernelPart { work, share })
}

/// The samples of an account of time on processors.
fn samples<'r>(analysis: &Analysis<'r>, account: Account) -> impl Iterator<Item = &'r Sample> {
    let at_end = processes(analysis, account);
    let is_it = move |sample: &&Sample| {
        let in_module = match account {
            Account::Module(_, module) | Account::OutsideCpu(module) => analysis.code.module_of(sample) == module,
            Account::Kernel(_) => sample.kernel,
            _ => true,
        };
        in_module && at_end.contains(&sample.pid) && (analysis.exchanges.is_empty() || is_within(analysis, sample))
    };
    analysis.recording.samples.iter().filter(is_it)
}

/// The calls that were blocked in, each with how long it was, within exchanges where there are any.
fn blocked(analysis: &Analysis, account: Account) -> Located {
    let (Account::Blocked(_, number, on) | Account::OutsideBlocked(number, on)) = account else {
        return Located::default();
    };
    let at_end = processes(analysis, account);
    let calls = analysis.calls_of(|one| one == number).filter_map(|(row, call)| {
        let is_it =
            call.blocked.0 > 0 && at_end.contains(&call.pid) && (on == Object::Unnamed || object(analysis, row) == on);
        let blocked = || {
            if analysis.exchanges.is_empty() {
                return call.blocked.0;
            }
            // What a call did on a processor is not waited for; which part of it that was does not matter here.
            let end = call_end(call).saturating_sub(busy_part(call));
            analysis.split(call.tid, call.start.0, end).0
        };
        is_it.then(|| (row, blocked())).filter(|(_, blocked)| *blocked > 0)
    });
    analysis.place_of_calls(calls)
}

/// The processes at the end that an account is of; all of them where it is of the run.
fn processes(analysis: &Analysis, account: Account) -> BTreeSet<u32> {
    let end = account.group().end().filter(|_| !analysis.exchanges.is_empty());
    let Some(end) = end else { return analysis.threads.all().iter().map(|thread| thread.pid).collect() };
    let slots = analysis.exchanges.iter().filter_map(|exchange| {
        let peer = analysis.connections.all()[exchange.connection].peer;
        if exchange.end_seen == end { Some(exchange.connection) } else { peer }
    });
    let slots: BTreeSet<usize> = slots.collect();
    // A connection belongs to the process that opened it; threads of another one may serve it.
    let served = slots.iter().flat_map(|&slot| analysis.connections.transfers_of(slot).map(|call| call.pid));
    served.chain(slots.iter().map(|&slot| analysis.connections.row(slot).pid)).collect()
}

/// The calls that opened connections, with how long setting them up took.
fn connects<'e>(analysis: &'e Analysis<'e>) -> impl Iterator<Item = (usize, u64)> + 'e {
    analysis.exchanges.iter().filter_map(|exchange| {
        let set_up = exchange.set_up.as_ref()?;
        let connect = analysis.connections.all()[exchange.connection].connect?;
        Some((connect, set_up.application.saturating_sub(set_up.lookup.0.min(set_up.connect))))
    })
}

/// The writes whose bytes a kernel held, with how long it did; where a peer held them, the reads that waited.
fn held<'e>(analysis: &'e Analysis<'e>) -> impl Iterator<Item = (usize, u64)> + 'e {
    let here = analysis.connections.all().iter().flat_map(|rows| &rows.send_stalls);
    let here = here.map(|stall| (stall.write, stall.end.saturating_sub(stall.start)));
    here.chain(analysis.peer_stalls.values().flatten().map(|stall| (stall.read, stall.waited)))
}

/// The reads that ended exchanges, with how long these took: where a client waits for the network and its peer.
fn waits_for_answers<'e>(analysis: &'e Analysis<'e>) -> impl Iterator<Item = (usize, u64)> + 'e {
    analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client).filter_map(|exchange| {
        let is_read = |row: &&u32| syscall::is_read(analysis.call(**row as usize).number);
        let read = analysis.transfers(exchange).iter().rfind(is_read)?;
        Some((*read as usize, exchange.length()))
    })
}

/// The peer with which most of the time was spent, where the time is the network's.
fn peer(analysis: &Analysis, group: AccountGroup) -> Option<String> {
    if !matches!(group, AccountGroup::NetworkAndPeer | AccountGroup::Network | AccountGroup::SetUp) {
        return None;
    }
    let mut by_connection: FxHashMap<usize, u64> = FxHashMap::default();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let sum = by_connection.entry(exchange.connection).or_default();
        *sum = sum.saturating_add(exchange.length());
    }
    let mut lengths: BTreeMap<String, u64> = BTreeMap::new();
    for (slot, length) in by_connection {
        let sum = lengths.entry(analysis.connections.remote_name(slot)?).or_default();
        *sum = sum.saturating_add(length);
    }
    lengths.into_iter().max_by_key(|(_, length)| *length).map(|(remote, _)| remote)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, SERVER, US, keep_alive};
    use crate::syscall::FUTEX;
    use crate::tests::answer;
    use case::AccountGroup;
    use case::facts::{Account, End, Wait};

    #[test]
    fn the_lock_that_a_server_waits_for_is_named_with_its_line() {
        let mut fixture = crate::fixture::Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.script(5, &["server.py:12:answer"]);
        fixture.script(6, &["server.py:99:log"]);
        let mut idle = fixture.now;
        for _ in 0..20 {
            let start = fixture.now;
            // The server takes the lock while the client waits: 9 of every 10 ms.
            crate::fixture::request(&mut fixture, CLIENT, 1, 10 * MS, &mut idle);
            let end = fixture.now;
            fixture.now = start + MS / 2;
            fixture.waits(SERVER, 9 * MS, FUTEX, |call| call.script_stack = 5);
            fixture.now += 20 * US;
            fixture.waits(SERVER, 100 * US, FUTEX, |call| call.script_stack = 6);
            fixture.now = end + 20 * US;
        }
        fixture.off(SERVER, idle, fixture.now + MS);
        let heaviest = answer(&fixture.end()).heaviest.expect("time was recorded");
        assert_eq!(heaviest.group, AccountGroup::ServerBlocked);
        let Account::Blocked { end, wait, .. } = heaviest.account else { panic!("{heaviest:?}") };
        assert_eq!((end, wait), (End::Server, Wait::Lock));
        assert!(heaviest.share() > 0.8, "{heaviest:?}");
        assert_eq!((heaviest.place[0].line, heaviest.place_share.expect("a place").others), (12, 0));
    }

    #[test]
    fn a_server_that_computes_is_on_a_processor() {
        let heaviest = answer(&keep_alive(20, 900 * US).end()).heaviest.expect("time was recorded");
        assert_eq!((heaviest.group, heaviest.of_ns / heaviest.ns.max(1)), (AccountGroup::ServerCpu, 1));
    }
}
