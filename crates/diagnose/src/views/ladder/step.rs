//! A step before it is told: its times are since boot, and a segment is tied to its arrival by the flight's number.

use case::views::LadderEvent;

/// A step.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// What will be told of it.
    pub event: LadderEvent,
    /// The flight that begins with it.
    pub flight_out: Option<usize>,
    /// The flight that ends with it.
    pub flight_in: Option<usize>,
}

impl Step {
    /// A step that is no part of a flight.
    pub fn new(event: LadderEvent) -> Step {
        Step { event, flight_out: None, flight_in: None }
    }
}
