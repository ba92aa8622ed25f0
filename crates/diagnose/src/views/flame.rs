//! Call trees with time: on a processor, blocked, and the difference of two.
//!
//! Each program is a root of its own (`client python3.11`, `server nginx`), all its processes and threads together: a
//! reader asks first whose time it is.

mod call_path;
mod program;
mod programs;
mod shown;
mod waits;

use crate::analysis::Analysis;
use crate::contrast::Aliases;
use crate::number::count;
use crate::profile::naming::Names;
use crate::units::Units;
use case::views::Flame;
use case::{Nanos, Recording};
use programs::Programs;

/// Where threads were on a processor.
pub fn processor(recording: &Recording) -> Flame {
    let mut programs = Programs::default();
    programs.add_samples(recording, Names::AS_RECORDED);
    let flame = shown::tree(&programs.tree(), 1.0);
    Flame { of: of_samples(&programs), sample_ns: period(recording), ..flame }
}

/// Where threads were blocked. What a server waited for between requests is left out, and said.
pub fn blocked(analysis: &Analysis) -> Flame {
    let waits = waits::of_threads(analysis);
    let flame = shown::tree(&waits.programs.tree(), 1.0);
    Flame { of: waits.in_words(), ..flame }
}

/// CPU time of two sides, an exchange each (a run each where there are none): where B has more, where less.
pub fn flame_difference(a: &[Recording], b: &[Recording]) -> Flame {
    let aliases = Aliases::of_modules(a, b);
    let units = Units::of(a, b);
    let programs_a = of_side(a, aliases.of_a());
    let programs_b = of_side(b, aliases.of_b());
    let flame = shown::difference((&programs_a.tree(), units.a), (&programs_b.tree(), units.b));
    let unit = if units.exchanges { "request" } else { "run" };
    let side = |programs: &Programs, count: f64| {
        let of = if count > 1.0 { format!("{count} {unit}s") } else { format!("one {unit}") };
        format!("{} samples of {of}", programs.samples())
    };
    let grain = |side: &[Recording], count: f64| side.first().map_or(0, |first| (period(first) as f64 / count) as u64);
    Flame {
        of: format!("each {unit}: A from {}, B from {}", side(&programs_a, units.a), side(&programs_b, units.b)),
        sample_ns: grain(b, units.b),
        before_sample_ns: Some(grain(a, units.a)),
        ..flame
    }
}

fn of_side(side: &[Recording], names: Names) -> Programs {
    let mut programs = Programs::default();
    for recording in side {
        programs.add_samples(recording, names);
    }
    programs
}

/// The CPU time that one sample stands for.
fn period(recording: &Recording) -> u64 {
    1_000_000_000 / u64::from(recording.manifest.sampling_hertz.max(1))
}

fn of_samples(programs: &Programs) -> String {
    let time = Nanos(programs.time().ns);
    match programs.samples() {
        0 => String::new(),
        1 => format!("one sample, {time} of CPU time"),
        samples => format!("{} samples, {time} of CPU time in all", count(samples)),
    }
}

#[cfg(test)]
mod tests;
