//! Live capture: from a running, unmodified program to a case.

#[cfg(test)]
mod alone;
mod call_rows;
mod call_sums;
mod calls;
mod clock;
mod connections;
mod counters;
pub mod doctor;
mod drain;
mod error;
mod events;
pub mod executable;
#[doc(hidden)]
pub mod fuzz;
mod governed;
mod governor;
mod host;
mod intake;
mod java;
mod kernel;
mod kernel_source;
mod lifetimes;
mod limit;
mod listeners;
mod listening;
mod live_sockets;
mod loaded;
pub mod memory;
mod meter;
mod nginx;
mod objects;
mod own_cost;
mod peer;
mod places;
mod processes;
mod program;
mod programs;
mod recorder;
mod regular;
mod requests;
pub mod resolver;
mod row_switch;
mod running;
mod runtime;
mod scheduler_sums;
mod scheduling;
pub mod scripts;
mod services;
mod socket_program;
mod source;
pub mod stack;
mod standing;
mod thinning;
mod tunnel;
mod turns;
mod watched;

pub use error::RecordError;
pub use host::{needed_capabilities, to_grant};
pub use listeners::{Listening, listeners_on};
pub use listening::{
    ProcessStat, children, descendants, descendants_among, listens, process, process_listens, process_ports, processes,
};
pub use live_sockets::{LiveSocket, Nodelay, set_option_in, sockets_of};
pub use meter::{ConnectionOrigin, Lengths, Meter, Reading};
pub use nginx::nginx;
pub use peer::mappings;
pub use program::trees;
pub use program::{
    Ended, Held, Input, Mount, Network, Output, ParentDeathSignal, Program, Root, Running, User, adopt_orphans,
    reap_orphans, send_signal,
};
pub use recorder::Recorder;
pub use requests::REQUESTS;
pub use running::{is_running, is_stopped};
pub use services::{Looked, MOST_SERVICES, Selected, Services, all_listening};
pub use socket_program::{MOST_UNREACHABLE, SocketCounts, SocketOptions, SocketProgram};
pub use source::{ATTACHED_EVENTS, DEFAULT_EVENTS, Options, Progress, Role, usual_hertz};
pub use tunnel::{Tunnel, run_at_once};
