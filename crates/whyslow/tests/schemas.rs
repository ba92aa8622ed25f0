//! What `--json` prints keeps to the schemas in docs/schema, command by command.

mod stage;

use serde_json::Value;
use stage::{Background, Ran, Stage, client, free_port, is_root, server, wait_until};
use std::process::Stdio;

/// A command's schema, compiled; its own form is checked on the way.
fn schema(name: &str) -> jsonschema::Validator {
    let path = format!("{}/../../docs/schema/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a schema");
    let schema = serde_json::from_str::<Value>(&text).expect("JSON");
    assert!(jsonschema::meta::is_valid(&schema), "{path}");
    jsonschema::validator_for(&schema).expect("a schema")
}

/// That a document keeps to a command's schema.
fn assert_keeps(name: &str, document: &Value) {
    let schema = schema(name);
    let problems = schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path()));
    assert_eq!(problems.collect::<Vec<_>>(), [""; 0], "{name}");
}

fn assert_printed(name: &str, ran: Ran) {
    assert_keeps(name, &ran.answered().json());
}

#[test]
fn a_document_that_lacks_a_field_or_has_another_type_is_refused() {
    let good = serde_json::json!({ "schema": 1, "repaired": ["a"], "left": [], "added_later": 1 });
    assert_keeps("undo", &good);
    let mut lacking = good.clone();
    lacking.as_object_mut().expect("an object").remove("left");
    let mut other = good;
    other["repaired"] = "a".into();
    assert!(!schema("undo").is_valid(&lacking) && !schema("undo").is_valid(&other));
}

#[test]
fn a_run_its_report_and_a_proof_keep_to_theirs() {
    let stage = Stage::new();
    if !stage.can_record("schemas of a run") {
        return;
    }
    let port = free_port();
    let [python, c, script] = client(port);
    let serve = server(stage.path(".").as_path(), port);
    let run = ["run", "--json", "--all", "-o", "case", "--server", &serve, "--", &python, &c, &script, "{server}"];
    assert_printed("run", stage.run(&run));
    assert_printed("report", stage.run(&["report", "--json", "case"]));
    // A busy loop is suspected, and tried.
    let busy = "import os\nfor _ in range(60000): os.stat('/')";
    assert_printed("run", stage.run(&["run", "--json", "--all", "--budget", "5s", "--", "python3", "-c", busy]));
}

#[test]
fn a_comparison_and_a_sweep_keep_to_theirs() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record("schemas of comparisons") {
        return;
    }
    let compare = ["compare", "--json", "--budget", "4s", "-o", "both", "sleep 0.01", "--", "sleep", "0.03"];
    assert_printed("compare", stage.run(&compare));
    assert_printed("report", stage.run(&["report", "--json", "both"]));
    let sweep = ["sweep", "--vary", "n=0.01,0.02,0.04", "--json", "--budget", "5s", "-o", "all", "--", "sleep", "{n}"];
    assert_printed("sweep", stage.run(&sweep));
    assert_printed("report", stage.run(&["report", "--json", "all"]));
}

#[test]
fn what_is_watched_while_it_runs_keeps_to_its_own() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record("the schema of attach") {
        return;
    }
    let script = "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.01)";
    let mut command = std::process::Command::new("python3");
    let subject = Background(command.args(["-c", script]).stdout(Stdio::null()).spawn().expect("python3"));
    let pid = subject.0.id().to_string();
    wait_until("it runs", || std::path::Path::new(&format!("/proc/{pid}/exe")).exists());
    assert_printed("attach", stage.run(&["attach", &pid, "--json", "--duration", "1s"]));
}

#[test]
fn the_list_of_stories_keeps_to_its_own() {
    let stage = Stage::new();
    let mut command = stage.whyslow(&["story", "list", "--json"]);
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    assert_printed("story", Ran::from(command.output().expect("whyslow")));
}

#[test]
fn a_trial_what_was_undone_and_what_the_machine_allows_keep_to_theirs() {
    let stage = Stage::new();
    // doctor and undo need no privileges; what is missing is an answer, too.
    assert_keeps("doctor", &stage.run(&["doctor", "--json"]).json());
    if !is_root() || !stage.can_record("schemas of trials") {
        return;
    }
    std::fs::write(stage.path("trial.toml"), "command = ['true']\n").expect("written");
    assert_printed("trial", stage.run(&["trial", "--json", "trial.toml"]));
    assert_keeps("undo", &stage.run(&["undo", "--json"]).json());
}
