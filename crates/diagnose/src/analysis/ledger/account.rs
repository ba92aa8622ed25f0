//! The accounts while time is booked: [`case::Account`] with numbers in place of names, so that they are quick to copy and
//! to compare.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::syscall;
use case::facts::{self, AccountGroup, Wait};
use case::tables::role;

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
    /// Waiting for a connection to be set up; a part of it where whoever answered was recorded.
    SetUp(Phase, Option<Part>),
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
    /// In the program at an end of which only the wire was captured.
    Unrecorded(End),
    /// Outside exchanges: no request was under way on the wire that was captured.
    NoRequest,
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
    /// Outside exchanges: blocked uninterruptibly outside every recorded call.
    OutsidePageFault,
    /// Before the program's first event, or after its last.
    StartAndEnd,
    /// No account explains it.
    Unexplained,
}

/// What a client waits for before its first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// A name's address.
    Lookup,
    /// A connection.
    Connect,
    /// A full TLS handshake.
    FullHandshake,
    /// A resumed TLS handshake.
    ResumedHandshake,
}

/// The accounts that a wait for setting up a connection can be split into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// As [`Account::User`].
    User(End, u32),
    /// As [`Account::Module`].
    Module(End, u32),
    /// As [`Account::Kernel`].
    Kernel(End),
    /// As [`Account::Processor`].
    Processor(End),
    /// As [`Account::Blocked`].
    Blocked(End, u16, Object),
    /// As [`Account::BlockedElsewhere`].
    BlockedElsewhere(End),
    /// As [`Account::PageFault`].
    PageFault(End),
    /// As [`Account::HeldByNagle`].
    HeldByNagle(End),
    /// As [`Account::HeldInKernel`].
    HeldInKernel(End),
    /// As [`Account::Retransmission`].
    Retransmission,
    /// As [`Account::Network`].
    Network,
    /// As [`Account::WakeUp`].
    WakeUp(End),
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
    /// A thread that ended the wait, by its number in [`Awaited`](crate::analysis::awaited::Awaited).
    Awaited(u32),
    /// Nobody: the time that the call was given ran out.
    TimeOut,
}

impl Account {
    /// What it has in common with others.
    pub fn group(self) -> AccountGroup {
        match self {
            Account::User(End::Client, _) | Account::Module(End::Client, _) | Account::Kernel(End::Client) => {
                AccountGroup::ClientCpu
            }
            Account::User(End::Server, _) | Account::Module(End::Server, _) | Account::Kernel(End::Server) => {
                AccountGroup::ServerCpu
            }
            Account::Processor(_) | Account::OutsideProcessor => AccountGroup::RunDelay,
            Account::Blocked(end, ..) | Account::BlockedElsewhere(end) | Account::PageFault(end) => match end {
                End::Client => AccountGroup::ClientBlocked,
                End::Server => AccountGroup::ServerBlocked,
            },
            Account::SetUp(..) => AccountGroup::SetUp,
            Account::HeldByNagle(_) | Account::HeldInKernel(_) | Account::HeldAtPeer => AccountGroup::Held,
            Account::NetworkAndPeer => AccountGroup::NetworkAndPeer,
            Account::Network | Account::Retransmission | Account::WakeUp(_) => AccountGroup::Network,
            // Only where there are no exchanges is the whole run what somebody waits for.
            Account::OutsideCpu(_) | Account::OutsideCpuUnsampled => AccountGroup::ClientCpu,
            Account::OutsideBlocked(..) | Account::OutsideBlockedElsewhere | Account::OutsidePageFault => {
                AccountGroup::ClientBlocked
            }
            Account::Unrecorded(End::Client) => AccountGroup::Client,
            Account::Unrecorded(End::Server) => AccountGroup::Server,
            Account::NoRequest | Account::StartAndEnd | Account::Unexplained => AccountGroup::Other,
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
                | Account::OutsidePageFault
                | Account::NoRequest
                | Account::StartAndEnd
        )
    }

    /// The account as a fact: with names in place of numbers.
    pub fn fact(self, analysis: &Analysis) -> case::Account {
        let module = |module: u32| Some(analysis.code.module_name(module).to_string());
        let call = |number: u16| (syscall::name(number), wait(number));
        match self {
            Account::User(end, _) => case::Account::UserCpu { end, module: None },
            Account::Module(end, number) => case::Account::UserCpu { end, module: module(number) },
            Account::Kernel(end) => case::Account::KernelCpu { end },
            Account::Processor(end) => case::Account::RunDelay { end },
            Account::Blocked(end, number, object) => {
                let (call, wait) = call(number);
                case::Account::Blocked { end, call, wait, object: object.fact(analysis) }
            }
            Account::BlockedElsewhere(end) => case::Account::BlockedElsewhere { end },
            Account::PageFault(end) => case::Account::PageFault { end },
            Account::SetUp(phase, part) => {
                let part = part.map(|part| Box::new(part.account().fact(analysis)));
                match phase {
                    Phase::Lookup => case::Account::Lookup { part },
                    Phase::Connect => case::Account::Connect { part },
                    Phase::FullHandshake => case::Account::FullHandshake { part },
                    Phase::ResumedHandshake => case::Account::ResumedHandshake { part },
                }
            }
            Account::HeldByNagle(end) => case::Account::HeldByNagle { end },
            Account::HeldInKernel(end) => case::Account::HeldInKernel { end },
            Account::HeldAtPeer => case::Account::HeldAtPeer,
            Account::Retransmission => case::Account::Retransmission,
            Account::NetworkAndPeer => case::Account::NetworkAndPeer,
            Account::Network => case::Account::Network,
            Account::WakeUp(end) => case::Account::WakeUp { end },
            Account::Unrecorded(end) => case::Account::Unrecorded { end },
            Account::NoRequest => case::Account::NoRequest,
            Account::OutsideCpu(number) => case::Account::CpuOutside { module: module(number) },
            Account::OutsideCpuUnsampled => case::Account::CpuOutside { module: None },
            Account::OutsideProcessor => case::Account::RunDelayOutside,
            Account::OutsideBlocked(number, object) => {
                let (call, wait) = call(number);
                case::Account::BlockedOutside { call, wait, object: object.fact(analysis) }
            }
            Account::OutsideBlockedElsewhere => case::Account::BlockedElsewhereOutside,
            Account::OutsidePageFault => case::Account::PageFaultOutside,
            Account::StartAndEnd => case::Account::StartAndEnd,
            Account::Unexplained => case::Account::Unexplained,
        }
    }

