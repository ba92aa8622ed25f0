//! The JSON schemas of what `--json` prints, from the types that print it. `docs/schema.json` holds them all, and a test
//! keeps it so.
//!
//! Fields are only ever added, so a schema allows more than it names.

use crate::{
    Answer, Bisection, Checks, Comparison, Document, FeedHistory, FeedRefresh, Load, Matrix, Selected, Steps, Stories,
    Sweep, Traffic, TrialFigures, Undone, Watched, Worlds,
};
use schemars::consts::meta_schemas::DRAFT2020_12 as META_SCHEMA;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// One command's schema.
pub struct CommandSchema {
    /// The command.
    pub name: &'static str,
    /// What its JSON is.
    pub about: &'static str,
    /// Draws it, as a reference to a definition that the generator keeps.
    draw: fn(&mut SchemaGenerator) -> Schema,
}

/// Every command that has `--json`.
pub const SCHEMAS: &[CommandSchema] = &[
    of::<Answer>("run", "the diagnosis of a run and its proof"),
    of::<Answer>("attach", "the same for a running program"),
    of::<Comparison>("compare", "which of two is faster and why"),
    of::<Bisection>("bisect", "which difference causes the slowdown"),
    of::<Sweep>("sweep", "one parameter varied: cliffs and growth"),
    of::<Matrix>("matrix", "which version of a library is slow and which to use"),
    of::<Traffic>("logs", "who asked for what and when, and what blocking a part would save"),
    of::<Selected>("logs-sql", "what a question in SQL over access logs selected"),
    of::<Answer>("pcap", "the diagnosis of a capture of packets"),
    of::<Watched>("watch", "what services did over time, and which of them got out of line"),
    of::<Steps>("steps", "levels of a series over time and the steps between them"),
    of::<Document>("report", "the contents of a case: one of the above"),
    of::<TrialFigures>("trial", "the measurements of one trial"),
    of::<Load>("load", "how a server bears a load: rates, latencies, errors by name"),
    of::<FeedRefresh>("feeds-refresh", "rounds over many feeds: time, news, errors by name, costs"),
    of::<FeedHistory>("feeds-history", "the time of rounds over days, and where it stepped"),
    of::<Undone>("undo", "what was ended and removed"),
    of::<Checks>("doctor", "what works on this machine"),
    of::<Worlds>("world", "the worlds listed, made or removed"),
    of::<Stories>("story", "the stories, or the results of running them"),
];

const fn of<T: JsonSchema>(name: &'static str, about: &'static str) -> CommandSchema {
    CommandSchema { name, about, draw: SchemaGenerator::subschema_for::<T> }
}

impl CommandSchema {
    /// By itself, with the types that it refers to. Every field is always there when whyslow prints it.
    pub fn alone(&self) -> Schema {
        let mut generator = generator();
        let mut schema = (self.draw)(&mut generator);
        schema.insert("title".into(), format!("whyslow {} --json", self.name.replace('-', " ")).into());
        whole(schema, generator)
    }
}

/// All schemas in one: a definition for each command, beside the types they share.
pub fn all_schemas() -> Schema {
    let mut generator = generator();
    for one in SCHEMAS {
        let mut schema = (one.draw)(&mut generator);
        schema.insert("description".into(), one.about.into());
        generator.definitions_mut().insert(one.name.into(), schema.into());
    }
    whole(json_schema!({ "title": "whyslow --json" }), generator)
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// A schema with the definitions that it refers to.
fn whole(mut schema: Schema, mut generator: SchemaGenerator) -> Schema {
    schema.insert("$schema".into(), META_SCHEMA.into());
    schema.insert("$defs".into(), generator.take_definitions(true).into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_schemas_are_up_to_date() {
        let path = format!("{}/../../docs/schema.json", env!("CARGO_MANIFEST_DIR"));
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let now = serde_json::to_string_pretty(&all_schemas()).expect("text") + "\n";
        assert!(kept == now, "refresh it: cargo run --release -- schema all > docs/schema.json");
    }

    #[test]
    fn fields_that_are_not_known_yet_are_allowed() {
        for one in SCHEMAS {
            let text = serde_json::to_string(&one.alone()).expect("text");
            assert!(!text.contains("additionalProperties\":false"), "{}", one.name);
        }
    }
}
