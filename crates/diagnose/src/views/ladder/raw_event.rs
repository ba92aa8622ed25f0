//! A step before it is shown: its times are since boot, and a segment is tied to its arrival by the flight's number.

use case::views::LadderEvent;

/// A step.
#[derive(Clone, Debug, Default)]
pub struct RawEvent {
    /// The event that it becomes.
    pub event: LadderEvent,
    /// The flight that begins with it.
    pub flight_out: Option<usize>,
    /// The flight that ends with it.
    pub flight_in: Option<usize>,
}

impl RawEvent {
    /// A step that is no part of a flight.
    pub fn new(event: LadderEvent) -> RawEvent {
        RawEvent { event, flight_out: None, flight_in: None }
    }
}