    /// The same account without the name of its object, for the many small ones.
    pub fn without_object(self) -> Account {
        match self {
            Account::Blocked(end, number, _) => Account::Blocked(end, number, Object::Unnamed),
            Account::OutsideBlocked(number, _) => Account::OutsideBlocked(number, Object::Unnamed),
            Account::SetUp(phase, part) => {
                Account::SetUp(phase, part.and_then(|part| Part::of(part.account().without_object())))
            }
            other => other,
        }
    }

    /// The same account as a part of setting up a connection; the whole of it where it says no more than that.
    pub fn within(self, phase: Phase) -> Account {
        Account::SetUp(phase, Part::of(self))
    }

    /// Whether it says who ended the wait.
    pub fn is_followed(self) -> bool {
        matches!(self, Account::Blocked(.., Object::Awaited(_)) | Account::OutsideBlocked(_, Object::Awaited(_)))
    }

    /// The same account by what its call was called on, whoever ended the wait; setting up a connection is one wait.
    pub fn without_who(self, analysis: &Analysis) -> Account {
        let bare = |object: Object| match object {
            Object::Awaited(number) => analysis.awaited.called_on(number),
            Object::TimeOut => Object::Unnamed,
            other => other,
        };
        match self {
            Account::Blocked(end, number, object) => Account::Blocked(end, number, bare(object)),
            Account::OutsideBlocked(number, object) => Account::OutsideBlocked(number, bare(object)),
            Account::SetUp(phase, _) => Account::SetUp(phase, None),
            other => other,
        }
    }
}

impl Part {
    fn of(account: Account) -> Option<Part> {
        Some(match account {
            Account::User(end, pid) => Part::User(end, pid),
            Account::Module(end, module) => Part::Module(end, module),
            Account::Kernel(end) => Part::Kernel(end),
            Account::Processor(end) => Part::Processor(end),
            Account::Blocked(end, number, object) => Part::Blocked(end, number, object),
            Account::BlockedElsewhere(end) => Part::BlockedElsewhere(end),
            Account::PageFault(end) => Part::PageFault(end),
            Account::HeldByNagle(end) => Part::HeldByNagle(end),
            Account::HeldInKernel(end) => Part::HeldInKernel(end),
            Account::Retransmission => Part::Retransmission,
            Account::Network => Part::Network,
            Account::WakeUp(end) => Part::WakeUp(end),
            _ => return None,
        })
    }

    /// The account that it is.
    pub fn account(self) -> Account {
        match self {
            Part::User(end, pid) => Account::User(end, pid),
            Part::Module(end, module) => Account::Module(end, module),
            Part::Kernel(end) => Account::Kernel(end),
            Part::Processor(end) => Account::Processor(end),
            Part::Blocked(end, number, object) => Account::Blocked(end, number, object),
            Part::BlockedElsewhere(end) => Account::BlockedElsewhere(end),
            Part::PageFault(end) => Account::PageFault(end),
            Part::HeldByNagle(end) => Account::HeldByNagle(end),
            Part::HeldInKernel(end) => Account::HeldInKernel(end),
            Part::Retransmission => Account::Retransmission,
            Part::Network => Account::Network,
            Part::WakeUp(end) => Account::WakeUp(end),
        }
    }
}

impl Object {
    fn fact(self, analysis: &Analysis) -> Option<facts::Object> {
        match self {
            Object::Unnamed => None,
            Object::Awaited(number) => Some(facts::Object::Awaited { by: analysis.awaited.fact(number) }),
            Object::TimeOut => Some(facts::Object::TimeOut),
            Object::Path(id) => Some(facts::Object::File { path: path(analysis, id) }),
            // Those to clients differ by ports that say nothing.
            Object::Connection(slot) if analysis.connections.row(slot as usize).role == role::SERVER => {
                Some(facts::Object::Client)
            }
            Object::Connection(slot) => {
                Some(facts::Object::Connection { remote: analysis.connections.remote_name(slot as usize) })
            }
        }
    }
}

/// What a call waits for.
fn wait(number: u16) -> Wait {
    match number {
        _ if syscall::class(number) == syscall::Class::Lock => Wait::Lock,
        _ if syscall::is_sleep(number) => Wait::Sleep,
        _ if syscall::is_wait_for_child(number) => Wait::Child,
        _ if syscall::is_poll(number) => Wait::Events,
        _ => Wait::Object,
    }
}

fn path(analysis: &Analysis, id: u32) -> Option<String> {
    let paths = &analysis.recording.paths;
    paths.binary_search_by_key(&id, |row| row.id).ok().map(|index| paths[index].path.clone())
}
