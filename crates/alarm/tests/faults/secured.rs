//! The same over TLS, with an authority of the tests' own: HTTPS webhooks, Pushover's form, mail by STARTTLS, and mail in TLS
//! from the beginning.

use super::{Does, Got, PAUSE, answer, listener, messages};
use alarm::{Delivery, Rules};
use farm::Authority;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// What a server does with whoever comes first. Whoever comes later is served.
#[derive(Clone, Copy, Debug, PartialEq)]
enum First {
    Serves,
    /// It is not there yet.
    IsDown,
    IsSlow,
    /// 429 with a Retry-After; 421 in mail.
    IsBusy,
    /// 500; 451 in mail.
    Fails,
    /// It closes the connection in the middle of a TLS handshake.
    BreaksTls,
}

const ALL: [First; 6] = [First::Serves, First::IsDown, First::IsSlow, First::IsBusy, First::Fails, First::BreaksTls];

/// How a server is talked to.
#[derive(Clone, Copy)]
enum Spoken {
    Https,
    MailByStarttls,
    MailInTls,
}

/// Whatever can be read and written.
trait Duplex: Read + Write {}
impl<T: Read + Write> Duplex for T {}

fn secured<S: Duplex + 'static>(stream: S, settings: &Arc<ServerConfig>) -> Box<dyn Duplex> {
    Box::new(StreamOwned::new(ServerConnection::new(settings.clone()).expect("TLS"), stream))
}

/// Serves one connection; the message that was taken, or that some was tried.
fn serve(stream: TcpStream, spoken: Spoken, first: First, settings: &Arc<ServerConfig>) -> Option<Got> {
    if first == First::BreaksTls && !matches!(spoken, Spoken::MailByStarttls) {
        return Some(refused());
    }
    match spoken {
        Spoken::Https => {
            let does = match first {
                First::IsSlow => Does::IsSlow,
                First::IsBusy => Does::Answers("429 Too Many Requests\r\nRetry-After: 1"),
                First::Fails => Does::Answers("500 Internal Server Error"),
                _ => Does::Answers("200 OK"),
            };
            answer(secured(stream, settings), does)
        }
        Spoken::MailInTls => mail(secured(stream, settings), first, None),
        Spoken::MailByStarttls => mail(Box::new(stream), first, Some(settings)),
    }
}

fn refused() -> Got {
    Got { head: String::new(), body: String::new(), taken: false }
}

/// One conversation in SMTP, which goes on in TLS where settings for that are given.
fn mail(stream: Box<dyn Duplex>, first: First, starttls: Option<&Arc<ServerConfig>>) -> Option<Got> {
    let mut stream = BufReader::new(stream);
    let mut offers = starttls;
    let greeting = if first == First::IsBusy { "421 too many connections" } else { "220 test" };
    write!(stream.get_mut(), "{greeting}\r\n").ok()?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok().is_none_or(|length| length == 0) {
            return Some(refused());
        }
        let reply = match line.get(..4)? {
            "EHLO" if offers.is_some() => "250-test\r\n250 STARTTLS",
            "STAR" if first == First::BreaksTls => {
                let _ = write!(stream.get_mut(), "220 go on\r\n");
                return Some(refused());
            }
            "STAR" => {
                write!(stream.get_mut(), "220 go on\r\n").ok()?;
                stream = BufReader::new(secured(stream.into_inner(), offers.take()?));
                continue;
            }
            "MAIL" | "RCPT" if offers.is_some() => "530 not without TLS",
            "RCPT" if first == First::Fails => "451 4.7.1 later",
            "DATA" => break,
            _ => "250 ok",
        };
        write!(stream.get_mut(), "{reply}\r\n").ok()?;
    }
    write!(stream.get_mut(), "354 go on\r\n").ok()?;
    let mut text = String::new();
    while !text.ends_with("\r\n.\r\n") {
        stream.read_line(&mut text).ok().filter(|length| *length > 0)?;
    }
    if first == First::IsSlow {
        std::thread::sleep(Duration::from_millis(1_500));
    }
    write!(stream.get_mut(), "250 taken\r\n").ok()?;
    Some(Got { head: String::new(), body: text, taken: true })
}

