//! Alarms while services are watched: what comes of an interval goes to the channels, and what becomes of it is noted.

use crate::Console;
use alarm::{Alarms, Delivery, Outcome, Rules, Seen};
use case::{Deviation, ServiceSample};
use std::time::Duration;

/// At the end, messages under way are waited for: a server that works takes seconds.
const LEAVING: Duration = Duration::from_secs(10);

/// The alarms, and the channels at work.
pub struct Alarming {
    alarms: Alarms,
    delivery: Delivery,
}

impl Alarming {
    /// Starts the channels.
    pub fn of(rules: Rules, describe: fn(&Deviation) -> String) -> Alarming {
        // Messages of two watchers, or of one before and after a restart, are never taken for each other.
        let origin = format!("{:x}-{:x}", super::now_ms(), std::process::id());
        Alarming { alarms: Alarms::of(&rules, &origin, describe), delivery: Delivery::start(rules) }
    }

    /// Takes what an interval has shown.
    pub fn take(
        &mut self,
        samples: &[ServiceSample],
        deviations: &[Deviation],
        findings: &[(String, Vec<String>)],
        console: &dyn Console,
    ) {
        let at_ms = samples.first().map_or(0, |sample| sample.at_ms);
        let messages = self.alarms.take(&Seen { at_ms, samples, deviations, findings });
        for (_, message) in &messages {
            console.note(&message.line());
        }
        self.delivery.send(messages);
        note(&self.delivery.outcomes(), console);
    }

    /// Waits a while for what is under way.
    pub fn finish(self, console: &dyn Console) {
        note(&self.delivery.finish(LEAVING), console);
    }
}

/// Says what could not be handed over.
fn note(outcomes: &[Outcome], console: &dyn Console) {
    for outcome in outcomes {
        let Some(why) = &outcome.failed else { continue };
        let then = if outcome.again { "; it is sent again" } else { "" };
        console.note(&format!("channel {} did not take a message: {why}{then}", outcome.channel));
    }
}
