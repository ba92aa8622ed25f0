//! The accounts: what time can have gone into, and how each reads.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::syscall;

/// What time went into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// On a processor outside calls, in a process; split by module once the samples are counted.
    User(End, u32),
    /// On a processor in user mode, in a module.
    Module(End, u32),
    /// On a processor in the kernel.
    Kernel(End),
    /// Runnable, waiting for a processor.
    Processor(End),
    /// Blocked in a call on something.
    Blocked(End, u16, Object),
    /// Blocked outside every recorded call.
    BlockedElsewhere(End),
    /// Blocked uninterruptibly outside every recorded call: a page fault that reads a disk, as a rule.
    PageFault(End),
    /// Waiting for a name's address.
    Lookup,
    /// Waiting for a connection.
    Connect,
    /// Waiting for a full TLS handshake.
    FullHandshake,
    /// Waiting for a resumed TLS handshake.
    ResumedHandshake,
    /// Bytes were held by Nagle's algorithm until the peer acknowledged earlier ones.
    HeldByNagle(End),
    /// Bytes were held in the sender's kernel for another reason.
    HeldInKernel(End),
    /// A peer that was not recorded held bytes until this end acknowledged earlier ones.
    HeldAtPeer,
    /// A segment was lost, and it took until then to send it again.
    Retransmission,
    /// The request had left and the peer was not recorded.
    NetworkAndPeer,
    /// The request or the response was under way between two recorded ends.
    Network,
    /// Bytes had arrived and the thread that waited for them was not running yet.
    WakeUp(End),
    /// Outside exchanges: on a processor, in a module.
    OutsideCpu(u32),
    /// Outside exchanges: on a processor, no samples to say where.
    OutsideCpuUnsampled,
    /// Outside exchanges: waiting for a processor.
    OutsideProcessor,
    /// Outside exchanges: blocked in a call.
    OutsideBlocked(u16, Object),
    /// Outside exchanges: blocked outside every recorded call.
    OutsideBlockedElsewhere,
    /// Before the program's first event, or after its last.
    StartAndEnd,
    /// No account explains it.
    Unexplained,
}

/// What a blocked call was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// Nothing that has a name.
    Unnamed,
    /// A path.
    Path(u32),
    /// A connection, by its place in the table.
    Connection(u32),
}

/// Kinds of accounts, for one sentence about the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The client on a processor.
    ClientCpu,
    /// The server on a processor.
    ServerCpu,
    /// Waiting for a processor, at either end.
    Processor,
    /// The client blocked in something of its own.
    ClientBlocked,
    /// The server blocked in something of its own.
    ServerBlocked,
    /// Setting up connections.
    SetUp,
    /// Bytes held in a kernel.
    Held,
    /// Network, and a peer that nobody watched.
    NetworkAndPeer,
    /// Network between recorded ends, retransmissions and wake-ups.
    Network,
    /// What is not within exchanges, or not explained.
    Other,
}

impl Account {
    /// The kind of account.
    pub fn class(self) -> Class {
        match self {
            Account::User(End::Client, _) | Account::Module(End::Client, _) | Account::Kernel(End::Client) => {
                Class::ClientCpu
            }
            Account::User(End::Server, _) | Account::Module(End::Server, _) | Account::Kernel(End::Server) => {
                Class::ServerCpu
            }
            Account::Processor(_) => Class::Processor,
            Account::Blocked(end, ..) | Account::BlockedElsewhere(end) | Account::PageFault(end) => match end {
                End::Client => Class::ClientBlocked,
                End::Server => Class::ServerBlocked,
            },
            Account::Lookup | Account::Connect | Account::FullHandshake | Account::ResumedHandshake => Class::SetUp,
            Account::HeldByNagle(_) | Account::HeldInKernel(_) | Account::HeldAtPeer => Class::Held,
            Account::NetworkAndPeer => Class::NetworkAndPeer,
            Account::Network | Account::Retransmission | Account::WakeUp(_) => Class::Network,
            _ => Class::Other,
        }
    }

