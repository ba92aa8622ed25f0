//! Channels against real servers that are down, slow, and answer 429 and 500: each message arrives once.

mod secured;

use alarm::{Alarms, Delivery, Message, Rules, Seen, State};
use case::ServiceSample;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Short, so that tests take no longer than they must.
const PAUSE: Duration = Duration::from_millis(50);

/// What a server does with one request after the other; the last goes on.
#[derive(Clone, Copy)]
enum Does {
    Answers(&'static str),
    IsSlow,
    Closes,
}

/// A request that was answered with 2xx, or not.
struct Got {
    head: String,
    body: String,
    taken: bool,
}

/// A server of HTTP that does as it is told, on a port.
fn serve(listener: TcpListener, does: &'static [Does]) -> Receiver<Got> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for (turn, stream) in listener.incoming().enumerate() {
            let Ok(stream) = stream else { return };
            let does = does.get(turn).or(does.last()).copied().unwrap_or(Does::Answers("200 OK"));
            let Some(got) = answer(stream, does) else { continue };
            if sender.send(got).is_err() {
                return;
            }
        }
    });
    receiver
}

fn answer(stream: impl Read + Write, does: Does) -> Option<Got> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).ok()? > 2 {
        head += &std::mem::take(&mut line);
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).expect("text");
    let status = match does {
        Does::Closes => return Some(Got { head, body, taken: false }),
        Does::IsSlow => {
            std::thread::sleep(Duration::from_millis(1_500));
            "200 OK"
        }
        Does::Answers(status) => status,
    };
    let mut stream = reader.into_inner();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
    Some(Got { head, body, taken: status.starts_with('2') })
}

fn rules(channel: &str) -> Rules {
    Rules::parse(&format!("[[rule]]\nname = 'gone'\nwhen = 'gone'\n[[channel]]\nname = 'it'\n{channel}"))
        .expect("rules")
}

fn webhook(port: u16) -> Rules {
    rules(&format!("webhook = {{ url = 'http://127.0.0.1:{port}/hook' }}"))
}

/// The messages of a service that is gone and comes back.
fn messages(rules: &Rules) -> Vec<(Vec<usize>, Message)> {
    let mut alarms = Alarms::of(rules, "test", |_| String::new());
    let mut told = Vec::new();
    for turn in 1..30_u64 {
        let processes = u32::from(turn > 10);
        let sample = ServiceSample { service: "gopher".into(), processes, ..ServiceSample::default() };
        told.extend(alarms.take(&Seen { at_ms: turn * 10_000, samples: &[sample], deviations: &[], findings: &[] }));
    }
    assert_eq!(told.iter().map(|(_, message)| message.state).collect::<Vec<_>>(), [State::Raised, State::Recovered]);
    told
}

/// Sends the two messages, and gathers what the server got until both were taken.
fn delivered(rules: Rules, got: &Receiver<Got>) -> Vec<Got> {
    let told = messages(&rules);
    let delivery = Delivery::with_pause(rules, PAUSE);
    delivery.send(told);
    let begun = Instant::now();
    let mut all: Vec<Got> = Vec::new();
    while all.iter().filter(|one| one.taken).count() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} were taken", all.len());
        all.extend(got.recv_timeout(Duration::from_millis(100)));
    }
    // One more would come soon.
    all.extend(got.recv_timeout(Duration::from_millis(500)));
    delivery.finish(Duration::from_secs(5));
    all
}

/// The two messages, once each and in order.
fn assert_once(all: &[Got]) {
    let taken = all.iter().filter(|one| one.taken).map(|one| &one.body).collect::<Vec<_>>();
    assert_eq!(taken.len(), 2);
    assert!(taken[0].contains("\"raised\"") && taken[0].contains("gopher does not run"), "{}", taken[0]);
    assert!(taken[1].contains("\"recovered\""), "{}", taken[1]);
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (listener, port)
}

#[test]
fn a_server_that_works_gets_each_message_once() {
    let (listener, port) = listener();
    let all = delivered(webhook(port), &serve(listener, &[Does::Answers("200 OK")]));
    assert_eq!(all.len(), 2);
    assert_once(&all);
}

#[test]
fn one_that_is_down_gets_them_when_it_is_up() {
    let (listener, port) = listener();
    drop(listener);
    let (sender, got) = channel();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        let up = TcpListener::bind(("127.0.0.1", port)).expect("the same port");
        for one in serve(up, &[Does::Answers("200 OK")]) {
            drop(sender.send(one));
        }
    });
    let all = delivered(webhook(port), &got);
    assert_eq!(all.len(), 2);
    assert_once(&all);
}

#[test]
fn one_that_is_slow_is_waited_for() {
    let (listener, port) = listener();
    let all = delivered(webhook(port), &serve(listener, &[Does::IsSlow]));
    assert_eq!(all.len(), 2, "none was sent again");
    assert_once(&all);
}

#[test]
fn one_that_is_overloaded_is_asked_again_and_not_before_it_says() {
    let (listener, port) = listener();
    let does = &[Does::Answers("429 Too Many Requests\r\nRetry-After: 1"), Does::Answers("200 OK")];
    let begun = Instant::now();
    let all = delivered(webhook(port), &serve(listener, does));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(all.len(), 3);
    assert_once(&all);
}

