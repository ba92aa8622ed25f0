//! `whyslow steps`: series from tables, from lines and from iperf3, and what holds none.

use crate::stage::Stage;
use std::fmt::Write as _;

/// 400 for four seconds, 80 for five, 200 for three, by the tenth of a second and with noise.
fn rates() -> Vec<(f64, f64)> {
    let rate = |place: usize| match place {
        0..40 => 400.0,
        40..90 => 80.0,
        _ => 200.0,
    };
    (0..120)
        .map(|place| (place as f64 / 10.0, rate(place) * (1.0 + ((place * 31 % 17) as f64 - 8.0) / 500.0)))
        .collect()
}

#[test]
fn levels_and_steps_are_the_same_from_a_table_from_lines_and_from_iperf() {
    let stage = Stage::new();
    let (mut table, mut lines, mut intervals) = ("at,mbits\n".to_string(), String::new(), Vec::new());
    for (at, rate) in rates() {
        let _ = writeln!(table, "{at:.1},{rate}");
        let _ = writeln!(lines, "[  5] {at:.1} sec  {rate} Mbits/sec");
        let bits = rate * 1e6;
        intervals.push(format!(
            r#"{{"sum":{{"start":{at:.1},"end":0,"seconds":0.1,"bits_per_second":{bits},"omitted":false}}}}"#
        ));
    }
    let json = format!(r#"{{"start":{{}},"intervals":[{}]}}"#, intervals.join(","));
    for (name, text) in [("rates.csv", &table), ("iperf.log", &lines), ("iperf.json", &json)] {
        std::fs::write(stage.path(name), text).expect("written");
    }
    let pattern = r"(?<time>[0-9.]+) sec +(?<value>[0-9.]+) Mbits/sec";
    for arguments in [
        &["rates.csv", "--column", "mbits", "--times", "at"][..],
        &["iperf.log", "--pattern", pattern],
        &["iperf.json"],
    ] {
        let ran = stage.run(&[&["steps", "--json", "-o", "page.html"], arguments].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        let said = ran.json();
        let unit = if said["quantity"] == "bits-per-second" { 1e6 } else { 1.0 };
        let levels = said["levels"].as_array().expect("levels").iter();
        let levels: Vec<f64> = levels.map(|level| (level["value"].as_f64().expect("a value") / unit).round()).collect();
        assert_eq!(levels, [400.0, 80.0, 200.0], "{arguments:?}");
        let times: Vec<f64> =
            said["steps"].as_array().expect("steps").iter().filter_map(|step| step["at_s"].as_f64()).collect();
        assert!((times[0] - 4.0).abs() < 0.15 && (times[1] - 9.0).abs() < 0.15, "{times:?}");
        let page = std::fs::read_to_string(stage.path("page.html")).expect("a page");
        assert!(page.contains("2 steps between 3 levels"));
    }
}

#[test]
fn a_level_is_no_step_and_no_value_is_an_error_that_shows_a_line() {
    let stage = Stage::new();
    std::fs::write(stage.path("level.txt"), "10\n11\n10\n12\n11\n10\n11\n12\n10\n11\n").expect("written");
    let ran = stage.run(&["steps", "level.txt"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("No step: 11.0 throughout"), "{ran:?}");
    std::fs::write(stage.path("words.txt"), "nothing to see\n").expect("written");
    let ran = stage.run(&["steps", "words.txt"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("its first line is: nothing to see") && ran.stderr.contains("--pattern"), "{ran:?}");
    assert_eq!(stage.run(&["steps", "--pattern", "(", "words.txt"]).code, 2);
}

#[test]
fn a_command_that_prints_no_series_is_an_error_that_says_what_it_printed() {
    let stage = Stage::new();
    let ran = stage.run(&["steps", "--run", "sh -c 'echo refused >&2; exit 3'"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("exit status: 3") && ran.stderr.contains("refused"), "{ran:?}");
}
