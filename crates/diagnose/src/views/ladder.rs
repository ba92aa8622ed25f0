//! The sequence ladder: an exchange step by step, at both ends where both were recorded.
//!
//! `participants` says who took part, `calls` and `flights` what they and the network did, `fold`, `bundle` and `thin`
//! keep that readable, `stretches` says where the time went, `records` and `label` name things.

mod bundle;
mod calls;
mod flights;
mod fold;
mod label;
mod participants;
mod places;
mod raw_event;
mod records;
mod stretches;
mod thin;

use super::choice::Chosen;
use crate::analysis::Analysis;
use crate::exchange::Exchange;
use crate::waits;
use case::tables::event;
use case::views::{EventKind, Ladder, LadderEvent};
use participants::Participants;
use places::Places;
use raw_event::RawEvent;
use std::collections::BTreeMap;

/// The chosen exchanges step by step, in the order chosen.
pub fn ladders(analysis: &Analysis, chosen: &[Chosen]) -> Vec<Ladder> {
    let mut places = Places::default();
    let indices: Vec<usize> = chosen.iter().map(|chosen| chosen.index).collect();
    let waits = waits::trees_of(analysis, &indices);
    let ladder = |(chosen, waits)| Ladder { waits, ..ladder(analysis, chosen, &mut places) };
    chosen.iter().zip(waits).map(ladder).collect()
}

fn ladder(analysis: &Analysis, chosen: &Chosen, places: &mut Places) -> Ladder {
    let exchange = &analysis.exchanges[chosen.index];
    let participants = Participants::of(analysis, exchange);
    let mut steps = calls::steps(analysis, exchange, &participants, places);
    steps.extend(flights::steps(analysis, exchange, &participants));
    steps.extend(tcp_events(analysis, exchange, &participants));
    steps.sort_by_key(|step| (step.event.at, step.event.kind != EventKind::Arrival));
    let left_out = thin::thin(&mut steps);
    Ladder {
        why: chosen.why.clone(),
        number: chosen.index as u64 + 1,
        began: exchange.start.saturating_sub(analysis.recording.manifest.start.0),
        length_ns: exchange.length(),
        stretches: stretches::stretches(analysis, exchange),
        waits: None,
        lanes: participants.lanes,
        events: events(steps, exchange),
        left_out,
    }
}

/// What TCP did by itself at either end.
fn tcp_events(analysis: &Analysis, exchange: &Exchange, participants: &Participants) -> Vec<RawEvent> {
    let mut steps = Vec::new();
    for (lane, slot) in participants.ends() {
        let rows = analysis.connections.events(slot).iter();
        for row in rows.filter(|row| (exchange.start..=exchange.end).contains(&row.time.0)) {
            let label = match row.event {
                event::DELAYED_ACK_FIRED => "the delayed-ACK timer fires",
                event::RETRANSMIT => "a segment is retransmitted",
                _ => continue,
            };
            steps.push(RawEvent::new(LadderEvent {
                at: row.time.0,
                to: row.time.0,
                lane,
                kind: EventKind::Tcp,
                label: label.to_string(),
                times: 1,
                ..LadderEvent::default()
            }));
        }
    }
    steps
}

/// The steps with their times since the exchange began, and arrivals as places in the list.
fn events(steps: Vec<RawEvent>, exchange: &Exchange) -> Vec<LadderEvent> {
    let known = steps.iter().enumerate().filter_map(|(index, step)| Some((step.flight_in?, index)));
    let arrivals: BTreeMap<usize, usize> = known.collect();
    let since = |time: u64| time.clamp(exchange.start, exchange.end) - exchange.start;
    let events = steps.into_iter().map(|step| {
        let arrives = step.flight_out.and_then(|flight| arrivals.get(&flight).copied());
        LadderEvent { at: since(step.event.at), to: since(step.event.to), arrives, ..step.event }
    });
    events.collect()
}

#[cfg(test)]
mod tests;
