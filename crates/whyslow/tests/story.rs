//! `whyslow story`: the casebook's declarations hold together, and what does not come out as declared fails.

use crate::stage::{Ran, Stage};
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use testing::{is_root, skip};

/// Who called sudo: nobody, who does not own whyslow.
const CALLER: u32 = 65_534;

fn casebook() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../casebook")
}

fn story(stage: &Stage, casebook: &Path, words: &[&str]) -> Ran {
    let casebook = casebook.to_str().expect("UTF-8");
    stage.run(&[&["story", "--casebook", casebook], words].concat())
}

/// A casebook with one story: a shell that counts, or fails, with nothing wrong.
fn fake(stage: &Stage, run: &str, declaration: &str) -> PathBuf {
    let folder = stage.path("casebook/counting");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("run.sh"), run).expect("written");
    let head = "summary = 'A shell counts.'\nquestion = 'Why?'\nanswer = 'no cause'\nseconds = 2\n\
                [subject]\nclient = 'sh'\n[[variant]]\nname = 'slow'\n";
    std::fs::write(folder.join("story.toml"), format!("{head}{declaration}")).expect("written");
    stage.path("casebook")
}

/// A run.sh that hands everything to whyslow, but for the variant.
const COUNTS: &str = "shift\nexec \"$WHYSLOW\" run --no-prove \"$@\" -- \
                      sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'\n";

#[test]
fn every_story_declares_programs_and_pathologies_that_there_are() {
    let stage = Stage::new();
    // Each declaration is read in full, and what it names is looked for.
    let listed = story(&stage, &casebook(), &["list", "--json"]).answered().json();
    let stories = listed["stories"].as_array().expect("stories").clone();
    let names = stories.iter().filter_map(|story| story["name"].as_str()).collect::<Vec<_>>();
    let scripts = std::fs::read_dir(casebook()).expect("the casebook").flatten().map(|entry| entry.path());
    let mut folders = scripts.filter(|folder| folder.is_dir()).collect::<Vec<_>>();
    folders.sort();
    let folders = folders.iter().filter_map(|folder| folder.file_name()?.to_str()).collect::<Vec<_>>();
    assert_eq!(names, folders, "every folder declares its story");
    for story in &stories {
        assert!(story["seconds"].as_u64().is_some_and(|seconds| seconds > 0), "{story}");
        assert!(story["question"].as_str().is_some_and(|question| question.ends_with('?')), "{story}");
    }
}

#[test]
fn the_list_fits_the_terminal_and_says_what_to_expect_and_how_long_it_takes() {
    let listed = story(&Stage::new(), &casebook(), &["list"]).answered().stdout;
    assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
    for words in
        ["nagle  ", "about 55 s         nagle-delayed-ack, in the second write of client.py", "context-per-request"]
    {
        assert!(listed.contains(words), "{words}: {listed}");
    }
}

#[test]
fn an_unknown_story_or_variant_names_those_that_there_are() {
    let stage = Stage::new();
    let ran = story(&stage, &casebook(), &["run", "context"]);
    assert!(ran.error()[2].ends_with("whyslow story run context-per-request"), "{ran:?}");
    let ran = story(&stage, &casebook(), &["run", "nagle", "--variant", "swift"]);
    assert!(ran.error()[1].contains("slow, fixed"), "{ran:?}");
}

#[test]
fn without_a_casebook_the_folders_that_were_looked_at_are_named() {
    let stage = Stage::new();
    let ran = story(&stage, &stage.path("nowhere"), &["list"]);
    assert!(ran.error()[1].contains("nowhere") && ran.error()[2].contains("--casebook"), "{ran:?}");
    let named = stage.whyslow(&["story", "list"]).env("WHYSLOW_CASEBOOK", casebook()).output().expect("whyslow");
    assert!(Ran::from(named).stdout.contains("nagle"));
}

#[test]
fn a_declaration_that_names_what_is_not_there_is_refused() {
    let stage = Stage::new();
    let refused = |declaration: &str| {
        let ran = story(&stage, &fake(&stage, COUNTS, declaration), &["list"]);
        ran.error()[1].to_string()
    };
    assert!(refused("expected = [{ finding = 'slowness' }]").contains("no cause `slowness`"));
    let place = "expected = [{ finding = 'busy-spin', program = 'run.sh', line = 'here' }]";
    assert!(refused(place).contains("no line marked `casebook: here`"));
    assert!(refused("expected = [{ finding = 'busy-spin', program = 'x.py' }]").contains("x.py"));
    assert!(refused("silent = true\ncolour = 1").contains("colour"));
    assert!(refused("").contains("expects nothing"));
}

