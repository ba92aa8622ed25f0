//! The time of an exchange of which only packets were captured, near one of its ends: until payload comes from the other end it
//! is the network's and that end's, until payload leaves it is this end's own.

use super::super::account::{Account, Phase};
use super::{Charge, overlay};
use crate::analysis::Analysis;
use crate::exchange::Exchange;

/// What ends a stretch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Payload from the other end.
    Arrival,
    /// Payload of this end.
    Departure,
}

impl Ends {
    /// By whether the transfer that ends it reads.
    pub fn of(reads: bool) -> Ends {
        if reads { Ends::Arrival } else { Ends::Departure }
    }
}

/// Breaks a stretch down.
pub fn stretch(analysis: &Analysis, exchange: &Exchange, ends: Ends, span: (u64, u64), charge: &mut Charge) {
    let (mut from, to) = span;
    if let Some(set_up) = &exchange.set_up {
        let resumed = analysis.connections.handshake(exchange.connection).is_some_and(|row| row.resumed);
        let handshake = if resumed { Phase::ResumedHandshake } else { Phase::FullHandshake };
        let phases = [
            (set_up.connected, Account::SetUp(Phase::Connect, None)),
            (set_up.handshake, Account::Unrecorded(exchange.end_seen)),
            (set_up.ready, Account::SetUp(handshake, None)),
            (set_up.application, Account::Unrecorded(exchange.end_seen)),
        ];
        for (phase_end, account) in phases {
            let until = phase_end.min(to);
            if from < until {
                charge(from, until, account);
                from = until;
            }
        }
    }
    if from < to {
        asked(analysis, exchange, ends, (from, to), charge);
    }
}

/// The time from the first byte of a request on.
fn asked(analysis: &Analysis, exchange: &Exchange, ends: Ends, (from, to): (u64, u64), charge: &mut Charge) {
    let rows = &analysis.connections.all()[exchange.connection];
    let at_the_peer = analysis.peer_stalls.get(&exchange.connection).map_or(&[][..], Vec::as_slice);
    let own = exchange.end_seen;
    let free = match ends {
        Ends::Arrival => Account::NetworkAndPeer,
        Ends::Departure => Account::Unrecorded(own),
    };
    overlay(&rows.send_stalls, |stall| (stall.start, stall.end), from, to, &mut |from, to, stall| {
        if stall.is_some() {
            return charge(from, to, Account::HeldByNagle(own));
        }
        overlay(at_the_peer, |stall| (stall.start, stall.end), from, to, &mut |from, to, stall| {
            if stall.is_some() {
                return charge(from, to, Account::HeldAtPeer);
            }
            overlay(&rows.repairs, |&span| span, from, to, &mut |from, to, repair| {
                charge(from, to, if repair.is_some() { Account::Retransmission } else { free });
            });
        });
    });
}
