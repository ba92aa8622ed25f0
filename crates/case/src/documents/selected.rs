//! What a question in SQL over access logs selected. Printed with `whyslow logs --sql QUERY --json`. Part of the JSON contract:
//! fields are only ever added.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rows of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Selected {
    /// The version of this format.
    pub schema: u32,
    /// The names of the columns, as the question gave them.
    pub columns: Vec<String>,
    /// The rows in the order asked for, a value for each column.
    pub rows: Vec<Vec<SelectedCell>>,
    /// Whether there were more rows, which are left out.
    pub cut: bool,
}

/// A value in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SelectedCell {
    /// None.
    Nothing(()),
    /// A whole number.
    Integer(i64),
    /// A number with fractions.
    Real(f64),
    /// Words.
    Text(String),
}
