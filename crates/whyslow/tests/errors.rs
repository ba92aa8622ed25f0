//! Every error that a user can meet before or instead of a recording: three lines, exit code 2, nothing on stdout.

use crate::stage::{Stage, shell};
use testing::is_root;

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    let ran = Stage::new().run(&["--help"]);
    assert_eq!(ran.code, 0);
    for word in ["run", "attach", "compare", "sweep", "report", "explain", "doctor", "3 inconclusive"] {
        assert!(ran.stdout.contains(word), "{word}: {ran:?}");
    }
    assert!(Stage::new().run(&["run", "--help"]).stdout.contains("--exit-as-subject"));
    assert_eq!(Stage::new().run(&["--version"]).stdout, format!("whyslow {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_unknown_option_names_the_similar_one() {
    let ran = Stage::new().run(&["run", "--durations", "1s", "--", "true"]);
    assert!(ran.error()[1].contains("--duration"), "{ran:?}");
    assert_eq!(ran.error()[2], "  try: whyslow run --help");
}

#[test]
fn a_second_server_is_refused_with_the_command_that_starts_both() {
    let servers = ["--server", "./application", "--server=nginx -c proxy.conf"];
    let ran = Stage::new().run(&[&["run"], &servers[..], &["--", "true"]].concat());
    assert_eq!(ran.error()[0], "whyslow: --server can be given only once");
    assert!(ran.error()[2].contains("sh -c"), "{ran:?}");
    // Words of the program's own.
    for asked in [&["run", "--duration", "soon", "--"][..], &["compare", "--budget", "soon"]] {
        let ran = Stage::new().run(&[asked, &["echo", "--server", "a", "--server", "b"], &["--", "true"]].concat());
        assert!(ran.error()[0].contains(asked[1]), "{ran:?}");
    }
}

#[test]
fn a_run_without_a_command_says_that_it_is_missing() {
    assert!(Stage::new().run(&["run"]).error()[1].contains("COMMAND"));
    assert!(Stage::new().run(&["dance"]).error()[0].contains("dance"));
}

#[test]
fn a_command_that_is_not_there_is_not_found() {
    let ran = Stage::new().run(&["run", "--", "no-such-command-here"]);
    assert_eq!(ran.error()[0], "whyslow: command not found: no-such-command-here");
}

#[test]
fn a_file_of_that_name_in_this_folder_is_offered() {
    let stage = Stage::new();
    std::fs::write(stage.path("own-program"), "").expect("written");
    let ran = stage.run(&["run", "--hz", "0", "--", "own-program", "a b"]);
    assert!(ran.error()[2].ends_with("whyslow run --hz 0 -- ./own-program 'a b'"), "{ran:?}");
}

#[test]
fn a_file_that_is_no_program_is_not_executable() {
    let stage = Stage::new();
    std::fs::write(stage.path("text"), "").expect("written");
    let ran = stage.run(&["run", "--", "./text"]);
    assert!(ran.error()[0].contains("cannot execute ./text") && ran.error()[1].contains("permission"), "{ran:?}");
}

#[test]
fn options_that_make_no_sense_name_what_does() {
    let stage = Stage::new();
    let run = |option: &str, value: &str| stage.run(&["run", "--server", "true", option, value, "--", "true"]);
    assert!(run("--link", "jitter=5ms").error()[1].contains("the keys are mtu, rate, burst, queue"));
    let alone = stage.run(&["run", "--link", "mtu=1500", "--", "true"]);
    assert!(alone.error()[1].contains("a link needs a server at its other end"));
    assert!(run("--link", "mtu=5").error()[1].contains("68 to 65535"));
    assert!(run("--duration", "soon").error()[1].contains("ms, s, m and h"));
    assert!(run("--user", "no-such-user").error()[1].contains("no-such-user"));
    assert!(stage.run(&["run", "--server", "sh -c 'x", "--", "true"]).error()[1].contains("quote"));
    assert!(run("--hz", "many").error()[0].contains("--hz"));
    assert!(run("--requests", "0").error()[0].contains("--requests"));
}

#[test]
fn comparisons_that_cannot_be_made_say_what_can() {
    let stage = Stage::new();
    let compare = |words: &[&str]| stage.run(&[&["compare"], words].concat());
    assert!(compare(&["true"]).error()[1].contains("B COMMAND"));
    assert!(compare(&["--buget", "1s", "true", "--", "true"]).error()[0].contains("--buget"));
    assert!(compare(&["--a", "colour=red", "--", "true"]).error()[1].contains("server, with"));
    assert!(compare(&["--b", "with=warp", "--", "true"]).error()[1].contains("`warp` is not an intervention"));
    assert!(compare(&["--fail-if", "speed > 1.05x", "--", "true"]).error()[1].contains("wall, cpu"));
    assert!(compare(&["--fail-if", "wall > 5%", "--", "true"]).error()[2].contains("whyslow compare --help"));
    assert!(compare(&["--baseline", "nowhere", "--", "true"]).error()[0].contains("there is no such case"));
    assert!(compare(&["-o", ".", "--", "true"]).error()[0].contains("already exists"));
    assert!(compare(&["true 'x", "--", "true"]).error()[1].contains("quote"));
}

#[test]
fn values_that_cannot_be_swept_through_say_what_can() {
    let stage = Stage::new();
    let sweep = |vary: &str, word: &str| stage.run(&["sweep", "--vary", vary, "--", "echo", word]);
    let mistyped = sweep("size=1,2,4", "{sise}").error()[1].to_string();
    assert!(mistyped.contains("{sise}") && mistyped.contains("size"), "{mistyped}");
    assert!(sweep("size=5..2", "{size}").error()[1].contains("empty"));
    assert!(sweep("size=1..many", "{size}").error()[1].contains("many"));
    assert!(sweep("size", "{size}").error()[1].contains("size=1,100,4K"));
    assert!(sweep("mtu=500..1500", "x").error()[1].contains("link"));
}

#[test]
fn what_does_not_run_cannot_be_attached_to() {
    let stage = Stage::new();
    // More than a process's number can be.
    assert!(stage.run(&["attach", "4194305"]).error()[0].contains("4194305"));
    assert!(stage.run(&["attach"]).error()[1].contains("PID"));
    assert!(stage.run(&["attach", "1", "--port", "80"]).error()[0].contains("--port"));
    assert!(stage.run(&["attach", "--port", "0"]).error()[0].contains("--port"));
}

#[test]
fn an_existing_folder_is_never_overwritten() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("there")).expect("made");
    let ran = stage.run(&["run", "-o", "there", "--", "true"]);
    assert!(ran.error()[0].contains("already exists"), "{ran:?}");
    assert_eq!(std::fs::read_dir(stage.path("there")).expect("a folder").count(), 0);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let stage = Stage::new();
    std::fs::write(stage.path("file"), "").expect("written");
    let ran = stage.run(&["run", "-o", "file/case", "--", "true"]);
    assert!(ran.error()[1].contains("file"), "{ran:?}");
}

