//! Servers that do one thing, as wrong as it may be.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// A server that does the same on every connection, each on a thread of its own; its port.
///
/// # Panics
/// Where no port is left.
pub fn server(serve: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            thread::spawn(move || serve(stream));
        }
    });
    port
}

/// A server that waits for a request, sends these bytes, and closes.
pub fn says(answer: impl Into<Vec<u8>>) -> u16 {
    let answer = answer.into();
    server(move |mut stream| {
        let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(&answer));
    })
}

/// A server that sends these bytes for each request.
pub fn answers(answer: impl Into<Vec<u8>>) -> u16 {
    let answer = answer.into();
    server(move |mut stream| {
        let mut bytes = [0; 4096];
        while stream.read(&mut bytes).is_ok_and(|count| count > 0) && stream.write_all(&answer).is_ok() {}
    })
}

/// A server that waits for a request and never answers.
pub fn silent() -> u16 {
    server(|mut stream| while stream.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {})
}

/// A server that begins with `begin` and then sends `more` again and again, with a rest after each.
pub fn endless(begin: &'static [u8], more: &'static [u8], rest: std::time::Duration) -> u16 {
    server(move |mut stream| {
        let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(begin));
        while stream.write_all(more).is_ok() {
            thread::sleep(rest);
        }
    })
}

/// A port that nobody listens on.
///
/// # Panics
/// Where no port is left.
pub fn closed() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("an address").port()
}

/// A server that resets the connection: what is closed with bytes unread is.
pub fn resets() -> u16 {
    server(|stream| {
        let _ = stream.peek(&mut [0]);
    })
}

/// An answer with a body.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}
