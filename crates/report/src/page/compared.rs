//! Section: compared.

use super::Material;

/// The section's HTML.
pub(super) fn section(_material: &Material) -> String {
    String::new()
}