/// What a server got of the two messages, in each trouble: both once, in order, after as many attempts as it takes.
fn expect_once(spoken: Spoken, channel: &str, raised: &str, recovered: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new().expect("an authority");
    let trusted = folder.path().join("ca.pem");
    std::fs::write(&trusted, &authority.pem).expect("written");
    let settings = Arc::new(authority.settings().expect("TLS"));
    std::thread::scope(|scope| {
        for first in ALL {
            let (settings, trusted) = (&settings, &trusted);
            scope.spawn(move || {
                let all = delivered(spoken, first, settings, channel, trusted);
                let taken = all.iter().filter(|one| one.taken).map(|one| one.body.as_str()).collect::<Vec<_>>();
                let attempts = if matches!(first, First::Serves | First::IsDown | First::IsSlow) { 2 } else { 3 };
                assert_eq!((all.len(), taken.len()), (attempts, 2), "{first:?}: {taken:?}");
                assert!(taken[0].contains(raised) && taken[1].contains(recovered), "{first:?}: {taken:?}");
            });
        }
    });
}

fn delivered(spoken: Spoken, first: First, settings: &Arc<ServerConfig>, channel_of: &str, trusted: &Path) -> Vec<Got> {
    let (waiting, port) = listener();
    // Nobody listens while it is down.
    let waiting = (first != First::IsDown).then_some(waiting);
    let (sender, got) = channel();
    let settings = settings.clone();
    std::thread::spawn(move || {
        let waiting = waiting.unwrap_or_else(|| {
            std::thread::sleep(Duration::from_millis(400));
            TcpListener::bind(("127.0.0.1", port)).expect("the same port")
        });
        for (turn, stream) in waiting.incoming().enumerate() {
            let first = if turn == 0 { first } else { First::Serves };
            let Some(one) = stream.ok().and_then(|stream| serve(stream, spoken, first, &settings)) else { continue };
            if sender.send(one).is_err() {
                return;
            }
        }
    });
    let delivery = Delivery::with_pause(rules(channel_of, port, trusted), PAUSE);
    delivery.send(messages(&rules(channel_of, port, trusted)));
    let outcomes = delivery.finish(Duration::from_secs(20));
    let mut all = Vec::new();
    // One more would come soon.
    while let Ok(one) = got.recv_timeout(Duration::from_millis(300)) {
        all.push(one);
    }
    assert!(outcomes.iter().all(|one| one.failed.is_none() || one.again), "{first:?}: {outcomes:?}");
    all
}

fn rules(channel: &str, port: u16, trusted: &Path) -> Rules {
    let channel = channel.replace("PORT", &port.to_string());
    super::rules(&format!("trusted = '{}'\n{channel}", trusted.display()))
}

#[test]
fn a_webhook_by_https_gets_each_message_once() {
    let channel = "webhook = { url = 'https://localhost:PORT/hook' }";
    expect_once(Spoken::Https, channel, "\"raised\"", "\"recovered\"");
}

#[test]
fn pushover_gets_each_message_once_as_a_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let token = folder.path().join("token");
    std::fs::write(&token, "a+b").expect("written");
    let secret = format!("{{ file = '{}' }}", token.display());
    let url = "https://localhost:PORT/1/messages.json";
    let channel = format!("pushover = {{ url = '{url}', token = {secret}, user = {secret} }}");
    let form = |message: &str| format!("token=a%2Bb&user=a%2Bb&title=whyslow&message={message}");
    expect_once(Spoken::Https, &channel, &form("ALARM+gone%3A+gopher+does+not+run"), &form("OK+gone"));
}

#[test]
fn mail_by_starttls_gets_each_message_once() {
    let mail = "smtp = { server = 'localhost:PORT', from = 'a@example.org', to = ['b@example.org'] }";
    expect_once(Spoken::MailByStarttls, mail, "ALARM gone: gopher does not run", "OK gone");
}

#[test]
fn mail_in_tls_gets_each_message_once() {
    let mail = "smtp = { server = 'localhost:PORT', from = 'a@example.org', to = ['b@example.org'], security = 'tls' }";
    expect_once(Spoken::MailInTls, mail, "ALARM gone: gopher does not run", "OK gone");
}

#[test]
fn a_server_whose_authority_is_not_trusted_is_told_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let trusted = folder.path().join("ca.pem");
    std::fs::write(&trusted, &Authority::new().expect("an authority").pem).expect("written");
    let settings = Arc::new(Authority::new().expect("another").settings().expect("TLS"));
    let (waiting, port) = listener();
    std::thread::spawn(move || {
        for stream in waiting.incoming().flatten() {
            let got = serve(stream, Spoken::Https, First::Serves, &settings);
            assert!(got.is_none(), "it got a message");
        }
    });
    let rules = || rules("webhook = { url = 'https://localhost:PORT/hook' }", port, &trusted);
    let delivery = Delivery::with_pause(rules(), PAUSE);
    delivery.send(messages(&rules()));
    let outcomes = delivery.finish(Duration::from_secs(1));
    assert!(!outcomes.is_empty() && outcomes.iter().all(|one| one.failed.is_some()), "{outcomes:?}");
}
