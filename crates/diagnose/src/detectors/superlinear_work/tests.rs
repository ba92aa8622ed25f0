//! CPU time that grows out of hand, and work that looks like it.

use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::tests::{answer, names};
use case::Recording;
use case::facts::{Input, Observation, WhyNoGrowth};

/// What `sscanf` called when samples were taken, innermost first, and for how long.
fn scanning(parts: &[(&[&str], u64)]) -> Recording {
    let mut fixture = Fixture::new();
    for (number, (frames, duration)) in (1u32..).zip(parts) {
        let callers = ["libc.so.6!__isoc99_sscanf", "tool!parse", "tool!main"];
        fixture.stack(number, &[frames, &callers[..]].concat());
        fixture.computes(CLIENT, duration * MS, number);
    }
    let mut recording = fixture.end();
    // A function begins where its name begins: the same for all its samples.
    let names: Vec<String> = recording.locations.iter().map(|row| row.function.clone()).collect();
    for row in &mut recording.locations {
        let first = names.iter().position(|name| *name == row.function).expect("its own name");
        row.function_offset = 0x1000 + first as u64 * 0x100;
    }
    recording
}

const SEARCH: &[&str] = &["libc.so.6!__rawmemchr_evex", "libc.so.6!_IO_str_init_static_internal"];
const SET_UP: &[&str] = &["libc.so.6!_IO_str_init_static_internal"];
const CONVERT: &[&str] = &["libc.so.6!__vfscanf_internal"];
const NUMBER: &[&str] = &["libc.so.6!__strtod_l_internal", "libc.so.6!__vfscanf_internal"];

fn stripped(mut recording: Recording) -> Recording {
    let internal = |name: &str| name.contains("memchr") || name.contains("internal");
    recording.locations.iter_mut().filter(|row| internal(&row.function)).for_each(|row| row.function.clear());
    recording
}

#[test]
fn an_sscanf_that_searches_for_the_end_of_long_strings_is_found() {
    let recording = scanning(&[(SEARCH, 48), (SET_UP, 1), (CONVERT, 4)]);
    let answer = answer(&recording);
    let finding = &answer.findings[0];
    assert_eq!((finding.id.as_str(), answer.findings.len()), ("P36", 1));
    assert_eq!(finding.place[0].function, "parse");
    assert!(finding.cost.share_of_wall > 0.8, "{:?}", finding.cost);
    assert_eq!(finding.cost.cpu_ns_per_exchange, 48 * MS);
    // Nothing varied, so no power is claimed.
    assert_eq!(finding.observed, [Observation::GrowthNotMeasured { why: WhyNoGrowth::FewExchanges }]);
    assert!(!finding.mechanism.join(" ").contains("square"), "{:?}", finding.mechanism);
    assert_eq!(names(&stripped(recording)), ["superlinear-work"]);
}

#[test]
fn an_sscanf_that_converts_is_left_alone() {
    for parts in [
        // Short lines.
        vec![(SEARCH, 11), (SET_UP, 2), (CONVERT, 180), (NUMBER, 70)],
        // Numbers of 1 kB.
        vec![(SEARCH, 2), (CONVERT, 318), (NUMBER, 160)],
        // Words of 1 kB.
        vec![(SEARCH, 3), (CONVERT, 215)],
        // One number at the head of lines of 1 kB.
        vec![(SEARCH, 30), (SET_UP, 4), (CONVERT, 53), (NUMBER, 12)],
    ] {
        let recording = scanning(&parts);
        assert_eq!(names(&recording), Vec::<String>::new(), "{parts:?}");
        assert_eq!(names(&stripped(recording)), Vec::<String>::new(), "{parts:?}, stripped");
    }
}

#[test]
fn a_search_of_the_programs_own_is_left_alone() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["libc.so.6!__memchr_evex", "tool!next_line", "tool!main"]);
    fixture.computes(CLIENT, 500 * MS, 1);
    assert_eq!(names(&fixture.end()), Vec::<String>::new());
}

/// A hundred exchanges: the response of each, in bytes, and for how long the server worked on it.
fn responses(of: impl Fn(u64) -> (u64, u64)) -> Recording {
    some_responses(100, of)
}

fn some_responses(exchanges: u64, of: impl Fn(u64) -> (u64, u64)) -> Recording {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["server!scan", "server!answer", "server!main"]);
    fixture.connect(1, CLIENT);
    let mut idle = fixture.now;
    for number in 0..exchanges {
        let (bytes, work) = of(number);
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        let waiting = fixture.now;
        fixture.now = idle;
        fixture.waits(SERVER, start + 12 * US - idle, 232, |call| call.result = 1);
        fixture.moves(SERVER, 1001, READ, 200);
        fixture.computes(SERVER, work, 1);
        fixture.moves(SERVER, 1001, WRITE, bytes as i64);
        idle = fixture.now;
        fixture.now = waiting;
        fixture.waits_for(CLIENT, 1, idle + 12 * US - waiting, bytes as i64);
    }
    fixture.end()
}

/// Eleven sizes from 1 kB to 32 kB, a factor of the square root of 2 apart.
fn size(number: u64) -> f64 {
    1_000.0 * 2_f64.powf((number * 7 % 11) as f64 / 2.0)
}

