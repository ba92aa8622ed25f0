//! What a document is written as, to a file whose ending says so.

use crate::output;
use fail::Failure;
use report::{Body, Document};
use std::path::Path;

/// What is written to a file.
#[derive(Clone, Copy)]
pub enum Form {
    Page,
    Markdown,
    Json,
}

impl Form {
    /// The one that a file's ending says.
    ///
    /// # Errors
    /// Where it says none.
    pub fn of(file: &Path) -> Result<Form, Failure> {
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => Ok(Form::Page),
            Some("md") => Ok(Form::Markdown),
            Some("json") => Ok(Form::Json),
            _ => Err(Failure::value(
                "-o",
                "a file's ending says what is written to it: .html, .md or .json",
                "-o report.html",
            )),
        }
    }

    /// Writes a document to the file.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write<'d, T: serde::Serialize>(self, found: &'d T, file: &Path) -> Result<(), Failure>
    where
        Body<'d>: From<&'d T>,
    {
        let document = Document::of(found);
        let text = match self {
            Form::Page => report::page(&document),
            Form::Markdown => report::markdown(&document),
            Form::Json => output::json(found)?,
        };
        output::write(text.as_bytes(), Some(file))
    }
}
