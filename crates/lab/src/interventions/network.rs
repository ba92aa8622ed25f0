//! Interventions on the network of a link: settings and routes in namespaces of ours, and the link itself. The host's own network
//! is never touched.

use super::small_segments::SMALL_SEGMENT;
use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::{NetworkChange, Treatment};

/// Segments that leave at once on a new connection: more than any chain of certificates has, at 1,448 bytes each 140 kB.
const LARGE_WINDOW: u32 = 100;

intervention! {
    /// # lossless-link
    ///
    /// ## What it does
    /// Joins client and server by the same link without its loss: delay, rate and MTU stay.
    ///
    /// ## What it reaches
    /// The loss that `--link loss=` asked for. What a network of somebody else loses cannot be switched off from here: there it
    /// stays a suspicion, and `--link delay=..,loss=..` with the figures that were found shows what it costs.
    ///
    /// ## How we know it took effect
    /// The link is made without loss.
    pub const LOSSLESS_LINK: Intervention = Intervention {
        name: "lossless-link",
        summary: "joins client and server by the same link without its loss",
        predictions: &[Prediction::gains("P25")],
        treat: |request, treatment| {
            needs_link(request)?;
            if request.world.link.is_none_or(|link| link.loss == 0) {
                return Err(NotHere("works on the loss of --link only, and this link loses nothing".into()));
            }
            treatment.network.push(NetworkChange::NoLoss);
            Ok(())
        },
        applied: |counters| counters.of_network(|change| *change == NetworkChange::NoLoss),
    };
}

intervention! {
    /// # large-bucket
    ///
    /// ## What it does
    /// Joins client and server by the same link with a token bucket that holds ten times as much: its rate stays.
    ///
    /// ## What it reaches
    /// The bucket that `--link rate=..,burst=..` asked for. A shaper of somebody else cannot be reached from here: there it
    /// stays a suspicion, and `--link` with the figures that were found shows what it costs.
    ///
    /// ## How we know it took effect
    /// The link is made with the larger bucket.
    pub const LARGE_BUCKET: Intervention = Intervention {
        name: "large-bucket",
        summary: "joins client and server by the same link with a token bucket ten times as large",
        predictions: &[Prediction::gains("P27")],
        treat: |request, treatment| {
            needs_link(request)?;
            if request.world.link.and_then(|link| link.larger_burst()).is_none() {
                return Err(NotHere("works on the burst of --link only, and this link has none that could be larger".into()));
            }
            treatment.network.push(NetworkChange::LargeBucket);
            Ok(())
        },
        applied: |counters| counters.of_network(|change| *change == NetworkChange::LargeBucket),
    };
}

intervention! {
    /// # window-kept-when-idle
    ///
    /// ## What it does
    /// Sets net.ipv4.tcp_slow_start_after_idle=0 at both ends: a connection that paused keeps its congestion window.
    ///
    /// ## What it reaches
    /// Every program, but only in the network namespaces of `--link`. BBR keeps its window anyway.
    ///
    /// ## How we know it took effect
    /// The setting is read back after the change.
    pub const WINDOW_KEPT_WHEN_IDLE: Intervention = Intervention {
        name: "window-kept-when-idle",
        summary: "has connections keep their congestion window while they are idle",
        predictions: &[
            Prediction::gains("P24"),
            Prediction::does_nothing("P14"),
            Prediction::does_nothing("P21"),
            Prediction::does_nothing("P25"),
            Prediction::does_nothing("P26"),
            Prediction::does_nothing("P27"),
            Prediction::does_nothing("P49"),
            Prediction::does_nothing("P69"),
            Prediction::does_nothing("P70"),
        ],
        treat: |request, treatment| setting(request, treatment, "net.ipv4.tcp_slow_start_after_idle", "0"),
        applied: |counters| of_setting(counters, "net.ipv4.tcp_slow_start_after_idle"),
    };
}

