//! The accounts: what time can have gone into.

mod awaited;
mod written;

pub use awaited::{Awaited, CodeLine, Doing};

use super::end::End;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use storage::tables::transport;

/// What time went into.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Account {
    /// On CPU in user mode.
    UserCpu {
        /// At which end.
        end: End,
        /// The file name of the library or program; none if no samples show it.
        module: Option<String>,
    },
    /// On CPU in the kernel.
    KernelCpu {
        /// At which end.
        end: End,
    },
    /// Runnable, waiting for a CPU: run delay.
    RunDelay {
        /// At which end.
        end: End,
    },
    /// Blocked in a system call.
    Blocked {
        /// At which end.
        end: End,
        /// The call: `read`.
        call: String,
        /// What a call of that kind waits for.
        wait: Wait,
        /// What it was called on; none if that has no name, or if many small ones are shown as one.
        object: Option<Object>,
    },
    /// Blocked outside every recorded call.
    BlockedElsewhere {
        /// At which end.
        end: End,
    },
    /// Blocked uninterruptibly outside every recorded call: usually a page fault that reads a disk.
    PageFault {
        /// At which end.
        end: End,
    },
    /// Waiting for a name's address.
    Lookup {
        /// What it went into at whoever answered, or on the way; absent if that was not recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<Box<Account>>,
    },
    /// Waiting for a connection.
    Connect {
        /// What it went into at whoever answered, or on the way; absent if that was not recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<Box<Account>>,
    },
    /// Waiting for a full TLS handshake.
    FullHandshake {
        /// What it went into at whoever answered, or on the way; absent if that was not recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<Box<Account>>,
    },
    /// Waiting for a resumed TLS handshake.
    ResumedHandshake {
        /// What it went into at whoever answered, or on the way; absent if that was not recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<Box<Account>>,
    },
    /// Bytes were held by Nagle's algorithm until the peer acknowledged earlier ones.
    HeldByNagle {
        /// At which end.
        end: End,
    },
    /// Bytes were held in the sender's kernel for another reason: the window, or a queue.
    HeldInKernel {
        /// At which end.
        end: End,
    },
    /// A peer that was not recorded held bytes until this end acknowledged earlier ones.
    HeldAtPeer,
    /// Waiting for a lost segment to be retransmitted.
    Retransmission,
    /// The request was sent, and the peer was not recorded.
    NetworkAndPeer,
    /// The request or the response was under way between two recorded ends.
    Network,
    /// Wake-up: data had arrived, but the thread that waited for it was not running yet.
    WakeUp {
        /// At which end.
        end: End,
    },
    /// In the program at one end, or in its kernel: only the wire was captured.
    Unrecorded {
        /// At which end.
        end: End,
    },
    /// Outside exchanges: no request was under way, and only the wire was captured.
    NoRequest,
    /// Outside exchanges: on CPU.
    CpuOutside {
        /// The file name of the library or program; none if no samples show it.
        module: Option<String>,
    },
    /// Outside exchanges: runnable, waiting for a CPU.
    RunDelayOutside,
    /// Outside exchanges: blocked in a system call.
    BlockedOutside {
        /// The call: `read`.
        call: String,
        /// What a call of that kind waits for.
        wait: Wait,
        /// What it was called on; none if that has no name, or if many small ones are shown as one.
        object: Option<Object>,
    },
    /// Outside exchanges: blocked outside every recorded call.
    BlockedElsewhereOutside,
    /// Outside exchanges: blocked uninterruptibly outside every recorded call.
    PageFaultOutside,
    /// Before the program's first event, or after its last.
    StartAndEnd,
    /// Time that no account explains.
    Unexplained,
    /// An account that this version of whyslow does not know: only its name is left.
    #[default]
    #[serde(other)]
    Other,
}

