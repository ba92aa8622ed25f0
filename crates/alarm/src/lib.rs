//! Alarms: rules over what is watched, and messages about them to whoever is to know.
//!
//! Promises: an alarm is told once, and its recovery once, however long it lasts; a message that a channel could not take is sent again
//! with growing pauses, and is never told to have arrived unless the channel has said so; one that was handed over whole and
//! whose answer was lost is sent again under the same key, so that a receiver can tell; more messages than a channel's limit are
//! counted and the count is told; secrets come from the environment or from files and are never printed.

mod channel;
mod condition;
mod delivery;
mod error;
mod handed;
mod http;
mod line;
mod message;
mod rules;
mod secret;
mod smtp;
mod standing;

pub use delivery::{Delivery, Outcome};
pub use error::RulesError;
pub use message::{Message, State};
pub use rules::Rules;
pub use standing::{Alarms, Seen};
