//! What the page may do: run our own scripts and nothing else. It can ask nobody for anything.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The content security policy: no requests, no forms, no base, and of scripts only the one with this text.
pub(super) fn policy(scripts: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(scripts.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_script_with_this_text_may_run() {
        let policy = policy("");
        // The digest of nothing, as published with the algorithm.
        assert!(policy.contains("script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';"), "{policy}");
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("http"), "{policy}");
    }
}