    /// Whether the account is of time that no exchange was in flight.
    pub fn is_outside(self) -> bool {
        matches!(
            self,
            Account::OutsideCpu(_)
                | Account::OutsideCpuUnsampled
                | Account::OutsideProcessor
                | Account::OutsideBlocked(..)
                | Account::OutsideBlockedElsewhere
                | Account::StartAndEnd
        )
    }

    /// How the account reads. The end that the exchanges are seen from has no prefix.
    pub fn name(self, analysis: &Analysis) -> String {
        match self {
            Account::User(end, _) => format!("{}CPU: user", prefix(end)),
            Account::Module(end, module) => format!("{}CPU: user, {}", prefix(end), analysis.code.module_name(module)),
            Account::Kernel(end) => format!("{}CPU: kernel", prefix(end)),
            Account::Processor(end) => format!("{}waiting for a processor", prefix(end)),
            Account::Blocked(end, number, object) => format!("{}{}", prefix(end), blocked(analysis, number, object)),
            Account::BlockedElsewhere(end) => format!("{}blocked in a call that is not recorded", prefix(end)),
            Account::PageFault(end) => format!("{}blocked on a disk outside calls", prefix(end)),
            Account::Lookup => "name look-up".to_string(),
            Account::Connect => "connect".to_string(),
            Account::FullHandshake => "TLS handshake (full)".to_string(),
            Account::ResumedHandshake => "TLS handshake (resumed)".to_string(),
            Account::HeldByNagle(end) => format!("{}held by Nagle until the peer acknowledges", prefix(end)),
            Account::HeldInKernel(end) => format!("{}held in the local kernel (window or queue)", prefix(end)),
            Account::HeldAtPeer => "held at the peer until our delayed acknowledgement".to_string(),
            Account::Retransmission => "waiting for a retransmission".to_string(),
            Account::NetworkAndPeer => "network and peer".to_string(),
            Account::Network => "network".to_string(),
            Account::WakeUp(end) => format!("{}wake-up delay", prefix(end)),
            Account::OutsideCpu(module) => format!("CPU outside exchanges: {}", analysis.code.module_name(module)),
            Account::OutsideCpuUnsampled => "CPU outside exchanges".to_string(),
            Account::OutsideProcessor => "waiting for a processor outside exchanges".to_string(),
            Account::OutsideBlocked(number, object) => {
                format!("outside exchanges: {}", blocked(analysis, number, object))
            }
            Account::OutsideBlockedElsewhere => "outside exchanges: blocked in a call that is not recorded".to_string(),
            Account::StartAndEnd => "start-up and end of the program".to_string(),
            Account::Unexplained => "unexplained".to_string(),
        }
    }

    /// The same account without the name of its object, for the many small ones.
    pub fn without_object(self) -> Account {
        match self {
            Account::Blocked(end, number, _) => Account::Blocked(end, number, Object::Unnamed),
            Account::OutsideBlocked(number, _) => Account::OutsideBlocked(number, Object::Unnamed),
            other => other,
        }
    }
}

fn prefix(end: End) -> &'static str {
    match end {
        End::Client => "",
        End::Server => "server ",
    }
}

fn blocked(analysis: &Analysis, number: u16, object: Object) -> String {
    let call = syscall::name(number);
    match object {
        Object::Path(path) => format!("blocked in {call} ({})", path_name(analysis, path)),
        Object::Connection(slot) => format!("blocked in {call} (to {})", analysis.connections.remote(slot as usize)),
        Object::Unnamed if number == syscall::FUTEX => "blocked in futex (a lock or another thread)".to_string(),
        Object::Unnamed if syscall::is_sleep(number) => format!("asleep in {call}"),
        Object::Unnamed if syscall::is_wait_for_child(number) => format!("blocked in {call}: waiting for a child"),
        Object::Unnamed if syscall::is_poll(number) => format!("blocked in {call} (other events)"),
        Object::Unnamed => format!("blocked in {call}"),
    }
}

fn path_name<'r>(analysis: &Analysis<'r>, id: u32) -> &'r str {
    let paths = &analysis.recording.paths;
    paths.binary_search_by_key(&id, |row| row.id).map_or("a file", |index| paths[index].path.as_str())
}
