//! The README promises nothing that is not there.

use crate::stage::Stage;
use crate::stories::running::expect_shown;
use std::path::Path;

const README: &str = include_str!("../../../README.md");

/// What the README may show.
const COMMANDS: [&str; 18] = [
    "run", "attach", "compare", "sweep", "bisect", "matrix", "load", "feeds", "logs", "pcap", "steps", "watch",
    "world", "report", "explain", "doctor", "trial", "undo",
];

#[test]
fn every_option_and_command_it_names_exists() {
    let stage = Stage::new();
    let help = COMMANDS.map(|command| stage.run(&[command, "--help"]).stdout).concat();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let options = README.split(|letter| !is_word(letter)).filter(|word| word.starts_with("--") && word.len() > 3);
    // Of curl's, in a comparison.
    for option in options.filter(|option| *option != "--cacert") {
        assert!(help.contains(option), "{option}");
    }
    let overview = stage.run(&["--help"]).stdout;
    let commands = README.split("whyslow ").skip(1).map(|rest| rest.split([' ', '`', '\n']).next().unwrap_or_default());
    for command in commands.filter(|word| COMMANDS.contains(word)) {
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

#[test]
fn the_bisections_that_are_shown_are_what_is_said_of_the_one_that_was_kept() {
    let kept = include_str!("../../../casebook/upgrade/bisection.json");
    let bisection: case::Bisection = serde_json::from_str(kept).expect("a bisection");
    assert_eq!(bisection.summary, report::bisection_sentence(&bisection), "the summary that was kept");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = words(&report::text(&report::Document::of(&bisection), &report::Style::default()));
    let tutorial = include_str!("../../../docs/tutorials/upgrade.md");
    for (text, heading) in [(README, "<!-- bisect output -->"), (tutorial, "<!-- output -->")] {
        let block = text.split(heading).nth(1).and_then(|rest| rest.split("<!-- end").next()).expect("a block");
        let shown = block.trim().trim_start_matches("```text").trim_end_matches("```");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        for paragraph in shown.split("\n\n") {
            assert!(said.contains(&words(paragraph)), "what is shown is\n{paragraph}\nand what is said is\n{said}");
        }
    }
}

/// The upgrade story takes minutes: `make stories` tells it, and says where it has put the cases.
#[test]
#[ignore = "needs the cases of make stories"]
fn the_bisections_that_are_shown_are_what_is_said_of_a_real_one() {
    let Some(stories) = std::env::var_os("WHYSLOW_STORIES") else { return testing::skip("no WHYSLOW_STORIES") };
    let case = Path::new(&stories).join("upgrade-slow");
    if !case.exists() {
        return testing::skip("the upgrade story was not run: Debian's mirror cannot be reached");
    }
    let tutorial = include_str!("../../../docs/tutorials/upgrade.md");
    for (text, heading) in [(README, "<!-- bisect output -->"), (tutorial, "<!-- output -->")] {
        expect_shown(text, heading, &case);
    }
}