/// What a system call that blocks waits for, by the kind of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// A time that the program chose: `nanosleep`.
    Sleep,
    /// A lock, or another thread: `futex`.
    Lock,
    /// The end of a child process: `wait4`.
    Child,
    /// Any of several descriptors: `epoll_wait`.
    Events,
    /// What it was called on: bytes to read, room to write, a disk.
    #[default]
    Object,
}

/// What a call was about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Object {
    /// A file.
    File {
        /// Its path; none if it was not recorded.
        path: Option<String>,
    },
    /// A connection.
    Connection {
        /// The peer's address, or a socket's path; none if a local socket has no name.
        remote: Option<String>,
    },
    /// Connections to clients, whose ports differ each time.
    Client,
    /// Sockets of a transport.
    Socket {
        /// The transport.
        transport: Transport,
    },
    /// A wait that somebody ended who was recorded: that one, or whom that one waited for.
    Awaited {
        /// Who, and what it did meanwhile.
        by: Box<Awaited>,
    },
    /// A wait that nobody ended: the time that the call was given ran out.
    TimeOut,
}

/// The transport of a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// A Unix domain socket.
    Unix,
    /// Any other object.
    #[default]
    Other,
}

impl Account {
    /// The name in the answer's ledger. The end that exchanges are seen from, the client's, has no prefix.
    pub fn name(&self) -> String {
        match self {
            Account::CpuOutside { module: None } => "CPU between requests".to_string(),
            Account::CpuOutside { module: Some(module) } => format!("CPU between requests: {module}"),
            Account::RunDelayOutside => "waiting for a CPU between requests".to_string(),
            Account::BlockedOutside { .. } | Account::BlockedElsewhereOutside | Account::PageFaultOutside => {
                format!("between requests: {}", self.name_of_run())
            }
            _ => self.name_of_run(),
        }
    }

    /// The name where no exchange was seen, so that there is nothing to be outside of.
    pub fn name_of_run(&self) -> String {
        let end = self.end().map_or("", prefix);
        match self {
            Account::UserCpu { module: None, .. } => format!("{end}CPU: user"),
            Account::UserCpu { module: Some(module), .. } => format!("{end}CPU: user, {module}"),
            Account::CpuOutside { module: None } => "CPU".to_string(),
            Account::CpuOutside { module: Some(module) } => format!("CPU: {module}"),
            Account::Blocked { call, wait, object, .. } | Account::BlockedOutside { call, wait, object } => {
                format!("{end}{}", blocked(call, *wait, object.as_ref()))
            }
            Account::Unrecorded { end } => format!("the {end} itself"),
            Account::Lookup { part: Some(part) }
            | Account::Connect { part: Some(part) }
            | Account::FullHandshake { part: Some(part) }
            | Account::ResumedHandshake { part: Some(part) } => {
                format!("{}: {}", self.fixed_name(), part.name_of_run())
            }
            _ => format!("{end}{}", self.fixed_name()),
        }
    }

