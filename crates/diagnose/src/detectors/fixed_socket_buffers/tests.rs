use super::{SO_RCVBUF, SO_SNDBUF, SOCKET_LEVEL};
use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::syscall;
use crate::tests::{answer, names};
use case::Recording;

/// Bytes of each part of a response, a segment.
const PART: u32 = 1_448;

/// How a download goes.
struct Download {
    option: u64,
    bytes: u64,
    /// Whether the client waits for data, rather than computing between its reads.
    is_awaited: bool,
    /// Segments that leave at once, after which the sender waits.
    at_once: u32,
}

const SMALL: Download = Download { option: SO_SNDBUF, bytes: 2_048, is_awaited: true, at_once: 1 };

/// Ten responses of ten segments; each but the last is acknowledged after 40 ms, and the next one leaves then.
fn downloads(download: &Download) -> Recording {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let (tid, id) = if download.option == SO_SNDBUF { (SERVER, 1001) } else { (CLIENT, 1) };
    fixture.does(tid, 2 * US, syscall::SETSOCKOPT, |call| {
        (call.connection, call.argument_1, call.argument_2) = (id, SOCKET_LEVEL, download.option);
        call.argument_3 = download.bytes;
    });
    for _ in 0..10 {
        let asked = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(asked + 3 * US, 1, 1001, 200);
        fixture.moves(SERVER, 1001, READ, 200);
        for part in 0..10 {
            let left = fixture.now;
            for segment in 0..u64::from(download.at_once) {
                fixture.travels(left + 3 * US + segment * 10, 1001, 1, PART);
            }
            let wait = if part < 9 { 40 * MS } else { 20 * US };
            fixture.now = left;
            fixture.waits(SERVER, wait, WRITE, |call| {
                (call.connection, call.fd, call.result) = (1001, 5, i64::from(PART));
            });
            let until = fixture.now;
            fixture.now = left + 10 * US;
            fixture.moves(CLIENT, 1, READ, i64::from(PART));
            if download.is_awaited && part < 9 {
                fixture.off(CLIENT, fixture.now + US, until + 10 * US);
                let begun = fixture.now;
                fixture.does(CLIENT, until + 15 * US - begun, crate::fixture::EPOLL_WAIT, |call| call.result = 1);
            }
            fixture.acknowledges(until - 10 * US, 1, 1001);
            fixture.now = until + 20 * US;
        }
    }
    fixture.end()
}

fn is_found(download: &Download) -> bool {
    names(&downloads(download)).contains(&"fixed-socket-buffers".to_string())
}

#[test]
fn a_small_send_buffer_that_is_full_is_found() {
    let answer = answer(&downloads(&SMALL));
    let finding = answer.findings.iter().find(|one| one.name == "fixed-socket-buffers").expect("it is found");
    assert_eq!(finding.cost.affected, 10);
    assert!(finding.cost.share_of_wall > 0.9, "{:?}", finding.cost);
    assert!(finding.title.contains("The server's send buffer is fixed at 2048 bytes"), "{}", finding.title);
}

#[test]
fn a_small_receive_buffer_that_is_full_is_found() {
    assert!(is_found(&Download { option: SO_RCVBUF, ..SMALL }));
}

#[test]
fn a_buffer_that_is_nearly_empty_holds_nothing_up() {
    assert!(!is_found(&Download { bytes: 1 << 20, ..SMALL }));
}

#[test]
fn a_send_buffer_takes_a_whole_packet_more_than_fits() {
    assert!(is_found(&Download { bytes: 8_192, at_once: 50, ..SMALL }));
    // Without any room left a receive buffer lets no segment in.
    assert!(!is_found(&Download { option: SO_RCVBUF, bytes: 8_192, at_once: 50, ..SMALL }));
}

#[test]
fn another_option_is_no_buffer() {
    assert!(!is_found(&Download { option: 9, ..SMALL }));
}

#[test]
fn a_receiver_that_is_busy_makes_the_sender_wait_by_itself() {
    assert!(!is_found(&Download { option: SO_RCVBUF, is_awaited: false, ..SMALL }));
}
