//! Sweeps made by hand, for the tests of this crate.

use crate::examples::answer as examples;
use case::{Cliff, Growing, Growth, KneePoint, Point, Regime, SCHEMA, SegmentTie, Sweep, ValueKind};

/// A point whose interval reaches 3 % to either side.
fn point(label: &str, value: f64, measured: f64) -> Point {
    Point {
        value,
        label: label.into(),
        measured,
        low: measured * 0.97,
        high: measured * 1.03,
        rate: 1e9 / measured,
        trials: 12,
        ..Point::default()
    }
}

fn of(parameter: &str, command: &str, points: Vec<Point>) -> Sweep {
    Sweep {
        schema: SCHEMA,
        case: "/var/cases/sweep".into(),
        command: command.split_whitespace().map(str::to_string).collect(),
        parameter: parameter.into(),
        value_kind: Some(ValueKind::Whole),
        metric: "wall_ns_per_exchange".into(),
        points,
        trials: 312,
        spent_ns: 41_200_000_000,
        budget_ns: 60_000_000_000,
        ..Sweep::default()
    }
}

/// Slow up to a segment, fast above it.
pub(crate) fn cliff() -> Sweep {
    let sizes = [1.0, 4.0, 16.0, 64.0, 256.0, 1_024.0, 1_408.0, 1_418.0, 1_420.0, 1_448.0, 2_048.0, 4_096.0, 16_384.0];
    let level = |size: f64| if size < 1_419.0 { 43_980_000.0 } else { 208_000.0 + size * 4.0 };
    let mut points = sizes.map(|size| point(&size.to_string(), size, level(size))).to_vec();
    points[12].label = "16K".into();
    points[3].problem = "2 of 14 trials exited with status 1".into();
    let slow = examples::slow();
    let regime = |from: f64, to: f64, at: f64| Regime {
        from,
        to,
        at,
        case: format!("/var/cases/sweep/at-{at}"),
        findings: Vec::new(),
        summary: "93 % of the time was the server thinking.".into(),
    };
    Sweep {
        server: vec!["nginx".into()],
        cliffs: vec![Cliff {
            below: 1_418.0,
            above: 1_420.0,
            level_below: 43_980_000.0,
            level_above: 213_680.0,
            p: 1e-6,
            reason:
                "segments of this connection hold 1,448 bytes, and TLS adds 29 to each write: from 1,420 on the body \
                 no longer waits for the ACK of the header."
                    .into(),
            segment: Some(SegmentTie { mss: 1_448, overhead: 29, predicted: 1_419.0 }),
        }],
        regimes: vec![
            Regime { findings: slow.findings, ..regime(1.0, 1_418.0, 64.0) },
            regime(1_420.0, 16_384.0, 4_096.0),
        ],
        ..of("size", "python3 client.py --size {size}", points)
    }
}

/// Grows with the square of the items.
pub(crate) fn growth() -> Sweep {
    let items = [1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0, 32_000.0, 63_000.0];
    let points = items.map(|items: f64| Point {
        high: (items / 63_000.0).powi(2) * 290e9,
        ..point(&items.to_string(), items, (items / 63_000.0).powi(2) * 204e9)
    });
    let growing = |function: &str, module: &str, exponent: f64, share: f64| Growing {
        function: function.into(),
        module: module.into(),
        exponent,
        share,
    };
    Sweep {
        metric: "wall_ns".into(),
        growth: Some(Growth {
            exponent: 1.97,
            low: 1.9,
            high: 2.05,
            from: 1_000.0,
            to: 63_000.0,
            out_of_hand: true,
            chain: vec![
                growing("main", "gta", 1.97, 0.999),
                growing("parse_items", "gta", 1.98, 0.97),
                growing("__isoc99_sscanf", "libc.so.6", 1.99, 0.97),
                growing("__vfscanf_internal", "libc.so.6", 1.99, 0.97),
                growing("__rawmemchr_avx2", "libc.so.6", 2.01, 0.96),
            ],
        }),
        ..of("items", "gta {items}", points.to_vec())
    }
}

/// Grows as it should.
pub(crate) fn proportional() -> Sweep {
    let mut sweep = growth();
    let growth = sweep.growth.as_mut().expect("growth");
    (growth.exponent, growth.low, growth.high, growth.out_of_hand) = (1.02, 0.98, 1.06, false);
    sweep.regimes = vec![Regime { from: 1_000.0, to: 63_000.0, at: 63_000.0, ..Regime::default() }];
    growth.chain.clear();
    for point in &mut sweep.points {
        point.measured = point.value * 1e5;
        (point.low, point.high) = (point.measured * 0.98, point.measured * 1.02);
    }
    sweep
}

/// The same everywhere.
pub(crate) fn level() -> Sweep {
    let points = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|value| point(&value.to_string(), value, 5.1e6 + value * 3e4));
    let regime = Regime { from: 1.0, to: 6.0, at: 6.0, summary: "93 % of it is one call.".into(), ..Regime::default() };
    Sweep { regimes: vec![regime], ..of("workers", "client --workers {workers}", points.to_vec()) }
}

/// Level up to a knee, proportional above it.
pub(crate) fn knee() -> Sweep {
    let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let points = values.map(|value: f64| point(&value.to_string(), value, 4e6 * (value / 8.0).max(1.0)));
    let knee = KneePoint { at: 8.0, low: 7.1, high: 9.2, before: 0.012, after: 0.99 };
    Sweep { knee: Some(knee), ..of("concurrency", "load -c {concurrency}", points.to_vec()) }
}

/// A server under rising loads, which answers 1,600 requests a second and no more.
pub(crate) fn capacity() -> Sweep {
    let points = [400.0, 800.0, 1200.0, 1600.0, 2400.0, 3200.0];
    let measured = |rate: f64| Point { rate: rate.min(1_590.0), ..point(&rate.to_string(), rate, rate.min(1_590.0)) };
    let points = points.map(measured);
    let knee = KneePoint { at: 1_590.0, low: 1_560.0, high: 1_610.0, before: 1.0, after: 0.01 };
    let growth = Some(Growth { exponent: 0.3, low: -0.1, high: 0.9, from: 400.0, to: 3200.0, ..Growth::default() });
    let metric = "answered_per_second".into();
    Sweep { knee: Some(knee), growth, metric, ..of("rate", "whyslow load URL --rate={rate}", points.to_vec()) }
}

/// Values that are names.
pub(crate) fn categories() -> Sweep {
    let points = [("roundrobin", 334e6), ("leastconn", 20.4e6), ("random", 121e6)];
    let points = points.into_iter().enumerate().map(|(index, (name, measured))| point(name, index as f64, measured));
    let mut points = points.collect::<Vec<_>>();
    points.push(Point {
        label: "first".into(),
        value: 3.0,
        problem: "the server did not start: exit status 1".into(),
        ..Point::default()
    });
    let value_kind = Some(ValueKind::Word);
    Sweep { metric: "exchange_p95_ns".into(), value_kind, ..of("balance", "sh trace.sh {balance}", points) }
}

/// Nothing worked.
pub(crate) fn failed() -> Sweep {
    let points = [1.0, 2.0, 3.0].map(|value| Point {
        label: value.to_string(),
        value,
        problem: "the command exited with status 2".into(),
        ..Point::default()
    });
    of("size", "client {size}", points.to_vec())
}
