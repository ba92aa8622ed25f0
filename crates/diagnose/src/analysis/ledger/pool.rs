//! Splits user-mode time by module. Stretches on a processor last microseconds and samples come every millisecond, so
//! the samples of one process are pooled: those within exchanges, and those of the subject outside them.

use super::account::{Account, Part};
use crate::analysis::Analysis;
use crate::code::{Code, KERNEL_MODULE};
use crate::spans;
use case::tables::Sample;
use std::collections::BTreeMap;

/// How many samples fell into each module.
type Counts = BTreeMap<u32, u64>;

/// The samples outside calls, counted by module.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    /// By process, within exchanges.
    within: BTreeMap<u32, Counts>,
    /// By process, outside exchanges; calls included.
    outside: BTreeMap<u32, Counts>,
    kernel: Option<u32>,
}

impl Pools {
    /// Counts the samples.
    pub fn new(analysis: &Analysis) -> Pools {
        let recorded = recorded_numbers(analysis);
        let mut pools = Pools { kernel: kernel_module(&analysis.code, analysis), ..Pools::default() };
        for sample in &analysis.recording.samples {
            let inside = is_within(analysis, sample);
            let in_recorded_call = sample.call_plus_one > 0 && recorded.contains(&(sample.call_plus_one - 1));
            let pool = match (inside, in_recorded_call) {
                // Time in calls is exact and booked as the kernel's.
                (true, true) => continue,
                (true, false) => &mut pools.within,
                (false, _) => &mut pools.outside,
            };
            *pool.entry(sample.pid).or_default().entry(analysis.code.module_of(sample)).or_default() += 1;
        }
        pools
    }

    /// Splits a booked account by module, in proportion to the samples.
    pub fn split(&self, account: Account, length: f64, add: &mut dyn FnMut(Account, f64)) {
        if let Account::SetUp(phase, Some(part @ Part::User(..))) = account {
            return self.split(part.account(), length, &mut |account, part| add(account.within(phase), part));
        }
        let Account::User(end, pid) = account else { return add(account, length) };
        let Some(counts) = self.within.get(&pid) else { return add(account, length) };
        divide(counts, length, &mut |module, part| {
            let account = if Some(module) == self.kernel { Account::Kernel(end) } else { Account::Module(end, module) };
            add(account, part);
        });
    }

    /// Splits time on a processor outside exchanges among what these processes were sampled in.
    pub fn split_outside(&self, of: impl Fn(u32) -> bool, length: f64, add: &mut dyn FnMut(Account, f64)) {
        let mut counts = Counts::new();
        for (_, pool) in self.outside.iter().filter(|(pid, _)| of(**pid)) {
            for (&module, &count) in pool {
                *counts.entry(module).or_default() += count;
            }
        }
        if counts.is_empty() {
            return add(Account::OutsideCpuUnsampled, length);
        }
        divide(&counts, length, &mut |module, part| add(Account::OutsideCpu(module), part));
    }
}

fn divide(counts: &Counts, length: f64, add: &mut dyn FnMut(u32, f64)) {
    let total: u64 = counts.values().sum();
    for (&module, &count) in counts {
        add(module, length * count as f64 / total.max(1) as f64);
    }
}

fn kernel_module(code: &Code, analysis: &Analysis) -> Option<u32> {
    let kernel = analysis.recording.samples.iter().find(|sample| sample.kernel)?;
    let module = code.module_of(kernel);
    (code.module_name(module) == KERNEL_MODULE).then_some(module)
}

/// The calls that the recording has rows of; a sample in another call fell into time outside calls.
fn recorded_numbers(analysis: &Analysis) -> std::collections::BTreeSet<u16> {
    let mut seen = vec![false; usize::from(u16::MAX) + 1];
    analysis.recording.calls.iter().for_each(|call| seen[usize::from(call.number)] = true);
    (0..=u16::MAX).filter(|&number| seen[usize::from(number)]).collect()
}

/// Whether a sample fell into an exchange that its thread took part in.
pub fn is_within(analysis: &Analysis, sample: &Sample) -> bool {
    let spans = analysis.taking_part.get(&sample.tid);
    spans.is_some_and(|spans| spans::contain(spans, sample.time.0))
}
