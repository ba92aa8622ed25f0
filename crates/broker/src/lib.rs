//! Who does what as root. Before it does anything else, whyslow that was started by root divides itself in two:
//!
//! - *The broker* keeps root, and carries out a fixed list of requests. It reads no file of a subject's and none of a case; what a
//!   request names (a process, a control group) it checks itself.
//! - *The command* does everything else: it plans, watches, reads, diagnoses, proves and writes. Under sudo it is the user who
//!   called sudo, for good: it can neither become root again nor be taken over by a program of the same user's.
//!
//! They talk over a pair of sockets that nobody else holds. Descriptors are passed along: of maps of the kernel's, of files that
//! only root may open. Without a broker (no root, or a library's tests) a request is carried out where it is made.

mod divide;
mod groups;
pub mod message;
mod processes;
mod request;
mod role;
mod signals;
mod watched;

pub use divide::{become_user, divide};
pub use groups::{Enter, MakeGroup, RemoveGroup, SetGroup, check_group, is_group, write_in_group};
pub use processes::{Look, Looked, OpenKernelSymbols, OpenMemory, OpenOf, Place};
pub use request::{Entry, Reply, Request, ask, reply, with_files};
pub use role::{
    Allowed, Identity, acts_as_root, becomes, broker_pid, check_root, check_user, command_pid, dismiss, has_dropped,
    is_broker,
};
pub use signals::{Handle, Signal};
pub use watched::check_subject;
