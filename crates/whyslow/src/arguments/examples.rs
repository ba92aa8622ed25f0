//! What stands below the options in each command's help: notes, and examples that work as they stand. Help, man page and the reference of commands are made from these; a test parses every example.

use std::fmt::Write;

/// What a command's help says at its end. Lines are at most 80 columns wide.
pub struct Ending {
    /// The command; empty for whyslow itself.
    pub command: &'static str,
    /// Notes above the examples.
    pub notes: &'static str,
    /// Command lines, each with what it is for.
    pub examples: &'static [Example],
}

/// A command line that is understood as it stands.
pub struct Example {
    /// What it is for, in a few words.
    pub purpose: &'static str,
    /// The line, as it is typed.
    pub line: &'static str,
}

impl Ending {
    /// As text for a terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.notes.is_empty() {
            let _ = write!(text, "{}\n\n", self.notes);
        }
        text += "Examples:";
        for example in self.examples {
            let _ = write!(text, "\n  {}:\n    {}", example.purpose, example.line);
        }
        text
    }
}

/// What every command's help ends with.
pub const ALL: &[Ending] = &[
    WHYSLOW,
    RUN,
    ATTACH,
    COMPARE,
    BISECT,
    SWEEP,
    MATRIX,
    REPORT,
    TRIAL,
    EXPLAIN,
    STORY,
    WORLD,
    UNDO,
    DOCTOR,
    MAN,
    COMPLETIONS,
    SCHEMA,
];

/// For whyslow itself.
pub const WHYSLOW: Ending = Ending {
    command: "",
    notes: "Exit codes: 0 nothing found, 1 findings, 2 error, 3 inconclusive.",
    examples: &[
        Example {
            purpose: "Why is this client slow? Record its server, too",
            line: "sudo whyslow run --server ./serve -- python3 client.py",
        },
        Example { purpose: "What is wrong with the program on port 8443?", line: "sudo whyslow attach --port 8443" },
        Example { purpose: "What works on this machine?", line: "whyslow doctor" },
    ],
};

/// For `run`.
pub const RUN: Ending = Ending {
    command: "run",
    notes: "{server} and {client} in either command are replaced by the two addresses:\n127.0.0.1 without --link.",
    examples: &[
        Example {
            purpose: "A program that talks to a server elsewhere",
            line: "whyslow run -- curl --silent --output page.html https://example.com/",
        },
        Example {
            purpose: "With its server, in separate network namespaces",
            line: "whyslow run --link mtu=1500 --server ./serve -- ./client {server}",
        },
        Example {
            purpose: "Only record and diagnose; skip the proof",
            line: "whyslow run --no-prove -o case -- ./client 192.0.2.1",
        },
        Example {
            purpose: "Also try an intervention of your choice, for up to five minutes",
            line: "whyslow run --try delayed-ack-cap=8 --budget 5m -- ./client 192.0.2.1",
        },
    ],
};

/// For `attach`.
pub const ATTACH: Ending = Ending {
    command: "attach",
    notes: "The program is neither stopped nor restarted, and keeps running afterwards.\n\
            Whatever is switched in it to prove a cause is switched back.",
    examples: &[
        Example { purpose: "Whatever listens on a port", line: "whyslow attach --port 8443 --duration 10s" },
        Example { purpose: "One process; only watch, change nothing", line: "whyslow attach --no-prove 4711" },
    ],
};

/// For `compare`.
pub const COMPARE: Ending = Ending {
    command: "compare",
    notes: "KEY is env, link, folder, processors, quota, memory, setting, route (like the\n\
            options of the same name), server, or with (an intervention, see whyslow\n\
            explain). Without --a or --b the program is compared with itself.\n\
            The metric in --fail-if is wall, cpu, latency, elapsed, p50, p95, p99, or\n\
            metric (the one given with --metric).\n\n\
            Exit codes: 0 no difference (or every --fail-if passed), 1 a difference (or\n\
            one failed), 2 error, 3 inconclusive.",
    examples: &[
        Example { purpose: "Two commands", line: "whyslow compare './client --old' -- ./client --new" },
        Example {
            purpose: "One command in two worlds",
            line: "whyslow compare --a link=mtu=500 --b link=mtu=900 --server ./serve -- ./get",
        },
        Example {
            purpose: "A gate: fail if the new build is over 5 % slower",
            line: "whyslow compare --fail-if 'wall > 1.05x' ./old -- ./new",
        },
        Example {
            purpose: "The same program with and without an intervention",
            line: "whyslow compare --b with=tcp-nodelay -- ./client 192.0.2.1",
        },
    ],
};

