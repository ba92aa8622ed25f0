//! What went wrong on the way, again and again: no cause, but where somebody would look next.

use super::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that went wrong repeatedly while it was recorded, whether or not anybody waited for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Trouble {
    /// The program that was started said, as it ended, that it had failed.
    EndedWith {
        /// Its exit status; 128 and the signal's number where a signal ended it.
        status: i32,
    },
    /// Answers of HTTP said that something went wrong: the status that most of these have.
    ErrorAnswers {
        /// The status: 500.
        status: u16,
        /// How many answers had it.
        count: u64,
        /// Of how many whose status could be read.
        of: u64,
    },
    /// A system call failed.
    Failed {
        /// The call: `connect`.
        call: String,
        /// The error's name: `ECONNREFUSED`.
        error: String,
        /// How often.
        count: u64,
        /// Where in the code most of these calls were made: the most specific place first.
        place: Vec<Place>,
    },
    /// Nobody listened where a program connected without blocking.
    Refused {
        /// Who refused most of them; none if it has no name.
        remote: Option<String>,
        /// How many connections.
        count: u64,
    },
    /// A server did not answer the first SYN, so that it was sent again.
    SynAgain {
        /// To which server most of them went; none if it has no name.
        remote: Option<String>,
        /// How often.
        count: u64,
    },
    /// The other end reset connections.
    Reset {
        /// How many.
        count: u64,
    },
    /// A kernel queue overflowed, and what arrived was dropped.
    Overflow {
        /// The kernel's counter: `TcpExt.ListenOverflows`.
        counter: String,
        /// How often.
        count: u64,
    },
    /// Threads were ready to run with a request in hand, and other programs kept the CPUs.
    RunDelay {
        /// How often for a millisecond or more.
        count: u64,
        /// How long in all, divided by the number of exchanges.
        ns_per_exchange: u64,
        /// Its share of the exchanges' time.
        share: f64,
    },
    /// The hypervisor ran others while this machine had something to run (steal time).
    Stolen {
        /// Its share of the time in which the machine had something to run, on all its CPUs.
        share: f64,
    },
    /// Something that this version of whyslow does not know.
    #[default]
    #[serde(other)]
    Other,
}
