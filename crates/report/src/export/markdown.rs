//! What is told as Markdown.

use crate::page::Told;

/// The text.
pub fn markdown(_told: &Told) -> String {
    String::new()
}