intervention! {
    /// # large-first-flight
    ///
    /// ## What it does
    /// Sets `initcwnd 100` on the routes of both ends: the first 100 segments of a connection leave at once, not 10.
    ///
    /// ## What it reaches
    /// Every program, through the kernel's routing table, but only in the network namespaces of `--link`.
    ///
    /// ## How we know it took effect
    /// The routes are read back after the change.
    pub const LARGE_FIRST_FLIGHT: Intervention = Intervention {
        name: "large-first-flight",
        summary: "lets the first 100 segments of a connection leave at once",
        predictions: &[Prediction::gains("P14")],
        treat: |request, treatment| route(request, treatment, format!("initcwnd {LARGE_WINDOW}")),
        applied: |counters| of_route(counters, "initcwnd"),
    };
}

intervention! {
    /// # small-segments-route
    ///
    /// ## What it does
    /// Sets `advmss 1208` on the routes of both ends: each tells the other to send segments of 1,208 bytes at most, which get
    /// through wherever IPv6 does.
    ///
    /// ## What it reaches
    /// Every program, through the kernel's routing table, but only in the network namespaces of `--link`.
    ///
    /// ## How we know it took effect
    /// The routes are read back after the change.
    pub const SMALL_SEGMENTS_ROUTE: Intervention = Intervention {
        name: "small-segments-route",
        summary: "has both ends send small segments",
        predictions: &[Prediction::gains("P49")],
        treat: |request, treatment| route(request, treatment, format!("advmss {SMALL_SEGMENT}")),
        applied: |counters| of_route(counters, "advmss"),
    };
}

intervention! {
    /// # mtu-probing
    ///
    /// ## What it does
    /// Sets net.ipv4.tcp_mtu_probing=2 and tcp_base_mss=1024 at both ends: connections begin with small segments and try larger
    /// ones, so that nothing waits for one that vanishes.
    ///
    /// ## What it reaches
    /// Every program, but only in the network namespaces of `--link`.
    ///
    /// ## How we know it took effect
    /// The setting is read back after the change.
    pub const MTU_PROBING: Intervention = Intervention {
        name: "mtu-probing",
        summary: "has connections begin with small segments and try larger ones",
        predictions: &[Prediction::gains("P49")],
        treat: |request, treatment| {
            setting(request, treatment, "net.ipv4.tcp_base_mss", "1024")?;
            setting(request, treatment, "net.ipv4.tcp_mtu_probing", "2")
        },
        applied: |counters| of_setting(counters, "net.ipv4.tcp_mtu_probing"),
    };
}

intervention! {
    /// # large-kernel-buffers
    ///
    /// ## What it does
    /// Sets net.ipv4.tcp_rmem and net.ipv4.tcp_wmem at both ends to what lets a socket's buffers grow to 16 MB, and
    /// net.ipv4.tcp_window_scaling=1, without which no window is larger than 65,535 bytes.
    ///
    /// ## What it reaches
    /// Every program that leaves its buffers to the kernel, but only in the network namespaces of `--link`, which begin with
    /// the host's settings. What a program sets when it starts counts for more.
    ///
    /// ## How we know it took effect
    /// The setting is read back after the change.
    pub const LARGE_KERNEL_BUFFERS: Intervention = Intervention {
        name: "large-kernel-buffers",
        summary: "lets the kernel's buffers of TCP connections grow to 16 MB",
        predictions: &[Prediction::gains("P69").refutes_nothing("what a program sets when it starts counts for more")],
        treat: |request, treatment| {
            setting(request, treatment, "net.ipv4.tcp_window_scaling", "1")?;
            setting(request, treatment, "net.ipv4.tcp_wmem", "4096 16384 16777216")?;
            setting(request, treatment, "net.ipv4.tcp_rmem", "4096 131072 16777216")
        },
        applied: |counters| of_setting(counters, "net.ipv4.tcp_rmem"),
    };
}

