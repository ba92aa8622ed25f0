//! The libraries whose version somebody may want to know: TLS, the C library, interpreters, allocators, compression.

use super::NameValue;
use crate::code::base_name;
use case::Recording;
use case::tables::kind;
use std::collections::BTreeMap;

/// Beginnings of the names of such libraries.
const OF_INTEREST: [&str; 27] = [
    "libssl",
    "libcrypto",
    "libgnutls",
    "libmbedtls",
    "libnss3",
    "libboringssl",
    "libwolfssl",
    "libc.",
    "libc-",
    "libm.",
    "ld-",
    "libstdc++",
    "libgcc_s",
    "libpython",
    "libruby",
    "libnode",
    "libjvm",
    "libperl",
    "libphp",
    "libcurl",
    "libnghttp2",
    "libz.",
    "libbrotli",
    "libzstd",
    "libjemalloc",
    "libtcmalloc",
    "libuv",
];

/// Libraries shown.
const SHOWN: usize = 60;

/// The libraries that stacks passed through, by name; each with its path and the version in its name.
pub fn libraries(recording: &Recording) -> Vec<NameValue> {
    let native = recording.locations.iter().filter(|row| row.kind == kind::NATIVE);
    let paths = native.map(|row| (base_name(&row.module), row.module.as_str()));
    let found: BTreeMap<&str, &str> = paths.filter(|(name, _)| is_of_interest(name)).collect();
    let fact = |(name, path): (&str, &str)| {
        let version = version(name).map_or(String::new(), |version| format!("version {version}; "));
        (name.to_string(), format!("{version}{path}"))
    };
    found.into_iter().take(SHOWN).map(fact).collect()
}

fn is_of_interest(name: &str) -> bool {
    OF_INTEREST.iter().any(|beginning| name.starts_with(beginning))
}

/// The version in a library's name: `3.0.11` of `libgnutls.so.3.0.11` and of `libx-3.0.11.so`. A single number is the
/// interface's, and as good as nothing.
fn version(name: &str) -> Option<&str> {
    let is_version = |text: &&str| {
        let figures = |letter: char| letter.is_ascii_digit() || letter == '.';
        text.contains('.') && text.starts_with(|letter: char| letter.is_ascii_digit()) && text.chars().all(figures)
    };
    let (stem, after) = name.split_once(".so").unwrap_or((name, ""));
    let before = stem.find(|letter: char| letter.is_ascii_digit()).map(|at| &stem[at..]);
    [before.unwrap_or_default(), after.trim_start_matches('.')].into_iter().find(is_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_off_a_name_that_tells_one() {
        assert_eq!(version("libz.so.1.2.13"), Some("1.2.13"));
        assert_eq!(version("libc-2.31.so"), Some("2.31"));
        assert_eq!(version("libpython3.11.so.1.0"), Some("3.11"));
        assert_eq!(version("libssl.so.3"), None);
        assert_eq!(version("libm.so"), None);
    }
}
