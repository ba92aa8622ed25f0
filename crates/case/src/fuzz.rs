//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use crate::Answer;
use storage::fuzz::{manifest, parquet, secrets, stream};

pub use storage::fuzz::Target;

/// What the bytes are given to, by name.
pub const TARGETS: [(&str, Target); 4] =
    [("parquet", parquet), ("stream", stream), ("documents", documents), ("secrets", secrets)];

/// A case's documents, which are read as text.
fn documents(bytes: &[u8]) {
    manifest(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = serde_json::from_str::<Answer>(text);
}
