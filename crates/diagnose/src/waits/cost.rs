//! What requests cost the server: CPU time of the thread that took each up, until it had answered it. What other threads and
//! processes do for it is not in that.

use super::kinds::Kinds;
use super::served::served;
use crate::analysis::Analysis;

/// What one request cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCost {
    /// What it asked for, as the recording has it: values in queries redacted.
    pub target: String,
    /// CPU time, in nanoseconds.
    pub cpu_ns: u64,
}

/// The costs of requests in HTTP that could be read, of those that were recorded from end to end; none where no server was.
pub(crate) fn costs(analysis: &Analysis) -> Vec<RequestCost> {
    let kinds = Kinds::new(analysis);
    let mut costs = Vec::new();
    for (slot, list) in served(analysis) {
        let tid = analysis.threads.all()[slot].tid;
        for one in list.iter().filter(|one| one.from < one.to && analysis.windows.is_whole(one.from, one.to)) {
            let Some(request) = kinds.request(&analysis.exchanges[one.exchange]) else { continue };
            let (outside, within) = analysis.threads.on_processor(tid, one.from, one.to);
            costs.push(RequestCost { target: request.target.clone(), cpu_ns: outside.saturating_add(within) });
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, MS, WRITE, keep_alive};
    use case::tables::{HttpMessage, direction};

    #[test]
    fn a_request_costs_what_the_thread_did_from_reading_to_answering_it() {
        let mut fixture = keep_alive(10, 2 * MS);
        let asks = fixture.recording.calls.iter().filter(|call| call.tid == CLIENT && call.number == WRITE);
        let message = |time| HttpMessage {
            time,
            connection: 1,
            direction: direction::OUT,
            method: "GET".into(),
            target: "/a/7".into(),
            ..HttpMessage::default()
        };
        let messages = asks.map(|call| message(call.start)).collect::<Vec<_>>();
        fixture.recording.http_messages.extend(messages);
        let recording = fixture.end();
        let costs = Analysis::new(&recording).request_costs();
        assert_eq!(costs.len(), 10);
        for cost in costs {
            assert!(cost.target == "/a/7" && (19 * MS / 10..21 * MS / 10).contains(&cost.cpu_ns), "{cost:?}");
        }
    }
}
