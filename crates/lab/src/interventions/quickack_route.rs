//! `quickack-client-route` and `quickack-server-route`: ACKs without delay, at one end only.

use super::{Intervention, NotHere, Prediction, Purpose, Request, intervention};
use crate::intervention_counters::InterventionCounters;
use crate::treatment::{End, Treatment};

intervention! {
    /// # quickack-client-route
    ///
    /// ## What it does
    /// Sets `quickack 1` on the client's route to the server, so the client's kernel ACKs what it receives at once. If
    /// the *server* holds a short write until the client has acknowledged the one before, the wait goes away, which
    /// proves the cause. If the *client* holds its writes, the ACK it waits for comes from the server; this must then
    /// change nothing and is tried as the negative control.
    ///
    /// ## What it reaches
    /// Every program, through the kernel's routing table, but only in a network namespace of ours (`--link`): the
    /// host's own routes are not touched. The socket option TCP_QUICKACK is no substitute, since the kernel resets it.
    ///
    /// ## How we know it took effect
    /// The route is read back after the change and must show it.
    pub const QUICKACK_CLIENT_ROUTE: Intervention = Intervention {
        name: "quickack-client-route",
        summary: "makes the client's kernel ACK at once",
        predictions: &[Prediction::gains("P01"), Prediction::gains("P02")],
        doses: &[],
        unit: "",
        stands_on: &[],
        purpose_here: |request, _| purpose_of_route(End::Client, request),
        treat: |request, treatment| treat(End::Client, request, treatment),
        applied: |counters| applied(End::Client, counters),
    };
}

intervention! {
    /// # quickack-server-route
    ///
    /// ## What it does
    /// Sets `quickack 1` on the server's route to the client, so the server's kernel ACKs what it receives at once. If
    /// the *client* holds a short write until the server has acknowledged the one before, the wait goes away, which
    /// proves the cause. If the *server* holds its writes, this must change nothing and is tried as the negative
    /// control.
    ///
    /// ## What it reaches
    /// Every program, through the kernel's routing table, but only in a network namespace of ours (`--link`).
    ///
    /// ## How we know it took effect
    /// The route is read back after the change and must show it.
    pub const QUICKACK_SERVER_ROUTE: Intervention = Intervention {
        name: "quickack-server-route",
        summary: "makes the server's kernel ACK at once",
        predictions: &[Prediction::gains("P01"), Prediction::gains("P02")],
        doses: &[],
        unit: "",
        stands_on: &[],
        purpose_here: |request, _| purpose_of_route(End::Server, request),
        treat: |request, treatment| treat(End::Server, request, treatment),
        applied: |counters| applied(End::Server, counters),
    };
}

/// The end that holds its write back waits for the other's ACK: its own route must make no difference. Where the holder is
/// not known, nothing is predicted, and nothing is tried.
fn purpose_of_route(end: End, request: &Request) -> Option<Purpose> {
    let holder = request.end_of_finding()?;
    Some(if end == holder { Purpose::Control } else { Purpose::Cause })
}

fn treat(end: End, request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    if request.world.link.is_none() || !request.has_server {
        return Err(NotHere("needs --link: the host's own routes are not touched".into()));
    }
    treatment.quick_acknowledgements.insert(end);
    Ok(())
}

fn applied(end: End, counters: &InterventionCounters) -> Result<u64, String> {
    let changed = counters.routes.iter().filter(|one| **one == end).count() as u64;
    if changed == 0 {
        return Err(format!("the kernel does not show the {}'s route as changed", end.word()));
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};

    #[test]
    fn the_route_of_the_end_that_waits_is_the_control_and_its_peers_the_cause() {
        let world = World::default();
        for (writer, cause, control) in [
            (End::Client, QUICKACK_SERVER_ROUTE, QUICKACK_CLIENT_ROUTE),
            (End::Server, QUICKACK_CLIENT_ROUTE, QUICKACK_SERVER_ROUTE),
        ] {
            let (recording, finding) = finding_at(writer);
            let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
            for pathology in ["P01", "P02"] {
                assert_eq!(cause.purpose(pathology, &request), Some(Purpose::Cause));
                assert_eq!(control.purpose(pathology, &request), Some(Purpose::Control));
            }
            assert_eq!(control.purpose("P05", &request), None);
        }
    }

    #[test]
    fn nothing_is_predicted_where_the_holder_is_not_known() {
        assert_eq!(QUICKACK_SERVER_ROUTE.purpose("P01", &request(&World::default())), None);
    }

    #[test]
    fn the_hosts_own_routes_are_not_touched() {
        let mut treatment = Treatment::default();
        let refused = (QUICKACK_SERVER_ROUTE.treat)(&request(&World::default()), &mut treatment);
        assert!(refused.is_err_and(|why| why.0.contains("--link")));
        assert_eq!(treatment, Treatment::default());
        let world = World { link: "mtu=1500".parse().ok(), ..World::default() };
        (QUICKACK_SERVER_ROUTE.treat)(&request(&world), &mut treatment).expect("a link of ours");
        assert_eq!(treatment.quick_acknowledgements.into_iter().collect::<Vec<_>>(), [End::Server]);
    }

    #[test]
    fn it_took_effect_where_the_kernel_shows_that_ends_route() {
        let counters = InterventionCounters { routes: vec![End::Client], ..InterventionCounters::default() };
        assert_eq!((QUICKACK_CLIENT_ROUTE.applied)(&counters), Ok(1));
        assert!((QUICKACK_SERVER_ROUTE.applied)(&counters).is_err_and(|why| why.contains("the server's route")));
    }
}