#[test]
fn one_that_fails_or_closes_is_asked_again_under_the_same_key() {
    let (listener, port) = listener();
    let does = &[Does::Answers("500 Internal Server Error"), Does::Closes, Does::Answers("200 OK")];
    let all = delivered(webhook(port), &serve(listener, does));
    assert_eq!(all.len(), 4);
    assert_once(&all);
    let key = |got: &Got| got.head.lines().find(|line| line.starts_with("Idempotency-Key: ")).map(str::to_string);
    assert!(key(&all[0]).is_some() && key(&all[0]) == key(&all[1]) && key(&all[1]) == key(&all[2]));
    assert_ne!(key(&all[2]), key(&all[3]));
}

#[test]
fn one_that_refuses_is_not_asked_again() {
    let (listener, port) = listener();
    let got = serve(listener, &[Does::Answers("404 Not Found")]);
    let rules = webhook(port);
    let told = messages(&rules);
    let delivery = Delivery::with_pause(rules, PAUSE);
    delivery.send(told);
    let outcomes = delivery.finish(Duration::from_secs(10));
    let failed = outcomes.iter().map(|outcome| (outcome.failed.as_deref(), outcome.again)).collect::<Vec<_>>();
    assert_eq!(failed, [(Some("it answered with status 404"), false); 2]);
    assert_eq!(got.try_iter().count(), 2);
}

#[test]
fn more_than_a_channel_s_limit_is_counted_and_not_sent() {
    let (listener, port) = listener();
    let got = serve(listener, &[Does::Answers("200 OK")]);
    let rules = rules(&format!("most-an-hour = 1\nwebhook = {{ url = 'http://127.0.0.1:{port}/' }}"));
    let told = messages(&rules);
    let delivery = Delivery::with_pause(rules, PAUSE);
    delivery.send(told);
    let outcomes = delivery.finish(Duration::from_secs(10));
    assert_eq!(got.try_iter().count(), 1);
    assert!(outcomes.iter().any(|one| one.failed.as_deref() == Some("more messages than its limit allows")));
}

#[test]
fn a_secret_reaches_its_server_and_nothing_that_is_told() {
    let (listener, port) = listener();
    let got = serve(listener, &[Does::Answers("500 Internal Server Error"), Does::Answers("200 OK")]);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(&file, format!("http://127.0.0.1:{port}/services/T0/hunter2\n")).expect("written");
    let rules = rules(&format!("slack = {{ file = '{}' }}", file.path().display()));
    assert!(!format!("{rules:?}").contains("hunter2"));
    let told = messages(&rules);
    let delivery = Delivery::with_pause(rules, PAUSE);
    delivery.send(told);
    let outcomes = delivery.finish(Duration::from_secs(10));
    let all = got.try_iter().collect::<Vec<_>>();
    assert!(all[0].head.contains("/services/T0/hunter2"));
    assert!(all[1].body.starts_with("{\"text\":\"ALARM gone: gopher does not run\""), "{}", all[1].body);
    assert!(!outcomes.is_empty() && !format!("{outcomes:?}").contains("hunter2"));
}

#[test]
fn a_program_gets_the_message_and_is_started_again_when_it_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!(
        "cd {} && if [ ! -e failed ]; then touch failed; exit 1; fi; cat >> got; echo >> got",
        folder.path().display()
    );
    let rules = rules(&format!("command = ['sh', '-c', '{script}']"));
    let told = messages(&rules);
    let delivery = Delivery::with_pause(rules, PAUSE);
    delivery.send(told);
    delivery.finish(Duration::from_secs(10));
    let got = std::fs::read_to_string(folder.path().join("got")).expect("messages");
    assert_eq!(got.lines().count(), 2, "{got}");
    assert!(got.contains("gopher does not run") && got.contains("recovered"));
}

/// A server of mail that turns the first attempt away for now.
#[test]
fn mail_that_is_turned_away_for_now_is_sent_again() {
    let (listener, port) = listener();
    let (sender, got) = channel();
    std::thread::spawn(move || {
        for (turn, stream) in listener.incoming().enumerate() {
            let Ok(stream) = stream else { return };
            let _ = sender.send(mail(stream, turn == 0));
        }
    });
    let rules = rules(&format!(
        "smtp = {{ server = '127.0.0.1:{port}', from = 'a@example.org', to = ['b@example.org'], security = 'none' }}"
    ));
    let told = messages(&rules);
    let delivery = Delivery::with_pause(rules, PAUSE);
    delivery.send(told);
    delivery.finish(Duration::from_secs(10));
    let mails = got.try_iter().map(Option::unwrap_or_default).collect::<Vec<_>>();
    assert_eq!(mails.len(), 3);
    assert_eq!(mails[0], "", "greylisted");
    assert!(
        mails[1].contains("ALARM gone: gopher does not run") && mails[1].contains("Message-ID: <test-1-"),
        "{}",
        mails[1]
    );
    assert!(mails[2].contains("OK gone"), "{}", mails[2]);
}

fn mail(stream: TcpStream, turns_away: bool) -> Option<String> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    write!(stream, "220 test\r\n").ok()?;
    let mut line = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        match line.get(..4)? {
            "EHLO" => write!(stream, "250-test\r\n250 8BITMIME\r\n").ok()?,
            "RCPT" if turns_away => write!(stream, "451 4.7.1 later\r\n").ok()?,
            "DATA" => {
                write!(stream, "354 go on\r\n").ok()?;
                let mut text = String::new();
                while !text.ends_with("\r\n.\r\n") {
                    reader.read_line(&mut text).ok().filter(|length| *length > 0)?;
                }
                write!(stream, "250 taken\r\n").ok()?;
                return Some(text);
            }
            _ => write!(stream, "250 ok\r\n").ok()?,
        }
    }
}
