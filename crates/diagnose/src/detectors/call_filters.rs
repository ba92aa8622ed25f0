//! P73: system calls go through filters.

use super::in_kernel::{self, Words};
use super::{Found, detector};
use crate::analysis::Analysis;
use case::KernelWork;

detector! {
    /// # call-filters
    ///
    /// ## What it is
    /// Each system call goes through a program that says whether it is allowed (seccomp: containers, systemd's SystemCallFilter=,
    /// sandboxes), or through rules that say whether it is written down (audit). Such programs compare the call's number with one
    /// after the other, and each sandbox around another adds its own.
    ///
    /// ## Evidence
    /// CPU samples in the kernel's seccomp filters or audit rules, a tenth of the requests' time or more.
    ///
    /// ## What proves it
    /// Nothing that is safe: filters are there to keep a program from doing harm, and a program that has one cannot be rid of it.
    ///
    /// ## Remedy
    /// Shorten the filter, or have it search instead of compare (libseccomp: SCMP_FLTATR_CTL_OPTIMIZE = 2); let the
    /// calls that are made most be decided by their number alone, which Linux remembers since 5.11; have one filter rather than several.
    /// Of audit: fewer rules, by the keys that are needed (`auditctl -l`).
    ///
    /// ## Not to be confused with
    /// traced-program (a tracer that stops the program at each call); many calls where few would do (tiny-reads, tiny-writes), which
    /// filters make dearer.
    "P73" "call-filters",
    not_switched: "A filter that a program is under cannot be taken off it.",
    needs: &[Server, Samples]
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let words = Words {
        what: "Each system call goes through a long filter",
        spent_in: "seccomp filters or audit rules",
        remedy: "Shorten the filter or have it search instead of compare (libseccomp: SCMP_FLTATR_CTL_OPTIMIZE = 2), or have one \
                     in place of several; of audit, fewer rules.",
    };
    in_kernel::found(analysis, KernelWork::CallFilters, &words)
}

#[cfg(test)]
mod tests {
    use crate::fixture::requests_in_kernel;
    use crate::tests::names;

    fn is_found(function: &str, work: u64) -> bool {
        names(&requests_in_kernel(function, work)).contains(&"call-filters".to_string())
    }

    #[test]
    fn filters_that_take_much_of_the_requests_time_are_found_and_short_ones_are_not() {
        assert!(is_found("__seccomp_filter", 8));
        assert!(is_found("__audit_syscall_exit", 8));
        assert!(!is_found("__seccomp_filter", 1), "a twentieth");
        assert!(!is_found("__x64_sys_write", 8));
    }
}
