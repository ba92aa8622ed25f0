//! `free-running`: a tracer lets its program run.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # free-running
    ///
    /// ## What it does
    /// Has a tracer (strace, for example) let the program run until something happens to it: a signal, a new program,
    /// its end. Where it asks the kernel to stop the program at its next system call (PTRACE_SYSCALL), it asks to
    /// continue (PTRACE_CONT).
    ///
    /// ## What it reaches
    /// Tracers that whyslow starts, as part of the command, and that use libc's `ptrace`. Not one that was attached
    /// from elsewhere, and not breakpoints and single steps.
    ///
    /// ## How we know it took effect
    /// The shim counts the stops that were not asked for.
    ///
    /// ## What it cannot prove
    /// What the tracer is for: it does not see calls any more.
    pub const FREE_RUNNING: Intervention = Intervention {
        name: "free-running",
        summary: "has a tracer (strace) not stop the program at its system calls",
        predictions: &[Prediction::gains("P57")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "free-running", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("free-running"),
    };
}
