//! The shape of what `whyslow story list` and `story run` print with `--json`.

// Only their shapes are used.
#![allow(dead_code)]

use schemars::JsonSchema;

/// Either of what `story` prints.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum Stories {
    /// The stories that there are.
    Listed(Listed),
    /// What was run and checked.
    Done(Done),
}

/// The stories that there are.
#[derive(JsonSchema)]
pub struct Listed {
    /// The contract's version.
    schema: u32,
    /// The casebook's folder.
    casebook: String,
    /// Its stories.
    stories: Vec<Entry>,
}

/// One story, as it is told.
#[derive(JsonSchema)]
pub struct Entry {
    /// Its name.
    name: String,
    /// What it is about.
    summary: String,
    /// What is asked.
    question: String,
    /// What the answer is.
    answer: String,
    /// In which variants it can be run.
    variants: Vec<String>,
}

/// What was run and checked.
#[derive(JsonSchema)]
pub struct Done {
    /// The contract's version.
    schema: u32,
    /// The casebook's folder.
    casebook: String,
    /// The stories that were run.
    stories: Vec<Run>,
    /// How many held.
    held: u64,
    /// How many failed.
    failed: u64,
    /// How many were skipped.
    skipped: u64,
}

/// One story that was run.
#[derive(JsonSchema)]
pub struct Run {
    /// Its name.
    name: String,
    /// What came of it.
    state: String,
    /// How long it took, in seconds.
    seconds: f64,
    /// What was expected, and whether it was so.
    checks: Vec<Check>,
    /// Its variants.
    variants: Vec<Variant>,
}

/// One expectation.
#[derive(JsonSchema)]
pub struct Check {
    /// What it is about.
    aspect: String,
    /// The variant it was looked for in.
    variant: String,
    /// Whether it held.
    holds: bool,
    /// What was seen.
    seen: String,
}

/// One variant of a story.
#[derive(JsonSchema)]
pub struct Variant {
    /// Its name.
    variant: String,
    /// `told`, `skipped` or `failed`.
    state: String,
}
