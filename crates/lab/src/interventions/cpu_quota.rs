//! `cpu-quota`: no limit of CPU time.

use super::{Intervention, Prediction, intervention};

intervention! {
    /// # cpu-quota
    ///
    /// ## What it does
    /// Runs both ends in cgroups directly under the root of the hierarchy, where no cgroup above sets a CPU quota.
    /// Threads then run as long as they have work, instead of waiting for the next period once their quota is used up.
    /// A quota given for the world of the run is lifted, too.
    ///
    /// ## What it reaches
    /// Every program, if whyslow may create cgroups there: as root, on a host or in a container that shows the host's
    /// own hierarchy. In a container with a cgroup namespace of its own, the limit sits above everything visible.
    ///
    /// ## How we know it took effect
    /// The program's processes are found in the cgroup, and no cgroup from there up to the root has a quota.
    pub const CPU_QUOTA: Intervention = Intervention {
        name: "cpu-quota",
        summary: "runs both ends outside the cgroups that limit CPU time",
        predictions: &[Prediction::gains("P29")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.outside_quota = true;
            Ok(())
        },
        applied: |counters| {
            let stays = "the host does not let it leave the cgroups that limit it";
            counters.outside_quota.then_some(1).ok_or_else(|| stays.to_string())
        },
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Treatment;
    use crate::intervention_counters::InterventionCounters;
    use crate::interventions::tests::request;

    #[test]
    fn it_took_effect_where_the_subject_left_its_groups() {
        let mut treatment = Treatment::default();
        (CPU_QUOTA.treat)(&request(&crate::World::default()), &mut treatment).expect("always possible to ask");
        assert!(treatment.outside_quota);
        assert_eq!(
            (CPU_QUOTA.applied)(&InterventionCounters { outside_quota: true, ..InterventionCounters::default() }),
            Ok(1)
        );
        assert!((CPU_QUOTA.applied)(&InterventionCounters::default()).is_err());
    }
}