#[test]
fn work_with_the_square_of_the_response_is_found_with_its_power() {
    let answer = answer(&responses(|number| (size(number) as u64, (size(number).powi(2) / 20.0) as u64)));
    let finding = &answer.findings[0];
    assert_eq!((finding.name.as_str(), finding.place[0].function.as_str()), ("superlinear-work", "scan"));
    let Observation::Growth { input, exponent, low, high, smallest, largest, exchanges } = finding.observed[0] else {
        panic!("no growth: {:?}", finding.observed);
    };
    assert_eq!((input, largest, exchanges), (Input::ResponseBytes, 32_000, 100));
    assert!((1_000..4_000).contains(&smallest), "{smallest}: what is mostly a fixed cost may be left out");
    assert!((1.8..2.1).contains(&exponent) && low > 1.5 && low <= exponent && exponent <= high, "{low} {exponent}");
    assert!(finding.cost.share_of_cpu > 0.5, "{:?}", finding.cost);
}

#[test]
fn work_in_proportion_to_the_response_is_left_alone() {
    assert_eq!(names(&responses(|number| (size(number) as u64, size(number) as u64 * 1_000))), Vec::<String>::new());
}

#[test]
fn sorting_the_response_is_left_alone() {
    let sorting = |number| (size(number) as u64, (size(number) * size(number).ln() * 100.0) as u64);
    assert_eq!(names(&responses(sorting)), Vec::<String>::new());
}

#[test]
fn responses_that_hardly_vary_show_no_law_whatever_they_cost() {
    let alike = |number| {
        let size = 1_000.0 + 100.0 * (number % 7) as f64;
        (size as u64, (size.powi(2) / 2.0) as u64)
    };
    assert_eq!(names(&responses(alike)), Vec::<String>::new());
}

#[test]
fn requests_that_each_cost_more_than_the_one_before_are_found_and_those_at_one_cost_are_not() {
    let found = answer(&some_responses(800, |number| (1_000, (number + 1) * 50 * US)));
    let Some(Observation::Growth { input, low, .. }) = found.findings[0].observed.first() else {
        panic!("no growth: {:?}", found.findings);
    };
    assert_eq!((found.findings[0].name.as_str(), *input), ("superlinear-work", Input::Exchanges));
    assert!(*low > 0.5, "{low}");
    // That they keep a thread busy is another matter.
    let level = names(&some_responses(800, |_| (1_000, 10 * MS)));
    assert!(!level.contains(&"superlinear-work".to_string()), "{level:?}");
}

/// Three uploads in 400 parts of 10 kB each: how long the server works on a part, given the bytes before it.
fn uploads(work: impl Fn(u64) -> u64) -> Recording {
    const PARTS: u64 = 400;
    let mut fixture = Fixture::new();
    fixture.stack(1, &["server!append", "server!receive", "server!main"]);
    fixture.connect(1, CLIENT);
    for _ in 0..3 {
        for part in 0..PARTS {
            fixture.moves(CLIENT, 1, WRITE, 10_000);
            fixture.now += 5 * US;
            fixture.moves(SERVER, 1001, READ, 10_000);
            fixture.computes(SERVER, work(part * 10_000), 1);
        }
        // What is done with the whole is nobody's part.
        fixture.computes(SERVER, 300 * MS, 1);
        let start = fixture.now;
        fixture.moves(SERVER, 1001, WRITE, 100);
        fixture.now = start;
        fixture.waits_for(CLIENT, 1, 20 * US, 100);
    }
    fixture.end()
}

#[test]
fn an_upload_whose_parts_each_cost_more_than_the_one_before_is_found_and_one_at_a_level_cost_is_not() {
    let answer = answer(&uploads(|before| 10 * US + before / 2));
    let finding = answer.findings.iter().find(|one| one.name == "superlinear-work").expect("it is found");
    assert_eq!(finding.place[0].function, "append");
    let Observation::Growth { input, exponent, low, exchanges, .. } = finding.observed[0] else {
        panic!("no growth: {:?}", finding.observed);
    };
    assert_eq!((input, exchanges), (Input::RequestBytesSoFar, 3));
    assert!((0.7..1.2).contains(&exponent) && low > 0.5, "{low} {exponent}");
    for level in [|_| MS, |before: u64| 100 * US + (before as f64).ln() as u64 * 20 * US] {
        let found = names(&uploads(level));
        assert!(!found.contains(&"superlinear-work".to_string()), "{found:?}");
    }
}

#[test]
fn parts_that_arrive_in_ever_smaller_reads_cost_more_a_byte_and_no_more_each() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["server!receive", "server!main"]);
    fixture.connect(1, CLIENT);
    for _ in 0..3 {
        for part in 0..1000u64 {
            // 2 MB over the reads so far: a byte costs in proportion to how many there were.
            let bytes = (400_000 / (part + 10)) as i64;
            fixture.moves(CLIENT, 1, WRITE, bytes);
            fixture.moves(SERVER, 1001, READ, bytes);
            fixture.computes(SERVER, 200 * US, 1);
        }
        let start = fixture.now;
        fixture.moves(SERVER, 1001, WRITE, 100);
        fixture.now = start;
        fixture.waits_for(CLIENT, 1, 20 * US, 100);
    }
    let found = names(&fixture.end());
    assert!(!found.contains(&"superlinear-work".to_string()), "{found:?}");
}
