//! Help, the manual, completions and tutorials: what they say can be typed, and nothing is left out.

use crate::stage::{Stage, shell};
use std::path::{Path, PathBuf};

/// The commands that the overview lists.
fn commands(stage: &Stage) -> Vec<String> {
    let overview = stage.run(&["--help"]).stdout;
    let listed = overview.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("commands");
    let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_string);
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_commands_help_fits_a_terminal_and_ends_with_an_example() {
    let stage = Stage::new();
    let commands = commands(&stage);
    assert!(commands.len() >= 11, "{commands:?}");
    for words in commands.iter().map(|name| vec![name.as_str(), "--help"]).chain([vec!["--help"]]) {
        let help = stage.run(&words).stdout;
        let example = help.split("Examples:\n").nth(1).unwrap_or_default();
        assert!(example.contains("    whyslow ") || example.contains("    sudo whyslow "), "{words:?}: {help}");
        let wide = help.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{words:?}");
        assert!(!help.contains('\u{1b}'), "{words:?}: colours, though nobody sees them");
    }
}

#[test]
fn help_with_a_commands_name_says_the_same() {
    let stage = Stage::new();
    assert_eq!(stage.run(&["help", "undo"]).stdout, stage.run(&["undo", "--help"]).stdout);
}

#[test]
fn every_command_has_a_page_in_the_manual() {
    let stage = Stage::new();
    assert_eq!(stage.run(&["man", "-o", "manual"]).code, 0);
    let whole = std::fs::read_to_string(stage.path("manual/whyslow.1")).expect("whyslow.1");
    assert_eq!(whole, stage.run(&["man"]).stdout);
    for name in commands(&stage) {
        let page = std::fs::read_to_string(stage.path(&format!("manual/whyslow-{name}.1"))).expect("a page");
        assert!(page.contains(".SH OPTIONS") && page.contains(".SH EXAMPLES"), "{name}: {page}");
        assert!(whole.contains(&format!("whyslow\\-{name}(1)")), "{name}: {whole}");
    }
}

#[test]
fn completions_know_every_command_in_every_shell() {
    let stage = Stage::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = stage.run(&["completions", shell]).stdout;
        for name in commands(&stage) {
            assert!(script.contains(&name), "{shell}: {name}");
        }
    }
    assert!(stage.run(&["completions", "tcsh"]).error()[0].contains("tcsh"));
}

#[test]
fn bash_accepts_the_completions_made_for_it() {
    let stage = Stage::new();
    std::fs::write(stage.path("whyslow.bash"), stage.run(&["completions", "bash"]).stdout).expect("written");
    let script = stage.path("whyslow.bash");
    assert_eq!(shell(&format!("bash -n {} 2>&1", script.display())), "");
}

#[test]
fn every_story_that_a_tutorial_tells_and_every_script_in_it_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tutorials = tutorials(&root);
    for tutorial in ["nagle", "four-lines", "gta", "context-per-request"] {
        assert!(tutorials.iter().any(|path| path.file_stem().is_some_and(|name| name == tutorial)), "{tutorial}");
    }
    for path in tutorials {
        let text = std::fs::read_to_string(&path).expect("a tutorial");
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(root.join("casebook").join(name).is_dir(), "{name}");
        let is_path = |letter: char| letter.is_ascii_alphanumeric() || "-./".contains(letter);
        let scripts = text.split(|letter| !is_path(letter)).filter(|word| word.starts_with("casebook/"));
        for script in scripts.filter(|word| std::path::Path::new(word).extension().is_some_and(|end| end == "sh")) {
            assert!(root.join(script).is_file(), "{name}: {script}");
        }
    }
}

fn tutorials(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root.join("docs/tutorials")).expect("tutorials").flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}
