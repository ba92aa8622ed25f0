//! `all-processors`: the program may run on all CPUs.

use super::{Intervention, NotHere, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # all-processors
    ///
    /// ## What it does
    /// Has each process allow itself all CPUs when it begins, and makes `sched_setaffinity` and
    /// `pthread_setaffinity_np` do nothing.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc, `taskset` and `numactl` among them. Not the cpuset of a control group
    /// (a container's, AllowedCPUs), beyond which no process can go, and not what `--processors` asks for.
    ///
    /// ## How we know it took effect
    /// The shim counts processes that were allowed more by it, and requests that were ignored.
    pub const ALL_PROCESSORS: Intervention = Intervention {
        name: "all-processors",
        summary: "lets the program run on all CPUs",
        predictions: &[Prediction::gains("P59")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |request, treatment| {
            if !request.world.processors.is_empty() {
                return Err(NotHere("needs a run without --processors, which keeps the program where it is".to_string()));
            }
            treatment.preloads.push(Preload { shim: "all-processors", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("all-processors"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interventions::tests::request;
    use crate::{Treatment, World};

    #[test]
    fn what_the_caller_asks_for_is_left_alone() {
        let mut treatment = Treatment::default();
        (ALL_PROCESSORS.treat)(&request(&World::default()), &mut treatment).expect("possible");
        assert_eq!(treatment.preloads.len(), 1);
        let world = World { processors: vec![0], ..World::default() };
        assert!((ALL_PROCESSORS.treat)(&request(&world), &mut treatment).is_err());
    }
}