intervention! {
    /// # bbr-route
    ///
    /// ## What it does
    /// Sets `congctl bbr` on the routes of both ends: connections pace themselves by what got through (BBR), and do not
    /// send more for want of loss.
    ///
    /// ## What it reaches
    /// Every program that does not choose a congestion control itself, through the kernel's routing table, but only in the
    /// network namespaces of `--link`, and where the kernel has BBR.
    ///
    /// ## How we know it took effect
    /// The routes are read back after the change.
    pub const BBR_ROUTE: Intervention = Intervention {
        name: "bbr-route",
        summary: "has connections pace themselves by what gets through (BBR)",
        predictions: &[Prediction::gains("P26")],
        treat: |request, treatment| route(request, treatment, "congctl bbr".to_string()),
        applied: |counters| of_route(counters, "congctl"),
    };
}

fn needs_link(request: &Request) -> Result<(), NotHere> {
    if request.world.link.is_none() || !request.has_server {
        return Err(NotHere("needs --link: the host's own network is not touched".into()));
    }
    Ok(())
}

fn setting(request: &Request, treatment: &mut Treatment, name: &'static str, value: &str) -> Result<(), NotHere> {
    needs_link(request)?;
    treatment.network.push(NetworkChange::Setting { name, value: value.to_string() });
    Ok(())
}

fn route(request: &Request, treatment: &mut Treatment, words: String) -> Result<(), NotHere> {
    needs_link(request)?;
    treatment.network.push(NetworkChange::Route(words));
    Ok(())
}

fn of_setting(counters: &crate::intervention_counters::InterventionCounters, wanted: &str) -> Result<u64, String> {
    counters.of_network(|change| matches!(change, NetworkChange::Setting { name, .. } if *name == wanted))
}

fn of_route(counters: &crate::intervention_counters::InterventionCounters, word: &str) -> Result<u64, String> {
    counters.of_network(|change| matches!(change, NetworkChange::Route(words) if words.starts_with(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::intervention_counters::InterventionCounters;
    use crate::interventions::tests::request;
    use crate::link::Link;

    const ALL: [Intervention; 7] = [
        LOSSLESS_LINK,
        LARGE_BUCKET,
        WINDOW_KEPT_WHEN_IDLE,
        LARGE_FIRST_FLIGHT,
        SMALL_SEGMENTS_ROUTE,
        MTU_PROBING,
        BBR_ROUTE,
    ];

    #[test]
    fn the_hosts_own_network_is_not_touched() {
        for one in ALL {
            let mut treatment = Treatment::default();
            let refused = (one.treat)(&request(&World::default()), &mut treatment);
            assert!(
                refused.is_err_and(|why| why.0.contains("--link")) && treatment == Treatment::default(),
                "{}",
                one.name
            );
        }
    }

    #[test]
    fn each_took_effect_where_its_change_was_made() {
        let world = World { link: "rate=80mbit,burst=20m,delay=20ms,loss=1%".parse().ok(), ..World::default() };
        for one in ALL {
            let mut treatment = Treatment::default();
            (one.treat)(&request(&world), &mut treatment).expect("a link of ours");
            assert!((one.applied)(&InterventionCounters::default()).is_err(), "{}", one.name);
            let made = InterventionCounters { network: treatment.network, ..InterventionCounters::default() };
            assert!((one.applied)(&made).is_ok_and(|number| number > 0), "{}", one.name);
        }
    }

    #[test]
    fn a_link_that_loses_nothing_cannot_be_made_to_lose_less() {
        let world = World { link: "delay=20ms".parse().ok(), ..World::default() };
        let refused = (LOSSLESS_LINK.treat)(&request(&world), &mut Treatment::default());
        assert!(refused.is_err_and(|why| why.0.contains("loses nothing")));
    }

    #[test]
    fn a_bucket_is_ten_times_as_large_as_far_as_the_kernel_takes_it() {
        let larger = |link: &str| link.parse::<Link>().expect("a link").larger_burst();
        assert_eq!(larger("rate=80mbit,burst=20m"), Some(200 << 20));
        assert_eq!(larger("rate=10gbit,burst=500m"), Some(1 << 30));
        assert_eq!(larger("rate=8mbit,burst=200m"), Some(274_877_000));
        assert_eq!(larger("rate=80mbit"), None);
        assert_eq!(larger("rate=10gbit,burst=1024m"), None);
    }
}
