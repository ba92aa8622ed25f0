//! What `--json` prints keeps to the schemas in docs/schema.json, command by command.

use crate::stage::{Background, Ran, Stage, client, free_port, server, wait_until};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};
use testing::{budget, is_root};

/// Debian's validator: checks the schema's own form, then the document on standard input; a line for each problem. Of a file
/// with all schemas, the one of a name is taken.
const VALIDATOR: &str = "import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
if sys.argv[2] in schema.get('$defs', {}):
    schema['$ref'] = '#/$defs/' + sys.argv[2]
jsonschema.Draft202012Validator.check_schema(schema)
for error in jsonschema.Draft202012Validator(schema).iter_errors(json.load(sys.stdin)):
    print(error.json_path, error.message)
";

/// Today's schemas.
const TODAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.json");
/// Those of the first version: what was printed once is printed for ever.
const FIRST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/first_schemas");

/// What a document does against a command's schema, today's and the first.
fn problems(name: &str, document: &Value) -> Vec<String> {
    let first = format!("{FIRST}/{name}.json");
    let mut problems = [TODAY, &first].map(|path| problems_with(path, name, document)).concat();
    problems.dedup();
    problems
}

fn problems_with(path: &str, name: &str, document: &Value) -> Vec<String> {
    // The system's Python, whose package it is; another one in the path would not find it.
    let mut validator = Command::new("/usr/bin/python3")
        .args(["-c", VALIDATOR, path, name])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let mut input = validator.stdin.take().expect("a pipe");
    input.write_all(document.to_string().as_bytes()).expect("the validator reads");
    drop(input);
    let out = validator.wait_with_output().expect("the validator ends");
    assert!(out.status.success(), "{name}: scripts/setup.sh test installs python3-jsonschema");
    String::from_utf8_lossy(&out.stdout).lines().map(str::to_string).collect()
}

/// That a document keeps to a command's schema.
fn assert_keeps(name: &str, document: &Value) {
    assert_eq!(problems(name, document), [""; 0], "{name}");
}

fn assert_printed(name: &str, ran: Ran) {
    assert_keeps(name, &ran.answered().json());
}

#[test]
fn the_first_schemas_allow_fields_that_were_added_since() {
    let files = std::fs::read_dir(FIRST).expect("the first schemas").flatten().map(|entry| entry.path());
    let schemas = files.map(|path| std::fs::read_to_string(path).expect("a schema")).collect::<Vec<_>>();
    assert!(schemas.len() >= 12 && schemas.iter().all(|schema| !schema.contains("additionalProperties\": false")));
}

#[test]
fn a_document_that_lacks_a_field_or_has_another_type_is_refused() {
    let good = serde_json::json!({ "schema": 1, "repaired": ["a"], "left": [], "added_later": 1 });
    assert_keeps("undo", &good);
    let mut lacking = good.clone();
    lacking.as_object_mut().expect("an object").remove("left");
    let mut other = good;
    other["repaired"] = "a".into();
    assert_eq!(problems("undo", &lacking), ["$ 'left' is a required property"]);
    assert_eq!(problems("undo", &other), ["$.repaired 'a' is not of type 'array'"]);
}

#[test]
fn a_run_its_report_and_a_proof_keep_to_theirs() {
    let stage = Stage::new();
    if !stage.can_record() {
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
    assert_printed("run", stage.run(&["run", "--json", "--all", "--budget", &budget(5), "--", "python3", "-c", busy]));
}

#[test]
fn a_comparison_and_a_sweep_keep_to_theirs() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let compare = ["compare", "--json", "--budget", &budget(4), "-o", "both", "sleep 0.01", "--", "sleep", "0.03"];
    assert_printed("compare", stage.run(&compare));
    assert_printed("report", stage.run(&["report", "--json", "both"]));
    let sweep =
        ["sweep", "--vary", "n=0.01,0.02,0.04", "--json", "--budget", &budget(5), "-o", "all", "--", "sleep", "{n}"];
    assert_printed("sweep", stage.run(&sweep));
    assert_printed("report", stage.run(&["report", "--json", "all"]));
}

#[test]
fn what_is_watched_while_it_runs_keeps_to_its_own() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let script = "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.01)";
    let mut command = Command::new("python3");
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
    if !is_root() || !stage.can_record() {
        return;
    }
    std::fs::write(stage.path("trial.toml"), "command = ['true']\n").expect("written");
    assert_printed("trial", stage.run(&["trial", "--json", "trial.toml"]));
    assert_keeps("undo", &stage.run(&["undo", "--json"]).json());
}
