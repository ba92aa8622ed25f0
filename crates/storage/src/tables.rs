//! The tables of a case, one row type a file. `CASE-FORMAT.md` is generated from these declarations.
//!
//! Identifiers (`connection`, `stack`, `location`, `path`) start at 1 within a case; 0 means none. Times are
//! nanoseconds since boot. Rows are written in the order in which the recorder learned of them, which is nearly, not
//! exactly, the order of time; [`Recording::load`](crate::Recording::load) sorts.

mod call;
mod call_sum;
mod command;
mod connection;
mod counter;
mod handshake;
mod http_message;
mod location;
mod lookup;
mod loss;
mod path;
mod process;
mod sample;
mod scheduler_sum;
mod segment;
mod stack_frame;
mod switch;
mod tcp_event;
mod thinned;
mod thread;
mod tls_record;
mod trial;
mod wait;

pub use call::{Call, content};
pub use call_sum::CallSum;
pub use command::Command;
pub use connection::{Connection, role, transport};
pub use counter::Counter;
pub use handshake::Handshake;
pub use http_message::HttpMessage;
pub use location::{Location, kind, module};
pub use lookup::Lookup;
pub use loss::Loss;
pub use path::Path;
pub use process::Process;
pub use sample::Sample;
pub use scheduler_sum::SchedulerSum;
pub use segment::{Segment, flags, limit};
pub use stack_frame::StackFrame;
pub use switch::{Switch, reason};
pub use tcp_event::{TcpEvent, event};
pub use thinned::Thinned;
pub use thread::Thread;
pub use tls_record::TlsRecord;
pub use trial::{Trial, output, work};
pub use wait::{Wait, ender};

/// Which way something went, seen from the socket's owner.
pub mod direction {
    /// Out of the owner's host (a segment) or written by the owner (a record, a message).
    pub const OUT: u8 = 0;
    /// Arrived at the owner's host, or read by the owner.
    pub const IN: u8 = 1;
}
