use super::*;
use case::tables::direction::{IN, OUT};
use proptest::prelude::*;

fn feed(http: &mut Http, direction: u8, head: &[u8], bytes: u64) -> Vec<HttpMessage> {
    let mut messages = Vec::new();
    let moved = Moved { start: Nanos(1), end: Nanos(2), tid: 7, direction, bytes, head };
    http.feed(3, &moved, &mut messages);
    messages
}

fn whole(http: &mut Http, direction: u8, text: &str) -> Vec<HttpMessage> {
    feed(http, direction, text.as_bytes(), text.len() as u64)
}

#[test]
fn a_request_and_its_response_are_two_messages() {
    let mut http = Http::default();
    let asked = whole(&mut http, OUT, "GET /a?token=1 HTTP/1.1\r\nHost: h\r\nCookie: secret\r\n\r\n");
    assert_eq!(
        (asked[0].method.as_str(), asked[0].target.as_str(), asked[0].host.as_str()),
        ("GET", "/a?token=*", "h")
    );
    assert_eq!((asked[0].content_length, asked[0].closes, asked[0].connection, asked[0].tid), (-1, false, 3, 7));
    let answered = whole(&mut http, IN, "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");
    assert_eq!((answered[0].status, answered[0].content_length, answered[0].closes), (404, 3, true));
}

#[test]
fn what_could_be_compressed_and_what_is_is_told_by_the_heads() {
    let answered = |fields: &str| {
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{fields}\r\n\r\n");
        let messages = whole(&mut Http::default(), IN, &text);
        (messages[0].is_text, messages[0].is_compressed)
    };
    assert_eq!(answered("Content-Type: application/json"), (true, false));
    assert_eq!(answered("Content-Type: TEXT/html; charset=utf-8\r\nContent-Encoding: gzip"), (true, true));
    assert_eq!(answered("Content-Type: application/problem+json\r\nContent-Encoding: identity"), (true, false));
    assert_eq!(answered("Content-Type: text/plain; charset=utf-8"), (true, false));
    assert_eq!(answered("Content-Type: text/plain"), (false, false), "a server's word for what it does not know");
    assert_eq!(answered("Content-Type: image/png"), (false, false));
    let asked = |field: &str| {
        let text = format!("GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: {field}\r\n\r\n");
        whole(&mut Http::default(), OUT, &text)[0].is_compressed
    };
    assert!(asked("gzip, deflate;q=0.5, identity"));
    assert!(asked("identity;q=1, br;q=0.2"));
    assert!(!asked("identity") && !asked("gzip;q=0"));
}

#[test]
fn a_head_cut_by_the_capture_gives_what_it_holds() {
    let mut http = Http::default();
    let text = "POST /upload HTTP/1.1\r\nHost: example\r\nContent-Length: 70000\r\nUser-Agent: so";
    let messages = feed(&mut http, OUT, text.as_bytes(), 70_200);
    assert_eq!((messages[0].method.as_str(), messages[0].host.as_str()), ("POST", "example"));
    assert_eq!(messages[0].content_length, 70_000);
    let cut = feed(&mut Http::default(), OUT, b"GET /a/very/long?path=x", 900);
    assert_eq!((cut[0].method.as_str(), cut[0].target.as_str()), ("GET", "/a/very/long?path=*"));
}

#[test]
fn a_body_that_resembles_a_head_is_not_one() {
    let mut http = Http::default();
    whole(&mut http, OUT, "POST / HTTP/1.1\r\nContent-Length: 40\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(whole(&mut http, IN, "HTTP/1.1 100 Continue\r\n\r\n")[0].status, 100);
    assert_eq!(whole(&mut http, OUT, "GET /inner HTTP/1.1\r\nHost: nested.org\r\n\r\n").len(), 0);
    assert_eq!(whole(&mut http, IN, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")[0].status, 200);
    assert_eq!(whole(&mut http, OUT, "GET /next HTTP/1.1\r\n\r\n").len(), 1);
}

#[test]
fn later_calls_of_a_turn_begin_nothing_where_the_end_is_not_known() {
    let mut http = Http::default();
    whole(&mut http, OUT, "GET / HTTP/1.1\r\n\r\n");
    whole(&mut http, IN, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!(whole(&mut http, IN, "HTTP/1.1 200 OK\r\n\r\n").len(), 0);
}

#[test]
fn an_answer_to_head_has_no_body_and_an_interim_answer_is_followed_by_another() {
    let mut http = Http::default();
    whole(&mut http, OUT, "HEAD / HTTP/1.1\r\n\r\n");
    assert_eq!(whole(&mut http, IN, "HTTP/1.1 103 Early Hints\r\n\r\n").len(), 1);
    assert_eq!(whole(&mut http, IN, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n").len(), 1);
    whole(&mut http, OUT, "GET / HTTP/1.1\r\n\r\n");
    assert_eq!(whole(&mut http, IN, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx").len(), 1);
}

#[test]
fn a_head_read_byte_by_byte_is_one_message_with_all_its_headers() {
    let mut http = Http::default();
    let mut messages = Vec::new();
    for byte in b"GET /slow HTTP/1.1\r\nHost: bytewise\r\n\r\n" {
        messages.extend(feed(&mut http, IN, &[*byte], 1));
    }
    assert_eq!(messages.len(), 1);
    assert_eq!((messages[0].target.as_str(), messages[0].host.as_str()), ("/slow", "bytewise"));
}

#[test]
fn version_one_zero_closes_unless_it_says_otherwise() {
    let closes = |text: &str| whole(&mut Http::default(), OUT, text)[0].closes;
    assert!(closes("GET / HTTP/1.0\r\n\r\n"));
    assert!(!closes("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
    assert!(!closes("GET / HTTP/1.1\r\n\r\n"));
}

#[test]
fn other_protocols_have_no_messages() {
    for other in ["GET key\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "*2\r\n$3\r\nGET\r\n", "QUIT\r\n", "220 ready\r\n"]
    {
        assert_eq!(whole(&mut Http::default(), OUT, other).len(), 0, "{other}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(calls in proptest::collection::vec((0u8..2, "(GET |HTTP/1.1 |PUT /)?[ -~\r\n]{0,90}", 0u64..200), 0..12)) {
        let mut http = Http::default();
        for (direction, text, more) in calls {
            feed(&mut http, direction, text.as_bytes(), (text.len() as u64).saturating_add(more).saturating_sub(9));
        }
    }

    #[test]
    fn a_message_cut_into_any_two_calls_is_one_message(cut in 1usize..45) {
        let text = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok";
        let mut http = Http::default();
        let mut messages = whole(&mut http, IN, &text[..cut]);
        messages.extend(whole(&mut http, IN, &text[cut..]));
        prop_assert_eq!(messages.len(), 1);
        prop_assert_eq!(messages[0].content_length, 2);
    }
}
