use super::*;
use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, keep_alive};

const CLOCK_NANOSLEEP: u16 = 230;

/// What the client does, in a stack of a library of its own each.
#[derive(Clone, Copy)]
enum Does<'l> {
    Computes(&'l str, u64),
    Sleeps(&'l str, u64),
    WaitsForNetwork(&'l str, u64),
    Polls(&'l str, u64),
}

fn run(deeds: &[Does]) -> Recording {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    for (number, deed) in deeds.iter().enumerate() {
        let stack = number as u32 + 1;
        let (Does::Computes(library, time)
        | Does::Sleeps(library, time)
        | Does::WaitsForNetwork(library, time)
        | Does::Polls(library, time)) = *deed;
        fixture.stack(stack, &["libc.so.6!something", &format!("{library}!work"), "client!main"]);
        match deed {
            Does::Computes(..) => fixture.computes(CLIENT, time * MS, stack),
            Does::Sleeps(..) => {
                fixture.waits(CLIENT, time * MS, CLOCK_NANOSLEEP, |call| call.stack = stack);
            }
            Does::WaitsForNetwork(..) => {
                fixture.waits(CLIENT, time * MS, READ, |call| (call.stack, call.connection) = (stack, 1));
            }
            Does::Polls(..) => {
                fixture.waits(CLIENT, time * MS, EPOLL_WAIT, |call| call.stack = stack);
            }
        }
    }
    fixture.end()
}

fn rounded(rows: &[LibraryBlame]) -> Vec<(&str, i32, i32)> {
    let percent = |share: f64| (share * 100.0).round() as i32;
    rows.iter().map(|row| (row.library.as_str(), percent(row.cpu_share), percent(row.difference))).collect()
}

#[test]
fn the_library_that_computes_longer_is_suspected_whatever_its_version() {
    use Does::Computes;
    let good = run(&[Computes("libcrypto.so.1.1", 50), Computes("libcurl.so.4", 20)]);
    let bad = run(&[Computes("libcrypto.so.3", 160), Computes("libcurl.so.4", 40)]);
    let rows = blame(&[good.clone(), good], &[bad.clone(), bad]);
    assert_eq!(rounded(&rows), [("/usr/lib/libcrypto.so.3", 80, 85), ("/usr/lib/libcurl.so.4", 20, 15)]);
}

#[test]
fn a_sleep_within_a_library_is_that_librarys() {
    use Does::{Computes, Sleeps};
    let good = run(&[Computes("libwork.so.1", 50)]);
    let bad = run(&[Computes("libwork.so.1", 50), Sleeps("libidle.so.2", 100)]);
    assert_eq!(
        rounded(&blame(&[good], &[bad])),
        [("/usr/lib/libidle.so.2", 0, 100), ("/usr/lib/libwork.so.1", 100, 0)]
    );
}

#[test]
fn waiting_for_the_network_is_nobodys() {
    use Does::{Computes, Polls, WaitsForNetwork};
    let good = run(&[Computes("libwork.so.1", 50)]);
    let bad = run(&[Computes("libwork.so.1", 60), WaitsForNetwork("libnet.so.1", 900), Polls("libloop.so.1", 900)]);
    assert_eq!(rounded(&blame(&[good], &[bad])), [("/usr/lib/libwork.so.1", 100, 100)]);
}

#[test]
fn what_takes_less_is_not_suspected() {
    use Does::Computes;
    let good = run(&[Computes("libold.so.1", 100), Computes("libwork.so.1", 50)]);
    let bad = run(&[Computes("libold.so.1", 30), Computes("libwork.so.1", 90)]);
    let (good, bad) = ([good], [bad]);
    let rows = blame(&good, &bad);
    assert_eq!(rounded(&rows), [("/usr/lib/libwork.so.1", 75, 100), ("/usr/lib/libold.so.1", 25, 0)]);
    let none = blame(&bad, &bad);
    assert!(none.iter().all(|row| row.difference == 0.0), "{none:?}");
    assert_eq!(blame(&[], &[]), []);
}

#[test]
fn a_side_with_twice_the_exchanges_is_not_twice_as_slow() {
    let run = |exchanges: u32| {
        let mut fixture = keep_alive(exchanges, MS);
        fixture.stack(1, &["libwork.so.1!work", "client!main"]);
        fixture.computes(CLIENT, u64::from(exchanges) * 10 * MS, 1);
        fixture.end()
    };
    let rows = blame(&[run(10)], &[run(20)]);
    assert_eq!(rounded(&rows), [("/usr/lib/libwork.so.1", 100, 0)]);
}
