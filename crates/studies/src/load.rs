//! `whyslow load URL`: how a server bears a load.

use crate::{Activity, Console, StudyError};
use case::{Load, Nanos};
use load::Live;
use std::time::Duration;

pub use load::{Arrival, Expected, LoadFailure, Plan, Scheme, Secured, Url};

/// Between two looks at how it is doing.
const INTERVAL: Duration = Duration::from_millis(200);

/// Drives a load until its end, or until someone interrupts it: what came of it so far.
///
/// # Errors
/// Where it cannot begin.
pub fn load(plan: &Plan, console: &dyn Console) -> Result<Load, StudyError> {
    let activity = Activity::of(console, "beginning the load");
    let mut goes_on = true;
    let found = load::run(plan, &mut |live| {
        activity.say(&said(live, plan.duration));
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
    format!("{:.0} answers/s, p50 {p50}, p99 {p99}, {} in all{failed}; {left} s left", live.rate, live.answered)
}
