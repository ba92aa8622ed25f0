//! HTTP/2 (RFC 9113), by the `h2` crate over memory: bytes of the server go into a [`Pipe`], what is to be sent comes out
//! of it, and no task, waker or runtime is behind it. Whoever reads polls everything there is, each time bytes have come.

use super::{Reply, Search};
use crate::message::Message;
use crate::plan::Expected;
use bytes::Bytes;
use case::LoadFault;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Windows that never hold a server back, as h2load has them: what comes is dropped at once.
const WINDOW: u32 = 1 << 30;
/// The same as for HTTP/1.
const LONGEST_HEAD: u32 = 64 << 10;
/// How far a request is.
pub(crate) enum Progress {
    /// Nothing has come.
    Asked,
    /// Its head is there.
    Begun,
    /// It is answered, or has failed by itself.
    Ended(Result<Reply, LoadFault>),
}

/// The requests of one connection, in the order in which they were asked.
pub(crate) struct Reader {
    expected: Expected,
    session: Option<Session>,
    streams: VecDeque<Stream>,
    /// The server takes no more requests on this connection.
    is_over: bool,
    has_answered: bool,
}

struct Session {
    pipe: Rc<RefCell<Pipe>>,
    sender: SendRequest<Bytes>,
    connection: Connection<End, Bytes>,
}

enum Stream {
    Asked(ResponseFuture),
    Answered { status: u16, body: RecvStream, search: Search },
}

impl Reader {
    pub(crate) fn of(expected: &Expected) -> Reader {
        Reader {
            expected: expected.clone(),
            session: None,
            streams: VecDeque::new(),
            is_over: false,
            has_answered: false,
        }
    }

    /// Adds a request: its bytes, and before the first those that begin the connection, go to `out`.
    pub(crate) fn ask(&mut self, message: &Message, out: &mut Vec<u8>) -> Result<(), LoadFault> {
        if self.session.is_none() {
            self.session = Some(Session::begin()?);
        }
        let Some(session) = &mut self.session else { return Err(LoadFault::Other) };
        // A sender of its own for each: one sender waits until the server's limit of streams lets its last request out.
        let sent = session.sender.clone().send_request(message.head.clone(), message.body.is_empty());
        let (response, mut sender) = sent.map_err(|error| fault(&error, true))?;
        if !message.body.is_empty() {
            sender.send_data(message.body.clone(), true).map_err(|error| fault(&error, true))?;
        }
        self.streams.push_back(Stream::Asked(response));
        self.write(out)
    }

    /// Takes in what has come. Errors are of the whole connection.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), LoadFault> {
        let Some(session) = &mut self.session else { return Err(LoadFault::Unasked) };
        session.pipe.borrow_mut().incoming.extend_from_slice(bytes);
        self.poll()
    }

    /// How far a request is, by its place among those that have not ended. One that has ended is gone.
    pub(crate) fn progress(&mut self, place: usize) -> Progress {
        let context = &mut Context::from_waker(Waker::noop());
        let Some(stream) = self.streams.get_mut(place) else { return Progress::Asked };
        let progress = stream.progress(&self.expected, context);
        let progress = progress.unwrap_or_else(|error| Progress::Ended(Err(fault(&error, self.has_answered))));
        if let Progress::Ended(outcome) = &progress {
            self.has_answered |= outcome.is_ok();
            self.streams.remove(place);
        }
        progress
    }

    /// Puts what there is to send into `out`: requests, acknowledgements, windows.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> Result<(), LoadFault> {
        self.poll()?;
        if let Some(session) = &mut self.session {
            let mut pipe = session.pipe.borrow_mut();
            if out.is_empty() {
                mem::swap(out, &mut pipe.outgoing);
            } else {
                out.append(&mut pipe.outgoing);
            }
        }
        Ok(())
    }

    /// Whether the connection takes no more requests.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The server has closed the connection: what becomes of the requests on it.
    pub(crate) fn closed(&self) -> LoadFault {
        match self.streams.front() {
            Some(Stream::Answered { .. }) => LoadFault::TruncatedBody,
            _ => LoadFault::ClosedEarly,
        }
    }

    fn poll(&mut self) -> Result<(), LoadFault> {
        let Some(session) = &mut self.session else { return Ok(()) };
        let context = &mut Context::from_waker(Waker::noop());
        match Pin::new(&mut session.connection).poll(context) {
            Poll::Ready(Err(error)) => return Err(fault(&error, self.has_answered)),
            Poll::Ready(Ok(())) => self.is_over = true,
            // After a GOAWAY requests under way are answered, and no more are taken.
            Poll::Pending => self.is_over = matches!(session.sender.poll_ready(context), Poll::Ready(Err(_))),
        }
        Ok(())
    }
}

