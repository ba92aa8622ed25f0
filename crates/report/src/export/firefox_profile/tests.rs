use crate::export::fixture::{START, known, recording, segment};
use serde_json::Value;

fn profile() -> Value {
    serde_json::from_str(&super::firefox_profile(&recording(), &known())).expect("JSON")
}

fn column<'v>(table: &'v Value, name: &str) -> &'v [Value] {
    table[name].as_array().unwrap_or_else(|| panic!("{name} of {table}"))
}

fn length(table: &Value) -> usize {
    usize::try_from(table["length"].as_u64().expect("a length")).expect("small")
}

/// That a column's numbers are rows of another table.
fn assert_points_into(table: &Value, name: &str, rows: usize) {
    let all = column(table, name).iter().filter(|one| !one.is_null()).map(|one| one.as_i64().expect("a number"));
    all.for_each(|row| assert!(row < 0 || (row as usize) < rows, "{name}: {row} of {rows}"));
}

#[test]
fn every_column_is_as_long_as_its_table_and_every_index_has_its_row() {
    let profile = profile();
    let categories = column(&profile["meta"], "categories").len();
    for thread in column(&profile, "threads") {
        for name in ["samples", "frameTable", "stackTable", "funcTable", "resourceTable", "nativeSymbols", "markers"] {
            let table = &thread[name];
            let columns = table.as_object().expect(name).iter().filter_map(|(key, rows)| Some((key, rows.as_array()?)));
            columns.for_each(|(key, rows)| assert_eq!(rows.len(), length(table), "{name}.{key}"));
        }
        let rows = |name: &str| length(&thread[name]);
        assert_points_into(&thread["samples"], "stack", rows("stackTable"));
        assert_points_into(&thread["stackTable"], "prefix", rows("stackTable"));
        assert_points_into(&thread["stackTable"], "frame", rows("frameTable"));
        assert_points_into(&thread["frameTable"], "func", rows("funcTable"));
        assert_points_into(&thread["frameTable"], "category", categories);
        assert_points_into(&thread["frameTable"], "nativeSymbol", rows("nativeSymbols"));
        assert_points_into(&thread["funcTable"], "resource", rows("resourceTable"));
        assert_points_into(&thread["funcTable"], "name", column(thread, "stringArray").len());
        assert_points_into(&thread["markers"], "category", categories);
    }
}

#[test]
fn a_callers_stack_comes_before_its_callees_and_time_never_goes_back() {
    for thread in column(&profile(), "threads") {
        let prefixes = column(&thread["stackTable"], "prefix").iter().enumerate();
        prefixes.for_each(|(row, prefix)| assert!(prefix.as_u64().is_none_or(|prefix| (prefix as usize) < row)));
        let deltas = column(&thread["samples"], "timeDeltas");
        assert!(deltas.iter().all(|delta| delta.as_f64().expect("a number") >= 0.0));
    }
}

#[test]
fn it_says_its_version_its_start_and_the_processor_time_of_a_sample() {
    let profile = profile();
    let meta = &profile["meta"];
    assert!(meta["preprocessedProfileVersion"].as_u64().is_some_and(|version| version >= 49), "{meta}");
    assert_eq!((meta["startTime"].as_f64(), meta["interval"].as_f64()), (Some(1_700_000_000_000.0), Some(1.0)));
    let thread = &profile["threads"][0];
    assert_eq!((&thread["processName"], length(&thread["samples"])), (&"python3 (client)".into(), 2));
    // In microseconds, as meta.sampleUnits says; the first has nothing before it.
    assert_eq!(column(&thread["samples"], "threadCPUDelta").last(), Some(&1_000.into()));
}

#[test]
fn the_script_stands_above_the_native_code_that_it_calls() {
    let profile = profile();
    let thread = &profile["threads"][0];
    let names = column(&thread["funcTable"], "name").iter();
    let names = names.map(|name| thread["stringArray"][name.as_u64().expect("an index") as usize].as_str());
    let names = names.map(|name| name.expect("text").to_string()).collect::<Vec<_>>();
    assert!(names[0].ends_with(" (client.py:39)") && !names[0].contains('\u{1b}'), "{names:?}");
    assert_eq!(names[1..3], ["post (client.py:26)", "encode"]);
    assert!(!names.iter().any(|name| name.contains("PyEval")), "{names:?}");
}

#[test]
fn blocking_calls_and_exchanges_are_markers() {
    let profile = profile();
    let markers = &profile["threads"][0]["markers"];
    assert_eq!(length(markers), 2);
    let details = column(markers, "data").iter().map(|data| data["details"].as_u64().expect("a string's index"));
    let strings = &profile["threads"][0]["stringArray"];
    let details = details.map(|index| strings[index as usize].as_str().expect("text")).collect::<Vec<_>>();
    assert_eq!(details, ["blocked 40.0 us of 50.0 us, connection 1", "211 us, 200 bytes on connection 1"]);
}

#[test]
fn an_empty_recording_is_a_profile_still() {
    let mut recording = case::Recording::default();
    recording.segments.push(segment(1, START));
    let text = super::firefox_profile(&recording, &known());
    assert!(serde_json::from_str::<Value>(&text).is_ok());
}
