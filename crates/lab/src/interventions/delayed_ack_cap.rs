//! `delayed-ack-cap`: ACKs delayed for less time.

use super::tcp_nodelay::set_on_connections;
use super::{Intervention, NotHere, Prediction, Purpose, Request, intervention};
use crate::treatment::Treatment;
use case::Recording;
use case::tables::transport;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Two steps between nothing and the kernel's own 40 ms. A timer of the kernel cannot be set to less than two ticks,
/// which are 8 ms where it ticks 250 times a second.
const DOSES: [f64; 2] = [8.0, 20.0];

/// The kernel takes a cap up to its own longest delay (TCP_DELACK_MAX, a fifth of a second).
const TAKEN: RangeInclusive<f64> = 1.0..=200.0;

intervention! {
    /// # delayed-ack-cap
    ///
    /// ## What it does
    /// Makes the kernel, on every connection and at both ends, delay ACKs no longer than the dose (TCP_BPF_DELACK_MAX).
    /// A wait for a delayed ACK shrinks from 40 ms to the dose plus a tick of the kernel's clock; other waits stay as
    /// they are. If the cost follows the dose, this cause is distinguished from others that TCP_NODELAY removes as
    /// well. Where something else than ACKs is waited for, this must change nothing and is tried as the negative control.
    ///
    /// ## What it reaches
    /// Every program in the subject's cgroup. A peer elsewhere delays its own ACKs as it likes: without --server, the
    /// cap is on the wrong side, and the cost stays.
    ///
    /// ## How we know it took effect
    /// The BPF program on the sockets counts the connections on which the kernel accepted the cap.
    pub const DELAYED_ACK_CAP: Intervention = Intervention {
        name: "delayed-ack-cap",
        summary: "caps the time by which ACKs are delayed",
        predictions: &[
            Prediction::scales("P01"),
            Prediction::does_nothing("P04"),
            Prediction::does_nothing("P08"),
            Prediction::does_nothing("P09"),
            Prediction::does_nothing("P11"),
            Prediction::does_nothing("P13"),
            Prediction::does_nothing("P15"),
            Prediction::does_nothing("P16"),
            Prediction::does_nothing("P17"),
            Prediction::does_nothing("P19"),
            Prediction::does_nothing("P20"),
            Prediction::does_nothing("P29"),
            Prediction::does_nothing("P32"),
            Prediction::does_nothing("P33"),
            Prediction::does_nothing("P34"),
            Prediction::does_nothing("P36"),
            Prediction::does_nothing("P39"),
            Prediction::does_nothing("P40"),
            Prediction::does_nothing("P41"),
            Prediction::does_nothing("P42"),
            Prediction::does_nothing("P45"),
            Prediction::does_nothing("P46"),
            Prediction::does_nothing("P47"),
            Prediction::does_nothing("P48"),
            Prediction::does_nothing("P50"),
            Prediction::does_nothing("P51"),
            Prediction::does_nothing("P53"),
            Prediction::does_nothing("P55"),
            Prediction::does_nothing("P65"),
            Prediction::does_nothing("P67"),
            Prediction::does_nothing("P68"),
            Prediction::does_nothing("P71"),
            Prediction::does_nothing("P74"),
            Prediction::does_nothing("P75"),
        ],
        doses: &DOSES,
        unit: "ms",
        stands_on: &[],
        purpose_here,
        treat,
        applied: |counters| set_on_connections(counters, |counts| counts.capped),
    };
}

/// As a control it needs connections of which both ends are ours.
fn purpose_here(request: &Request, declared: Purpose) -> Option<Purpose> {
    let connects = |recording: &Recording| recording.connections.iter().any(|row| row.transport == transport::TCP);
    let may_be_tried = request.has_server && request.recording.is_some_and(connects);
    (declared != Purpose::Control || may_be_tried).then_some(declared)
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    if !request.has_server {
        return Err(NotHere("needs the server, too (--server): a peer elsewhere delays ACKs as it likes".into()));
    }
    let milliseconds = request.dose.unwrap_or(DOSES[0]);
    if !TAKEN.contains(&milliseconds) {
        return Err(NotHere(format!("takes a dose of {} to {} ms", TAKEN.start(), TAKEN.end())));
    }
    let cap = Duration::from_secs_f64(milliseconds / 1000.0);
    treatment.sockets.get_or_insert_default().delayed_ack_cap = Some(cap);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::request;
    use case::tables::Connection;

    fn capped(has_server: bool, dose: Option<f64>) -> Result<Option<Duration>, NotHere> {
        let world = World::default();
        let mut treatment = Treatment::default();
        treat(&Request { has_server, dose, ..request(&world) }, &mut treatment)?;
        Ok(treatment.sockets.and_then(|sockets| sockets.delayed_ack_cap))
    }

    #[test]
    fn the_dose_is_the_cap_in_milliseconds() {
        assert_eq!(capped(true, Some(20.0)), Ok(Some(Duration::from_millis(20))));
        assert_eq!(capped(true, None), Ok(Some(Duration::from_millis(8))));
    }

    #[test]
    fn a_dose_that_the_kernel_would_refuse_is_refused_before() {
        assert!(capped(true, Some(0.0)).is_err() && capped(true, Some(f64::NAN)).is_err());
        assert!(capped(true, Some(500.0)).is_err_and(|why| why.0.contains("1 to 200 ms")));
    }

    #[test]
    fn as_a_control_it_needs_connections_of_which_both_ends_are_ours() {
        let world = World::default();
        let connection = Connection { transport: transport::TCP, ..Connection::default() };
        let connected = Recording { connections: vec![connection], ..Recording::default() };
        let purpose = |recording: &Recording, has_server| {
            let request = Request { recording: Some(recording), has_server, ..request(&world) };
            DELAYED_ACK_CAP.purpose("P39", &request)
        };
        assert_eq!(purpose(&connected, true), Some(Purpose::Control));
        assert_eq!((purpose(&connected, false), purpose(&Recording::default(), true)), (None, None));
    }

    #[test]
    fn a_peer_elsewhere_cannot_be_capped() {
        assert!(capped(false, Some(8.0)).is_err_and(|why| why.0.contains("--server")));
    }
}
