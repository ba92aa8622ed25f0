use super::*;
use case::Nanos;

const START: u64 = 1_767_225_600_000;

/// Ten-second intervals of a service, each with its requests and milliseconds of CPU time a request, and some noise.
fn service(name: &str, intervals: impl IntoIterator<Item = (u64, f64)>) -> (String, Vec<ServiceSample>) {
    let one = |(turn, (requests, cpu_ms)): (usize, (u64, f64))| {
        // Between -10 % and 10 %.
        let noise = 0.9 + (turn * 7_919 % 21) as f64 / 100.0;
        ServiceSample {
            at_ms: START + (turn as u64 + 1) * 10_000,
            length: Nanos(10_000_000_000),
            service: name.into(),
            counts_requests: true,
            requests,
            user: Nanos((requests as f64 * cpu_ms * noise * 1e6) as u64),
            answering: Nanos(requests * 2_000_000),
            ..ServiceSample::default()
        }
    };
    (name.to_string(), intervals.into_iter().enumerate().map(one).collect())
}

fn found(services: impl IntoIterator<Item = (String, Vec<ServiceSample>)>) -> Vec<Deviation> {
    deviations(&services.into_iter().collect())
}

#[test]
fn a_service_that_costs_more_than_before_is_found_with_the_moment() {
    let turned = (0..60).map(|turn| (50, if turn < 40 { 1.0 } else { 8.0 }));
    let steps = found([service("a", turned), service("b", (0..60).map(|_| (50, 5.0)))]);
    let [step] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!(
        (step.service.as_str(), step.metric, step.with),
        ("a", WatchedMetric::CpuPerRequest, OutOfLineWith::Past)
    );
    assert_eq!(step.at_ms, START + 400_000);
    assert!(step.low_ms <= step.at_ms && step.at_ms <= step.high_ms);
    assert!((step.after / step.before - 8.0).abs() < 0.8, "{step:?}");
}

#[test]
fn a_service_out_of_line_with_the_others_is_found_within_four_intervals() {
    let odd = found([service("gopher", (0..4).map(|_| (60, 15.0))), service("gemini", (0..4).map(|_| (60, 1.0)))]);
    let [odd] = &odd[..] else { panic!("{odd:?}") };
    assert_eq!((odd.service.as_str(), odd.with), ("gopher", OutOfLineWith::Others));
    assert!(odd.from_the_beginning);
    let both = found([service("gopher", (0..4).map(|_| (60, 3.0))), service("gemini", (0..4).map(|_| (60, 1.0)))]);
    assert_eq!(both, [], "three times as much is how programs differ");
}

#[test]
fn more_load_is_not_more_cost() {
    let busier = (0..60).map(|turn| (if turn < 30 { 10 } else { 900 }, 2.0));
    assert_eq!(found([service("a", busier)]), []);
}

#[test]
fn what_costs_next_to_nothing_is_nobodys_trouble() {
    let turned = (0..60).map(|turn| (6, if turn < 40 { 0.1 } else { 0.8 }));
    assert_eq!(found([service("a", turned)]), []);
    let idle = found([service("a", (0..6).map(|_| (5, 5.0))), service("b", (0..6).map(|_| (5, 0.1)))]);
    assert_eq!(idle, []);
}

#[test]
fn errors_and_slow_answers_are_found_as_well() {
    let (name, mut samples) = service("a", (0..40).map(|_| (100, 1.0)));
    for sample in &mut samples[30..] {
        (sample.failures, sample.answering) = (9, Nanos(100 * 60_000_000));
    }
    let metrics = found([(name, samples)]).into_iter().map(|step| step.metric).collect::<Vec<_>>();
    assert_eq!(metrics, [WatchedMetric::AnswerTime, WatchedMetric::Failures]);
}

#[test]
fn without_requests_cpu_time_itself_is_looked_at() {
    let (name, mut samples) = service("a", (0..40).map(|turn| (100, if turn < 30 { 1.0 } else { 9.0 })));
    for sample in &mut samples {
        (sample.requests, sample.counts_requests) = (0, false);
    }
    let metrics = found([(name, samples)]).into_iter().map(|step| step.metric).collect::<Vec<_>>();
    assert_eq!(metrics, [WatchedMetric::Cpu]);
}

#[test]
fn level_series_of_many_services_show_nothing() {
    let level = |name: usize| {
        let mut random = name as u64 + 1;
        let values = (0..360).map(move |_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            (40 + (random >> 33) % 40, 2.0 + ((random >> 40) % 100) as f64 / 100.0)
        });
        service(&format!("s{name}"), values)
    };
    assert_eq!(found((0..50).map(level)), []);
}
