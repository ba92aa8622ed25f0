//! The files that are a version's own, named as another version's.
//!
//! By name alone they cannot be distinguished from the system's, which the other program (a server, say) has loaded with
//! all versions: `libssl.so.3` may be both, and `libssl.so.1.1` would then have nothing to be compared with.

use case::{Recording, Version};
use std::collections::BTreeMap;

/// Names what version A has of its own by the file names of version B: its `libssl.so.1.1` is `libssl.so.3` then.
pub fn name_alike((a, version_a): (&mut [Recording], &Version), (b, version_b): (&[Recording], &Version)) {
    let own_b = own_files(b, version_b);
    for place in a.iter_mut().flat_map(|recording| &mut recording.locations) {
        if let Some(name) = own_file(&place.module, version_a).and_then(|name| own_b.get(stem(name))) {
            place.module.clone_from(name);
        }
    }
}

/// The names of a version's own files, by their stems; of several names for one file the longest.
fn own_files(side: &[Recording], version: &Version) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let places = side.iter().flat_map(|recording| &recording.locations);
    for name in places.filter_map(|place| own_file(&place.module, version)) {
        let known = files.entry(stem(name).to_string()).or_default();
        if name.len() > known.len() {
            *known = name.to_string();
        }
    }
    files
}

/// The name of a file that is a version's own.
fn own_file<'p>(path: &'p str, version: &Version) -> Option<&'p str> {
    let inside = path.strip_prefix(&version.prefix).filter(|_| !version.prefix.is_empty())?;
    inside.strip_prefix('/')?.rsplit('/').next()
}

/// A library's name without its version: `libssl` of `libssl.so.1.1`.
fn stem(name: &str) -> &str {
    name.split_once(".so").map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::tables::Location;

    /// What A's module is called, where B has one.
    fn named(module: &str, in_b: &str) -> String {
        let of = |module: &str| {
            let place = Location { module: module.into(), ..Location::default() };
            Recording { locations: vec![place], ..Recording::default() }
        };
        let [one, other] = ["1.1.1w", "3.0.2"]
            .map(|version| Version { prefix: format!("/builds/openssl-{version}"), ..Version::default() });
        let mut a = of(module);
        name_alike((std::slice::from_mut(&mut a), &one), (&[of(in_b)], &other));
        a.locations.remove(0).module
    }

    #[test]
    fn what_both_have_of_their_own_has_one_name() {
        let library = |version: &str, name: &str| format!("/builds/openssl-{version}/lib/{name}");
        assert_eq!(named(&library("1.1.1w", "libssl.so.1.1"), &library("3.0.2", "libssl.so.3")), "libssl.so.3");
        assert_eq!(named(&library("1.1.1w", "a/legacy.so"), &library("3.0.2", "b/legacy.so")), "legacy.so");
    }

    #[test]
    fn what_is_the_systems_or_anothers_keeps_its_name() {
        let own = "/builds/openssl-3.0.2/lib/libssl.so.3";
        for other in ["/usr/lib/libssl.so.1.1", "/builds/openssl-1.1.1wx/lib/libssl.so.1.1", "[kernel]", ""] {
            assert_eq!(named(other, own), other);
        }
        let alone = "/builds/openssl-1.1.1w/lib/libssl.so.1.1";
        for other in ["/usr/lib/libssl.so.3", "/builds/openssl-3.0.2/lib/libcrypto.so.3"] {
            assert_eq!(named(alone, other), alone);
        }
        let nowhere = Version::default();
        name_alike((&mut [Recording::default()], &nowhere), (&[Recording::default()], &nowhere));
    }
}