#[test]
fn a_story_that_comes_out_as_declared_holds_and_keeps_its_case() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let cases = stage.path("cases");
    let ran =
        story(&stage, &fake(&stage, COUNTS, "silent = true"), &["run", "all", "-o", cases.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for words in ["counting: A shell counts.", "ok      twin silent  nothing found", "Case: "] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    // Where it waits for a CPU most of the time, that is named instead of nothing.
    let unwrapped = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let says_so = ["No cause found.", "No known cause of slowness was recognised."];
    assert!(says_so.iter().any(|words| unwrapped.contains(words)), "{}", ran.stdout);
    assert!(cases.join("counting-slow/answer.json").is_file(), "{ran:?}");
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stdout.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn a_healthy_program_that_is_declared_slow_fails() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let casebook = fake(&stage, COUNTS, "expected = [{ finding = 'busy-spin' }]");
    let ran = story(&stage, &casebook, &["run", "counting", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let document = ran.json();
    assert_eq!((&document["failed"], &document["held"]), (&1.into(), &0.into()), "{document}");
    let checks = document["stories"][0]["checks"].as_array().expect("checks").clone();
    let aspects = checks.iter().map(|check| check["aspect"].as_str().expect("a word")).collect::<Vec<_>>();
    assert_eq!(aspects, ["named", "located", "confirmed"]);
    assert!(checks.iter().all(|check| check["holds"] == false), "{document}");
    let run = story(&stage, &casebook, &["run", "counting"]).stdout;
    assert!(run.contains("FAILED  named        no busy-spin; nothing was found"), "{run}");
}

#[test]
fn another_program_than_the_declared_one_fails() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let casebook = fake(&stage, COUNTS, "client = 'awk'\nsilent = true");
    let ran = story(&stage, &casebook, &["run", "counting"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("declares the client as `awk`"), "{}", ran.stdout);
}

#[test]
fn what_is_missing_is_skipped_and_counted_and_what_fails_is_named() {
    let stage = Stage::new();
    if !is_root() {
        return;
    }
    let ran = story(&stage, &fake(&stage, "exit 77\n", "silent = true"), &["run", "all", "--json"]);
    assert_eq!((ran.code, &ran.json()["variants_skipped"]), (3, &1.into()), "{ran:?}");
    let ran = story(&stage, &fake(&stage, "exit 2\n", "silent = true"), &["run", "all"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("run.sh exited with status 2 and printed no answer"), "{}", ran.stdout);
}

/// The same for the caller of sudo, in a folder that everybody may enter.
fn story_of_the_callers(stage: &Stage, casebook: &Path, words: &[&str]) -> Ran {
    std::fs::set_permissions(stage.path(""), Permissions::from_mode(0o755)).expect("the stage is ours");
    let casebook = casebook.to_str().expect("UTF-8");
    let mut command = stage.whyslow(&[&["story", "--casebook", casebook], words].concat());
    let caller = CALLER.to_string();
    Ran::from(command.env("SUDO_UID", &caller).env("SUDO_GID", caller).output().expect("whyslow"))
}

/// What root did not write root does not execute, whoever calls sudo; what it did write is root's, and the program in it the caller's.
#[test]
fn a_story_of_the_callers_is_never_executed_by_root() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    if std::fs::metadata(env!("CARGO_BIN_EXE_whyslow")).expect("whyslow").uid() == CALLER {
        skip("whyslow is the caller's own");
        return;
    }
    let (log, cases) = (stage.path("cases/log"), stage.path("cases"));
    std::fs::create_dir(&cases).expect("made");
    chown(&cases, Some(CALLER), Some(CALLER)).expect("root's right");
    std::fs::write(&log, "").expect("made");
    std::fs::set_permissions(&log, Permissions::from_mode(0o666)).expect("root's right");
    let note = format!("echo $(id -u) >>{}", log.display());
    let run = format!(
        "{note}\nshift\nexec \"$WHYSLOW\" run --no-prove \"$@\" -- \
         sh -c '{note}; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'\n"
    );
    let casebook = fake(&stage, &run, "silent = true");
    let (folder, script) = (casebook.join("counting"), casebook.join("counting/run.sh"));
    let words = ["run", "counting", "-o", cases.to_str().expect("UTF-8")];
    let refused = |what: &str| {
        let ran = story_of_the_callers(&stage, &casebook, &words);
        assert!(ran.code == 2 && ran.stderr.contains("others than root"), "{what}: {ran:?}");
        assert_eq!(std::fs::read_to_string(&log).expect("there"), "", "{what}");
    };
    let own = |path: &Path, uid: u32| chown(path, Some(uid), Some(uid)).expect("root's right");
    for path in [&script, &folder, &casebook] {
        own(path, CALLER);
        refused(&format!("{} is the caller's", path.display()));
        own(path, 0);
    }
    std::fs::set_permissions(&script, Permissions::from_mode(0o666)).expect("root's right");
    refused("run.sh can be written by all");
    std::fs::set_permissions(&script, Permissions::from_mode(0o644)).expect("root's right");
    let aside = cases.join("run.sh");
    std::fs::rename(&script, &aside).expect("moved");
    own(&aside, CALLER);
    symlink(&aside, &script).expect("linked");
    refused("run.sh is a link to a file of the caller's");
    std::fs::remove_file(&script).expect("removed");
    std::fs::rename(&aside, &script).expect("moved");
    own(&script, 0);
    let ran = story_of_the_callers(&stage, &casebook, &words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let by = std::fs::read_to_string(&log).expect("there");
    assert_eq!(by, format!("0\n{CALLER}\n"), "run.sh, then the program in it");
    assert_eq!(cases.join("counting-slow").metadata().expect("a case").uid(), CALLER);
}

#[test]
fn of_a_declaration_that_the_caller_may_not_read_nothing_is_said() {
    let stage = Stage::new();
    if !is_root() {
        return;
    }
    let casebook = fake(&stage, COUNTS, "silent = true");
    let (declaration, secret) = (casebook.join("counting/story.toml"), stage.path("secret"));
    std::fs::write(&secret, "the-secret-of-root\n").expect("written");
    std::fs::remove_file(&declaration).expect("removed");
    symlink(&secret, &declaration).expect("linked");
    for (mode, is_said) in [(0o644, true), (0o600, false)] {
        std::fs::set_permissions(&secret, Permissions::from_mode(mode)).expect("root's right");
        let ran = story_of_the_callers(&stage, &casebook, &["run", "counting"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert_eq!(ran.stderr.contains("the-secret-of-root"), is_said, "{mode:o}: {ran:?}");
    }
}
