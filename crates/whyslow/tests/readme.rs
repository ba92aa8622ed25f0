//! The README promises nothing that is not there.

mod stage;

use stage::Stage;
use std::path::Path;

const README: &str = include_str!("../../../README.md");

#[test]
fn every_option_and_command_it_names_exists() {
    let stage = Stage::new();
    let help = ["run", "report", "doctor", "compare", "sweep", "attach"]
        .map(|command| stage.run(&[command, "--help"]).stdout)
        .concat();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let options = README.split(|letter| !is_word(letter)).filter(|word| word.starts_with("--") && word.len() > 3);
    // Of curl's, in a comparison.
    for option in options.filter(|option| *option != "--cacert") {
        assert!(help.contains(option), "{option}");
    }
    let overview = stage.run(&["--help"]).stdout;
    let commands = README.split("whyslow ").skip(1).map(|rest| rest.split([' ', '`', '\n']).next().unwrap_or_default());
    for command in commands.filter(|word| {
        ["run", "attach", "compare", "sweep", "report", "explain", "doctor", "trial", "undo"].contains(word)
    }) {
        assert!(overview.contains(&format!("  {command} ")), "{command}");
    }
}

#[test]
fn every_file_it_links_to_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let links = README.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default());
    let files = links.filter(|link| !link.starts_with("http")).collect::<Vec<_>>();
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        assert!(root.join(file).exists(), "{file}");
    }
}

#[test]
fn its_output_fits_a_screen_and_names_a_page_that_exists() {
    let block = README.split("<!-- demo output -->").nth(1).and_then(|rest| rest.split("<!-- end").next());
    let block = block.expect("a block of output");
    assert!(block.lines().all(|line| line.chars().count() <= 80), "{block}");
    assert!(block.lines().count() <= 60, "{block}");
    let name = block.split("whyslow explain ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let page = Stage::new().run(&["explain", name.expect("a page's name")]);
    assert_eq!(page.code, 0, "{page:?}");
}