impl Session {
    fn begin() -> Result<Session, LoadFault> {
        let pipe = Rc::new(RefCell::new(Pipe::default()));
        let mut builder = Builder::new();
        builder.enable_push(false).max_header_list_size(LONGEST_HEAD);
        builder.initial_window_size(WINDOW).initial_connection_window_size(WINDOW);
        let shaking = pin!(builder.handshake(End(pipe.clone())));
        // It waits for nobody: memory takes its bytes, and the server's settings come when they come.
        match shaking.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok((sender, connection))) => Ok(Session { pipe, sender, connection }),
            _ => Err(LoadFault::Other),
        }
    }
}

impl Stream {
    fn progress(&mut self, expected: &Expected, context: &mut Context) -> Result<Progress, h2::Error> {
        if let Stream::Asked(response) = self {
            let Poll::Ready(response) = Pin::new(response).poll(context) else { return Ok(Progress::Asked) };
            let (head, body) = response?.into_parts();
            *self = Stream::Answered { status: head.status.as_u16(), body, search: Search::of(expected.body.as_ref()) };
        }
        let Stream::Answered { status, body, search } = self else { return Ok(Progress::Asked) };
        loop {
            match body.poll_data(context) {
                Poll::Pending => return Ok(Progress::Begun),
                Poll::Ready(Some(part)) => {
                    let part = part?;
                    search.read(&part);
                    body.flow_control().release_capacity(part.len())?;
                }
                Poll::Ready(None) => break,
            }
        }
        let unexpected = expected.status.is_some_and(|expected| expected != *status);
        let fault = if unexpected { Some(LoadFault::UnexpectedStatus) } else { search.fault() };
        Ok(Progress::Ended(Ok(Reply { status: *status, fault, keeps: true })))
    }
}

/// A name for what the crate says. What breaks the protocol before anything was answered is another protocol.
fn fault(error: &h2::Error, has_answered: bool) -> LoadFault {
    match error.reason() {
        Some(Reason::REFUSED_STREAM) => LoadFault::ClosedEarly,
        _ if error.is_go_away() && error.is_remote() => LoadFault::ClosedEarly,
        _ if error.is_reset() && error.is_remote() => LoadFault::Reset,
        _ if error.is_io() => LoadFault::ClosedEarly,
        Some(_) if has_answered => LoadFault::BadHeader,
        Some(_) => LoadFault::BadStatusLine,
        None => LoadFault::Other,
    }
}

/// What has come and was not read, and what is to be sent.
#[derive(Default)]
struct Pipe {
    incoming: Vec<u8>,
    taken: usize,
    outgoing: Vec<u8>,
}

/// The crate's end of it.
struct End(Rc<RefCell<Pipe>>);

impl AsyncRead for End {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context, buffer: &mut ReadBuf) -> Poll<io::Result<()>> {
        let pipe = &mut *self.0.borrow_mut();
        let rest = &pipe.incoming[pipe.taken..];
        if rest.is_empty() {
            pipe.incoming.clear();
            pipe.taken = 0;
            return Poll::Pending;
        }
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        pipe.taken += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().outgoing.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