/// For `bisect`.
pub const BISECT: Ending = Ending {
    command: "bisect",
    notes: "WORLD is host, debian:SUITE, dir:ROOT, libs:FOLDER, git:REVISION (with\n\
            --build) or env:FILE. The host is never changed: programs run in a file tree\n\
            of their own, discarded afterwards. Releases are made once and cached (whyslow\n\
            world).\n\n\
            Exit codes: 0 the worlds do not differ, 1 the cause of the difference was\n\
            found, 2 error, 3 inconclusive.",
    examples: &[
        Example {
            purpose: "Slow since the upgrade: which package?",
            line: "whyslow bisect --good debian:bullseye --bad debian:bookworm -- ./client",
        },
        Example {
            purpose: "Which commit?",
            line: "whyslow bisect --good git:v1.2 --bad git:main --build make -- ./client",
        },
        Example { purpose: "Which variable?", line: "whyslow bisect --good env:old.env --bad env:new.env -- ./client" },
    ],
};

/// For `sweep`.
pub const SWEEP: Ending = Ending {
    command: "sweep",
    notes: "SPEC is a list (1,100,4K), a range (10..100), a range with a step (10..100:5)\n\
            or in powers (1..16K:log). In a range, jumps are narrowed down with values in\n\
            between; in a list they are not.\n\
            {NAME} in either command is replaced by the value. If neither has it, mtu and\n\
            rate change the link; quota, memory and processors change the world; and\n\
            concurrency runs that many clients in parallel.\n\n\
            Exit codes: 0 nothing found, 1 a cliff, superlinear growth or a finding, 2\n\
            error, 3 inconclusive.",
    examples: &[
        Example {
            purpose: "Request size, in powers of two",
            line: "whyslow sweep --vary size=1..16K:log --server ./serve -- ./client {size}",
        },
        Example {
            purpose: "How the time grows with the input",
            line: "whyslow sweep --vary items=500..8000:log -- ./parse {items}",
        },
        Example {
            purpose: "Parallel clients",
            line: "whyslow sweep --vary concurrency=1..32:log --server ./serve -- ./client",
        },
    ],
};

/// For `matrix`.
pub const MATRIX: Ending = Ending {
    command: "matrix",
    notes: "Sources of openssl, curl and zstd come from crates.io; --source FILE adds\n\
            another library. Builds are cached in $WHYSLOW_CACHE [default:\n\
            /var/cache/whyslow for root, ~/.cache/whyslow for others].\n\
            $WHYSLOW_CRATES_INDEX names the sparse index of a mirror.\n\
            Every match of stdout:REGEX in a run counts.\n\n\
            Exit codes: 0 no version is slower than the first, 1 one is, 2 error, 3\n\
            inconclusive.",
    examples: &[
        Example {
            purpose: "Which OpenSSL made it slow, under the same curl",
            line: "whyslow matrix --library openssl=1.1.1w,3.0.2 --with curl=8.0.1 -- ./get",
        },
        Example {
            purpose: "By the numbers the program prints",
            line: "whyslow matrix --library zstd=1.5.2,1.5.6 --metric stdout:[0-9.]+ -- ./pack",
        },
    ],
};

/// For `report`.
pub const REPORT: Ending = Ending {
    command: "report",
    notes: "CASE is the folder that a run, comparison or sweep wrote: the last line it\nprinted.",
    examples: &[
        Example { purpose: "The text again", line: "whyslow report case" },
        Example { purpose: "The page, for a browser", line: "whyslow report case --format html -o case.html" },
        Example {
            purpose: "The recorded segments, for Wireshark",
            line: "whyslow report case --format pcapng -o case.pcapng",
        },
    ],
};

/// For `trial`.
pub const TRIAL: Ending = Ending {
    command: "trial",
    notes: "A file:\n  \
            command = ['python3', 'client.py', '{server}']\n  \
            server = ['nginx', '-p', '/srv', '-c', 'nginx.conf']\n  \
            interventions = ['tcp-nodelay']\n  \
            warm_up = 5\n  \
            seconds = 1.0\n  \
            world = { link = 'mtu=1500' }",
    examples: &[Example {
        purpose: "An arm of an earlier run, here or on another host",
        line: "whyslow trial --json case/trials/sham.toml",
    }],
};

