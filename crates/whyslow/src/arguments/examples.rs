//! What stands below the options in each command's help: notes, then examples that work as they stand. One text file a
//! command in `examples`; help, manual and the reference of commands show it, and a test parses every example.

/// By command; whyslow itself has no name. Lines are at most 80 columns wide.
pub const ALL: &[(&str, &str)] = &[
    ("", include_str!("examples/whyslow.txt")),
    ("run", include_str!("examples/run.txt")),
    ("attach", include_str!("examples/attach.txt")),
    ("compare", include_str!("examples/compare.txt")),
    ("bisect", include_str!("examples/bisect.txt")),
    ("sweep", include_str!("examples/sweep.txt")),
    ("matrix", include_str!("examples/matrix.txt")),
    ("load", include_str!("examples/load.txt")),
    ("feeds", include_str!("examples/feeds.txt")),
    ("logs", include_str!("examples/logs.txt")),
    ("pcap", include_str!("examples/pcap.txt")),
    ("watch", include_str!("examples/watch.txt")),
    ("steps", include_str!("examples/steps.txt")),
    ("report", include_str!("examples/report.txt")),
    ("trial", include_str!("examples/trial.txt")),
    ("explain", include_str!("examples/explain.txt")),
    ("story", include_str!("examples/story.txt")),
    ("world", include_str!("examples/world.txt")),
    ("undo", include_str!("examples/undo.txt")),
    ("doctor", include_str!("examples/doctor.txt")),
    ("man", include_str!("examples/man.txt")),
    ("completions", include_str!("examples/completions.txt")),
    ("schema", include_str!("examples/schema.txt")),
];

/// What a command's help ends with.
pub fn of(command: &str) -> &'static str {
    ALL.iter().find(|(name, _)| *name == command).map_or("", |(_, text)| text.trim_end())
}

/// The same in two parts: the notes, and each example's purpose with its command line.
pub fn parts(command: &str) -> (&'static str, Vec<(&'static str, &'static str)>) {
    let (notes, examples) = of(command).split_once("Examples:\n").unwrap_or_default();
    let lines = examples.lines().map(str::trim).collect::<Vec<_>>();
    (notes.trim_end(), lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    /// The words behind `sudo`, up to where the shell pipes or writes to a file.
    fn words(line: &str) -> Vec<String> {
        let words = shlex::split(line).expect("a line that a shell can split");
        words.into_iter().skip_while(|word| word == "sudo").take_while(|word| word != "|" && word != ">").collect()
    }

    #[test]
    fn every_example_is_understood_as_it_stands() {
        for (command, text) in ALL {
            let (_, examples) = parts(command);
            assert_eq!(examples.len(), text.lines().filter(|line| line.starts_with("    ")).count(), "{text}");
            for (_, line) in examples {
                let words = words(line);
                let refused = Arguments::parse_words(&words).err().map(|error| error.to_string());
                assert_eq!(refused, None, "{line}");
                assert!(command.is_empty() || words.get(1).is_some_and(|word| word == command));
            }
        }
    }

    #[test]
    fn every_command_line_of_the_tutorials_is_understood() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorials");
        for file in std::fs::read_dir(folder).expect("tutorials").flatten() {
            let text = std::fs::read_to_string(file.path()).expect("a tutorial");
            let lines = text.lines().filter_map(|line| line.strip_prefix("    ")).map(str::trim);
            for line in lines.filter(|line| line.starts_with("whyslow ") || line.starts_with("sudo whyslow ")) {
                let refused = Arguments::parse_words(&words(line)).err().map(|error| error.to_string());
                assert_eq!(refused, None, "{line}");
            }
        }
    }

    #[test]
    fn every_command_that_is_listed_has_an_example() {
        let mut command = Arguments::command();
        command.build();
        for command in command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help") {
            assert!(!parts(command.get_name()).1.is_empty(), "{}", command.get_name());
        }
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for line in ALL.iter().flat_map(|(_, text)| text.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
