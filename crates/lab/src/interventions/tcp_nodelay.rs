//! `tcp-nodelay`: Nagle's algorithm disabled.

use super::{Intervention, Prediction, intervention};
use crate::intervention_counters::InterventionCounters;

intervention! {
    /// # tcp-nodelay
    ///
    /// ## What it does
    /// Sets TCP_NODELAY on every connection the moment it is established, in the kernel, at both ends. A short segment
    /// then leaves at once instead of waiting until the peer has acknowledged the one before it.
    ///
    /// ## What it reaches
    /// Every program in the subject's cgroup, whatever language it is written in; the program itself is not touched and
    /// makes the same calls as before. A call that clears the option succeeds and does nothing. Connections that existed
    /// before the program are not reached (a running program's sockets are set through `pidfd_getfd`). If no BPF program
    /// can be attached to a cgroup, the shim `nodelay` does the same for programs that use libc.
    ///
    /// ## How we know it took effect
    /// The BPF program on the sockets counts the connections it saw and those on which the kernel accepted the option.
    pub const TCP_NODELAY: Intervention = Intervention {
        name: "tcp-nodelay",
        summary: "disables Nagle's algorithm on every connection",
        // Where small writes cost by their number, holding none of them back saves nothing; and a cork is stronger.
        predictions: &[
            Prediction::gains("P01"),
            Prediction::gains("P02"),
            Prediction::does_nothing("P03"),
            Prediction::does_nothing("P56"),
        ],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.sockets.get_or_insert_default().nodelay = true;
            Ok(())
        },
        applied: |counters| set_on_connections(counters, |counts| counts.nodelay),
    };
}

/// How many connections an option was set on; why none was.
pub(super) fn set_on_connections(
    counters: &InterventionCounters,
    set: fn(&crate::intervention_counters::SocketCounts) -> u64,
) -> Result<u64, String> {
    let counts = counters.sockets.unwrap_or_default();
    match (set(&counts), counts.refused, counts.seen) {
        (1.., ..) => Ok(set(&counts)),
        (0, 1.., _) => Err(format!("the kernel refused to set it on {} connections", counts.refused)),
        (0, 0, 0) => Err("no connection was established while it was attached".into()),
        (0, 0, 1..) => Err("no connection needed it".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Treatment;
    use crate::intervention_counters::SocketCounts;
    use crate::interventions::tests::request;
    use crate::treatment::SocketOptions;

    #[test]
    fn it_sets_the_option_and_leaves_acknowledgements_alone() {
        let mut treatment = Treatment::default();
        (TCP_NODELAY.treat)(&request(&crate::World::default()), &mut treatment).expect("always possible");
        assert_eq!(treatment.sockets, Some(SocketOptions { nodelay: true, ..SocketOptions::default() }));
    }

    #[test]
    fn it_took_effect_where_the_kernel_took_the_option_and_not_where_it_refused() {
        let applied = |seen, nodelay, refused| {
            let sockets = Some(SocketCounts { seen, nodelay, refused, ..SocketCounts::default() });
            (TCP_NODELAY.applied)(&InterventionCounters { sockets, ..InterventionCounters::default() })
        };
        assert_eq!(applied(3, 3, 0), Ok(3));
        assert!(applied(3, 0, 3).is_err_and(|why| why.contains("refused to set it on 3")));
        assert!(applied(0, 0, 0).is_err_and(|why| why.contains("no connection was established")));
        assert!((TCP_NODELAY.applied)(&InterventionCounters::default()).is_err());
    }
}
