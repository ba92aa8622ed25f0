//! `whyslow schema`: the JSON schemas of what `--json` prints, from the types that print it. `docs/schema` is its output,
//! and a test keeps it so.
//!
//! Fields are only ever added, so a schema allows more than it names.

mod story;

use super::{doctor, undo};
use crate::arguments::SchemaArguments;
use crate::fail::Failure;
use crate::{nearest, output};
use case::{Answer, Bisection, Comparison, Matrix, Sweep};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// One command's schema.
struct Entry {
    /// The command.
    name: &'static str,
    /// What its JSON is.
    about: &'static str,
    /// Draws it.
    draw: fn(SchemaGenerator) -> Schema,
}

/// What `report` prints: what its case holds.
#[derive(JsonSchema)]
#[schemars(untagged)]
// Only its shape is used.
#[allow(dead_code)]
enum Reported {
    /// Of a run, or of something that was watched while running.
    Answer(Answer),
    /// Of a comparison.
    Comparison(Comparison),
    /// Of versions of a library.
    Matrix(Matrix),
    /// Of a bisection.
    Bisection(Bisection),
    /// Of a sweep.
    Sweep(Sweep),
}

/// Every command that has `--json`.
const ENTRIES: &[Entry] = &[
    Entry {
        name: "run",
        about: "the diagnosis of a run and its proof",
        draw: SchemaGenerator::into_root_schema_for::<Answer>,
    },
    Entry {
        name: "attach",
        about: "the same for a running program",
        draw: SchemaGenerator::into_root_schema_for::<Answer>,
    },
    Entry {
        name: "compare",
        about: "which of two is faster and why",
        draw: SchemaGenerator::into_root_schema_for::<Comparison>,
    },
    Entry {
        name: "bisect",
        about: "which difference causes the slowdown",
        draw: SchemaGenerator::into_root_schema_for::<Bisection>,
    },
    Entry {
        name: "sweep",
        about: "one parameter varied: cliffs and growth",
        draw: SchemaGenerator::into_root_schema_for::<Sweep>,
    },
    Entry {
        name: "matrix",
        about: "which version of a library is slow and which to use",
        draw: SchemaGenerator::into_root_schema_for::<Matrix>,
    },
    Entry {
        name: "report",
        about: "the contents of a case: one of the above",
        draw: SchemaGenerator::into_root_schema_for::<Reported>,
    },
    Entry {
        name: "trial",
        about: "the measurements of one trial",
        draw: SchemaGenerator::into_root_schema_for::<studies::trial::Figures>,
    },
    Entry {
        name: "undo",
        about: "what was ended and removed",
        draw: SchemaGenerator::into_root_schema_for::<undo::Undone>,
    },
    Entry {
        name: "doctor",
        about: "what works on this machine",
        draw: SchemaGenerator::into_root_schema_for::<doctor::Checks>,
    },
    Entry {
        name: "world",
        about: "the worlds listed, made or removed",
        draw: SchemaGenerator::into_root_schema_for::<studies::world::Kept>,
    },
    Entry {
        name: "story",
        about: "the stories, or the results of running them",
        draw: SchemaGenerator::into_root_schema_for::<story::Stories>,
    },
];

/// Prints a schema, or the list of them.
pub fn schema(typed: &SchemaArguments) -> Result<u8, Failure> {
    let Some(name) = &typed.name else {
        output::print(&listed())?;
        return Ok(0);
    };
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        let names = ENTRIES.iter().map(|entry| entry.name);
        return Err(Failure::unknown_schema(name, &nearest::nearest(name, names)));
    };
    output::print(&drawn(entry)?)?;
    Ok(0)
}

fn listed() -> String {
    let lines = ENTRIES.iter().map(|entry| format!("{:<9} {}\n", entry.name, entry.about));
    lines.collect::<String>() + "\nPrint one with: whyslow schema NAME\n"
}

/// The schema as text. Every field is always there when whyslow prints it.
fn drawn(entry: &Entry) -> Result<String, Failure> {
    let mut schema = (entry.draw)(SchemaSettings::draft2020_12().for_serialize().into_generator());
    schema.insert("title".into(), format!("whyslow {} --json", entry.name).into());
    output::json(&schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_schemas_are_up_to_date() {
        for entry in ENTRIES {
            let path = format!("{}/../../docs/schema/{}.json", env!("CARGO_MANIFEST_DIR"), entry.name);
            let kept = std::fs::read_to_string(&path).unwrap_or_default();
            let name = entry.name;
            let refresh = format!("refresh it: cargo run --release -- schema {name} > docs/schema/{name}.json");
            assert!(kept == drawn(entry).expect("text"), "{refresh}");
        }
    }

    #[test]
    fn every_command_with_json_has_a_schema() {
        use clap::CommandFactory;
        let command = crate::arguments::Arguments::command();
        let has_json = |command: &&clap::Command| command.get_arguments().any(|argument| argument.get_id() == "json");
        let with_json = command.get_subcommands().filter(has_json).map(clap::Command::get_name);
        let without_schema = with_json.filter(|name| ENTRIES.iter().all(|entry| entry.name != *name));
        assert_eq!(without_schema.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn fields_that_are_not_known_yet_are_allowed() {
        for entry in ENTRIES {
            assert!(!drawn(entry).expect("text").contains("additionalProperties\": false"), "{}", entry.name);
        }
    }
}