    /// The names of those that have no part that differs from program to program.
    fn fixed_name(&self) -> &'static str {
        match self {
            Account::UserCpu { .. } | Account::CpuOutside { .. } => "CPU",
            Account::KernelCpu { .. } => "CPU: kernel",
            Account::RunDelay { .. } | Account::RunDelayOutside => "waiting for a CPU",
            Account::Blocked { .. } | Account::BlockedOutside { .. } => "blocked",
            Account::BlockedElsewhere { .. } | Account::BlockedElsewhereOutside => {
                "blocked in a call that is not recorded"
            }
            Account::PageFault { .. } | Account::PageFaultOutside => "blocked on a disk outside calls",
            Account::Lookup { .. } => "name look-up",
            Account::Connect { .. } => "connect",
            Account::FullHandshake { .. } => "TLS handshake (full)",
            Account::ResumedHandshake { .. } => "TLS handshake (resumed)",
            Account::HeldByNagle { .. } => "held by Nagle until the peer acknowledges",
            Account::HeldInKernel { .. } => "held in the local kernel (window or queue)",
            Account::HeldAtPeer => "held at the peer until our delayed acknowledgement",
            Account::Retransmission => "waiting for a retransmission",
            Account::NetworkAndPeer => "network and peer",
            Account::Network => "network",
            Account::WakeUp { .. } => "wake-up delay",
            Account::Unrecorded { .. } => "an end itself",
            Account::NoRequest => "no request under way",
            Account::StartAndEnd => "start-up and end of the program",
            Account::Unexplained => "unexplained",
            Account::Other => "another account",
        }
    }

    /// At which end the time passed; none where that is neither's, or both's.
    pub fn end(&self) -> Option<End> {
        match self {
            Account::UserCpu { end, .. }
            | Account::KernelCpu { end }
            | Account::RunDelay { end }
            | Account::Blocked { end, .. }
            | Account::BlockedElsewhere { end }
            | Account::PageFault { end }
            | Account::HeldByNagle { end }
            | Account::HeldInKernel { end }
            | Account::WakeUp { end }
            | Account::Unrecorded { end } => Some(*end),
            _ => None,
        }
    }

    /// The same where no exchange was seen: what is outside of exchanges there is the client's.
    #[must_use]
    pub fn of_run(&self) -> Account {
        let end = End::Client;
        match self.clone() {
            Account::CpuOutside { module } => Account::UserCpu { end, module },
            Account::RunDelayOutside => Account::RunDelay { end },
            Account::BlockedOutside { call, wait, object } => Account::Blocked { end, call, wait, object },
            Account::BlockedElsewhereOutside => Account::BlockedElsewhere { end },
            Account::PageFaultOutside => Account::PageFault { end },
            other => other,
        }
    }

    /// Whether the time passed while no exchange was in flight.
    pub fn is_outside(&self) -> bool {
        matches!(
            self,
            Account::CpuOutside { .. }
                | Account::RunDelayOutside
                | Account::BlockedOutside { .. }
                | Account::BlockedElsewhereOutside
                | Account::PageFaultOutside
                | Account::NoRequest
                | Account::StartAndEnd
        )
    }
}

fn prefix(end: End) -> &'static str {
    match end {
        End::Client => "",
        End::Server => "server ",
    }
}

fn blocked(call: &str, wait: Wait, object: Option<&Object>) -> String {
    match (object, wait) {
        (Some(Object::Awaited { by }), _) => by.name(),
        (Some(Object::TimeOut), _) => format!("blocked in {call} until a time-out"),
        (Some(Object::File { path: Some(path) }), _) => format!("blocked in {call} ({path})"),
        (Some(Object::File { path: None }), _) => format!("blocked in {call} (a file)"),
        (Some(Object::Connection { remote: Some(remote) }), _) => format!("blocked in {call} (to {remote})"),
        (Some(Object::Connection { remote: None }), _) => format!("blocked in {call} (to a local socket)"),
        (Some(Object::Client), _) => format!("blocked in {call} (to a client)"),
        (Some(Object::Socket { transport }), _) => format!("blocked in {call} ({} socket)", transport.name()),
        (None, Wait::Lock) => format!("blocked in {call} (a lock or another thread)"),
        (None, Wait::Sleep) => format!("asleep in {call}"),
        (None, Wait::Child) => format!("blocked in {call}: waiting for a child"),
        (None, Wait::Events) => format!("blocked in {call} (other events)"),
        (None, Wait::Object) => format!("blocked in {call}"),
    }
}

impl Transport {
    /// By its number in tables.
    pub fn of(number: u8) -> Transport {
        match number {
            transport::TCP => Transport::Tcp,
            transport::UDP => Transport::Udp,
            transport::UNIX => Transport::Unix,
            _ => Transport::Other,
        }
    }

    /// Before `socket`: `tcp`.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
            Transport::Unix => "unix",
            Transport::Other => "another kind of",
        }
    }
}

#[cfg(test)]
mod tests;
