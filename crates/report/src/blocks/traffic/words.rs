//! Words for parts of the traffic.

use crate::text::clean;
use case::{AgentKind, Bytes, Claim, Demand, Nanos};

/// A time as people write it, to the minute: `2024-05-09 14:00`.
pub(crate) fn moment(seconds: i64) -> String {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    let (year, month, day) = case::date(seconds / 86_400);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}", seconds / 3_600 % 24, seconds / 60 % 60)
}

/// A family's name, and whether it is who it says it is.
pub(super) fn called(name: &str, claim: Claim) -> String {
    let name = clean(name);
    match claim {
        Claim::Forged => format!("{name} (forged)"),
        Claim::Verified => format!("{name} (verified)"),
        Claim::Unchecked => name,
    }
}

/// What kind of program it is.
pub(super) fn kind(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Crawler => "crawler",
        AgentKind::Browser => "browser",
        AgentKind::Tool => "program",
        AgentKind::Silent => "not said",
    }
}

/// Bytes, or nothing.
pub(super) fn bytes(demand: &Demand) -> String {
    if demand.bytes == 0 { String::new() } else { Bytes(demand.bytes).to_string() }
}

/// A time of answering summed up, in the unit that people think in.
pub(super) fn answering(ns: u64) -> String {
    match ns {
        0..120_000_000_000 => Nanos(ns).to_string(),
        120_000_000_000..7_200_000_000_000 => format!("{:.0} minutes", ns as f64 / 60e9),
        _ => format!("{:.1} hours", ns as f64 / 3_600e9),
    }
}

/// A length of a bucket: `minute`, `10 minutes`, `hour`, `day`.
pub(super) fn length(seconds: i64) -> String {
    let (unit, name) = match seconds {
        86_400.. => (86_400, "day"),
        3_600.. => (3_600, "hour"),
        _ => (60, "minute"),
    };
    match seconds / unit {
        1 => name.into(),
        count => format!("{count} {name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        assert_eq!(moment(1_715_263_200), "2024-05-09 14:00");
        assert_eq!((length(60), length(600), length(3_600)), ("minute".into(), "10 minutes".into(), "hour".into()));
        assert_eq!((answering(1_500_000_000), answering(9_000_000_000_000)), ("1.50 s".into(), "2.5 hours".into()));
    }
}