#[test]
fn a_foreign_or_torn_case_is_named() {
    let stage = Stage::new();
    assert!(stage.run(&["report", "."]).error()[1].contains("no manifest.json"));
    assert!(stage.run(&["report", "absent"]).error()[1].contains("absent"));
    std::fs::write(stage.path("manifest.json"), "{\"schema\":").expect("written");
    assert!(stage.run(&["report", "."]).error()[0].contains("damaged"));
}

#[test]
fn an_unknown_page_offers_the_nearest_name() {
    let ran = Stage::new().run(&["explain", "nagel-delayed-ack"]);
    assert_eq!(ran.error()[2], "  try: whyslow explain nagle-delayed-ack");
}

#[test]
fn every_listed_page_can_be_read_by_name_and_by_identifier() {
    let stage = Stage::new();
    let list = stage.run(&["explain"]);
    // A sentence that needs more than one line goes on below itself.
    let (pathologies, interventions) = list.stdout.split_once("\n\n").expect("two lists");
    let entries: Vec<&str> = pathologies.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(entries.len() > 3, "{list:?}");
    let names = interventions.lines().filter_map(|line| line.strip_prefix("     ")?.split(' ').next());
    for name in names.filter(|name| !name.is_empty()) {
        assert!(stage.run(&["explain", name]).stdout.starts_with(&format!("# {name}\n")), "{name}");
    }
    for line in entries {
        let (id, rest) = line.split_once(' ').expect("identifier and name");
        let name = rest.split_whitespace().next().expect("a name");
        let page = stage.run(&["explain", name]);
        assert_eq!(page.code, 0);
        assert_eq!(page.stdout, stage.run(&["explain", id]).stdout);
        assert!(page.stdout.lines().count() > 3, "{page:?}");
    }
}

#[test]
fn an_ordinary_user_gets_the_command_that_works() {
    if !is_root() {
        return;
    }
    let stage = Stage::new();
    std::fs::create_dir(stage.path("state")).expect("made");
    shell(&format!("chmod 777 {}", stage.path("state").display()));
    let ran = stage.run_as_nobody(&["run", "--", "true"]);
    let [_, why, remedy] = ran.error();
    assert!(why.contains("user 65534 lacks cap_"), "{ran:?}");
    assert!(remedy.contains("sudo /") && remedy.contains("whyslow run -- true"), "{ran:?}");
    assert!(remedy.contains("sudo setcap cap_"), "{ran:?}");
    let linked = stage.run_as_nobody(&["run", "--link", "mtu=1500", "--server", "true", "--", "true"]);
    assert!(linked.error()[2].contains("sudo /"), "{linked:?}");
    let other = stage.run_as_nobody(&["run", "--user", "root", "--", "true"]);
    assert!(other.error()[1].contains("only root"), "{other:?}");
    let unwritable = stage.run_as_nobody(&["run", "-o", "/root/new/case", "--", "true"]);
    assert!(unwritable.error()[1].contains("/root/new"), "{unwritable:?}");
}

#[test]
fn doctor_checks_in_words_and_in_json() {
    let stage = Stage::new();
    let words = stage.run(&["doctor"]);
    assert!([0, 1].contains(&words.code));
    let document = stage.run(&["doctor", "--json"]).json();
    let checks = document["checks"].as_array().expect("checks");
    assert!(checks.len() > 3);
    for check in checks {
        assert!(words.stdout.contains(check["name"].as_str().expect("a name")), "{check}");
        assert_eq!(check["works"] == false, !check["remedy"].as_str().expect("a remedy").is_empty(), "{check}");
    }
}