/// For `explain`.
pub const EXPLAIN: Ending = Ending {
    command: "explain",
    notes: "",
    examples: &[
        Example { purpose: "List everything", line: "whyslow explain" },
        Example { purpose: "A cause of slowness", line: "whyslow explain nagle-delayed-ack" },
        Example { purpose: "An intervention", line: "whyslow explain tcp-nodelay" },
    ],
};

/// For `story`.
pub const STORY: Ending = Ending {
    command: "story",
    notes: "The casebook is searched for in this folder, then in the project that whyslow\n\
            was built in.\n\n\
            Exit codes of run: 0 as declared, 1 not as declared, 2 error, 3 everything was\n\
            skipped.",
    examples: &[
        Example { purpose: "List them", line: "whyslow story list" },
        Example { purpose: "One story and its fixed twin", line: "sudo whyslow story run nagle" },
        Example { purpose: "All of them", line: "sudo whyslow story run all" },
    ],
};

/// For `world`.
pub const WORLD: Ending = Ending {
    command: "world",
    notes: "In a world, /home, /root, /tmp, /var/tmp, /run, /mnt, /media, /srv, the working\n\
            folder and the folders of files named in the command are the host's: what is\n\
            written there stays. All other writes are discarded; neither host nor world is\n\
            changed. Running needs root.\n\
            A Debian release comes with the packages the command needs; --package adds\n\
            others. Worlds are cached in $WHYSLOW_CACHE [default: /var/cache/whyslow];\n\
            $WHYSLOW_MIRROR names the mirror.",
    examples: &[
        Example {
            purpose: "Which release is it?",
            line: "sudo whyslow world run debian:bullseye -- cat /etc/os-release",
        },
        Example {
            purpose: "Prepare a release with a library and its certificates",
            line: "sudo whyslow world make debian:bullseye --package libcurl4",
        },
        Example { purpose: "List cached worlds", line: "whyslow world list" },
        Example { purpose: "Remove all of it", line: "sudo whyslow world remove --all" },
    ],
};

/// For `undo`.
pub const UNDO: Ending = Ending {
    command: "undo",
    notes: "Runs in progress are left alone. The next run cleans up by itself, but does not\n\
            end a program that a killed run was watching; undo does.",
    examples: &[Example { purpose: "After a run was killed", line: "sudo whyslow undo" }],
};

/// For `doctor`.
pub const DOCTOR: Ending = Ending {
    command: "doctor",
    notes: "",
    examples: &[
        Example { purpose: "What can this user record?", line: "whyslow doctor" },
        Example { purpose: "What can root record? For a script", line: "sudo whyslow doctor --json" },
    ],
};

/// For `man`.
pub const MAN: Ending = Ending {
    command: "man",
    notes: "",
    examples: &[
        Example { purpose: "Read the manual", line: "whyslow man | man -l -" },
        Example { purpose: "Install every page", line: "sudo whyslow man -o /usr/local/share/man/man1" },
    ],
};

/// For `completions`.
pub const COMPLETIONS: Ending = Ending {
    command: "completions",
    notes: "",
    examples: &[
        Example { purpose: "For bash", line: "whyslow completions bash > /etc/bash_completion.d/whyslow" },
        Example { purpose: "For zsh, in a folder of $fpath", line: "whyslow completions zsh > ~/.zfunc/_whyslow" },
        Example { purpose: "For fish", line: "whyslow completions fish > ~/.config/fish/completions/whyslow.fish" },
    ],
};

/// For `schema`.
pub const SCHEMA: Ending = Ending {
    command: "schema",
    notes: "",
    examples: &[Example { purpose: "The schema of whyslow run --json", line: "whyslow schema run" }],
};

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
        for ending in ALL {
            for example in ending.examples {
                let words = words(example.line);
                let typed = Arguments::parse_words(&words);
                assert!(typed.is_ok(), "{}: {}", example.line, typed.expect_err("an error"));
                assert!(ending.command.is_empty() || words.get(1).is_some_and(|word| word == ending.command));
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
                let typed = Arguments::parse_words(&words(line));
                assert!(typed.is_ok(), "{line}: {}", typed.expect_err("an error"));
            }
        }
    }

    #[test]
    fn every_command_that_is_listed_has_an_example() {
        let mut command = Arguments::command();
        command.build();
        for command in command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help") {
            let ending = ALL.iter().find(|ending| ending.command == command.get_name());
            let ending = ending.unwrap_or_else(|| panic!("{} has none", command.get_name()));
            assert!(!ending.examples.is_empty(), "{}", command.get_name());
        }
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for line in ALL.iter().flat_map(|ending| ending.text().lines().map(str::to_string).collect::<Vec<_>>()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
