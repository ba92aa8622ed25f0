//! What the kernel did while it was on a processor, by its own functions.

use crate::analysis::Analysis;
use case::KernelWork;
use case::tables::Sample;
use std::collections::BTreeMap;

/// Functions by what the kernel does in them, or in what they call. The innermost that is known counts: a page fault while bytes are
/// copied is a page fault.
const KNOWN: [(KernelWork, &[&str]); 8] = [
    (KernelWork::PacketFilters, &["nft_do_chain", "ipt_do_table", "ip6t_do_table", "arpt_do_table", "ebt_do_table"]),
    (
        KernelWork::CallFilters,
        &[
            "__seccomp_filter",
            "__audit_syscall_entry",
            "__audit_syscall_exit",
            "audit_filter_syscall",
            "audit_filter_rules",
        ],
    ),
    (
        KernelWork::Reclaim,
        &[
            "shrink_node",
            "shrink_lruvec",
            "try_to_free_pages",
            "try_to_free_mem_cgroup_pages",
            "compact_zone",
            "do_swap_page",
            "mem_cgroup_handle_over_high",
        ],
    ),
    (KernelWork::Copies, &["copy_process", "dup_mm", "dup_mmap"]),
    (KernelWork::Starts, &["bprm_execve", "exec_binprm", "load_elf_binary"]),
    (
        KernelWork::GivesBack,
        &["unmap_region", "unmap_vmas", "exit_mmap", "zap_page_range_single", "madvise_vma_behavior"],
    ),
    (KernelWork::Faults, &["exc_page_fault", "do_user_addr_fault", "handle_mm_fault", "do_page_fault"]),
    (KernelWork::Files, &["path_openat", "path_lookupat", "filename_lookup", "iterate_dir", "vfs_statx"]),
];

/// What a sample was taken in; none in user mode, and in what is not told apart.
fn of(analysis: &Analysis, sample: &Sample) -> Option<KernelWork> {
    let known = |name: &str| KNOWN.iter().find(|(_, functions)| functions.contains(&name)).map(|(work, _)| *work);
    analysis.code.frames(sample.kernel_stack).filter(|_| sample.kernel).find_map(|frame| known(&frame.function))
}

/// What most of some samples were taken in, and its share of them, where that is a fair part.
pub(crate) fn most<'r>(analysis: &Analysis, samples: impl Iterator<Item = &'r Sample>) -> Option<(KernelWork, f64)> {
    const FAIR: f64 = 0.3;
    let mut kinds: BTreeMap<u32, Option<KernelWork>> = BTreeMap::new();
    let (mut all, mut counts) = (0_u64, BTreeMap::<KernelWork, u64>::new());
    for sample in samples {
        all += 1;
        if let Some(work) = *kinds.entry(sample.kernel_stack).or_insert_with(|| of(analysis, sample)) {
            *counts.entry(work).or_default() += 1;
        }
    }
    let (work, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let share = count as f64 / all as f64;
    (share >= FAIR).then_some((work, share))
}

/// Samples that were taken in the kernel in some of its functions.
pub(crate) struct InKernel<'r> {
    /// Their rows.
    pub rows: Vec<usize>,
    /// The samples themselves.
    pub samples: Vec<&'r Sample>,
    /// How long requests waited for that, in nanoseconds.
    pub wall: u64,
    /// How much CPU time it took.
    pub cpu: u64,
}

/// Those whose stack in the kernel passes through one of these functions.
pub(crate) fn passing_through<'r>(analysis: &Analysis<'r>, is_one: impl Fn(&str) -> bool) -> InKernel<'r> {
    let mut kinds: BTreeMap<u32, bool> = BTreeMap::new();
    let mut passes = |sample: &Sample| {
        let stack = sample.kernel_stack;
        sample.kernel && *kinds.entry(stack).or_insert_with(|| analysis.code.passes_through(stack, &is_one))
    };
    let numbered = analysis.recording.samples.iter().enumerate().filter(|(_, sample)| passes(sample));
    let (rows, samples): (Vec<usize>, Vec<&Sample>) = numbered.unzip();
    let period = analysis.sample_period();
    let wall = samples.iter().filter(|sample| analysis.is_for_requests(sample)).count() as u64 * period;
    let cpu = samples.len() as u64 * period;
    InKernel { rows, samples, wall, cpu }
}

/// Those in which the kernel does one kind of work.
pub(crate) fn doing<'r>(analysis: &Analysis<'r>, work: KernelWork) -> InKernel<'r> {
    let functions = KNOWN.iter().find(|(known, _)| *known == work).map_or(&[][..], |(_, functions)| *functions);
    passing_through(analysis, |name| functions.contains(&name))
}
