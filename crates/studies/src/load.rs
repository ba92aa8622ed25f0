//! `whyslow load URL`: how a server bears a load.

mod merged;
mod recorded;

use crate::{Activity, Console, StudyError};
use case::Nanos;
use load::Live;
use std::time::Duration;

pub use load::{Arrival, Done, Expected, Histograms, LoadFailure, Plan, Replay, Scheme, Secured, Url};
pub use merged::merged;
pub use recorded::{Methods, recorded};

/// Between two looks at how it is doing: a load that has ended is noticed at the next.
const INTERVAL: Duration = Duration::from_millis(25);
/// So many looks are one line.
const LOOKS: u32 = 8;

/// Drives a load until its end, or until someone interrupts it: what came of it so far.
///
/// # Errors
/// Where it cannot begin.
pub fn load(plan: &Plan, console: &dyn Console) -> Result<Done, StudyError> {
    let activity = Activity::of(console, "beginning the load");
    let (mut goes_on, mut looks) = (true, 0);
    let found = load::run(plan, &mut |live| {
        if looks % LOOKS == 0 {
            activity.say(&said(&live(), plan.duration));
        }
        looks += 1;
        goes_on &= console.next(INTERVAL).is_none();
        goes_on
    });
    Ok(found?)
}

/// How it is doing.
fn said(live: &Live, whole: Duration) -> String {
    let time = |time: Duration| Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let failed = if live.failed == 0 { String::new() } else { format!(", {} failed", live.failed) };
    let left = whole.saturating_sub(live.elapsed).as_secs();
    let (p50, p99) = (time(live.p50), time(live.p99));
    let left = if whole < Plan::WITHOUT_END { format!("; {left} s left") } else { String::new() };
    format!("{:.0} answers/s, p50 {p50}, p99 {p99}, {} in all{failed}{left}", live.rate, live.answered)
}
