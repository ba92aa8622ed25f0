//! Two versions' recordings, the files that are a version's own named alike.
//!
//! By their names alone they are not to be told from the system's, which the other program (a server, say) has loaded on all
//! versions: `libssl.so.3` may be both, and `libssl.so.1.1` would then have nothing to be compared with.

use case::{Recording, Version};
use std::collections::BTreeMap;

/// Names what both versions have of their own by both file names: `libssl.so.1.1 / libssl.so.3`.
pub fn name_alike(sides: [(&mut [Recording], &Version); 2]) {
    let [(a, version_a), (b, version_b)] = sides;
    let (own_a, own_b) = (own_files(a, version_a), own_files(b, version_b));
    let common = own_a.iter().filter_map(|(stem, name_a)| Some((stem.clone(), both(name_a, own_b.get(stem)?))));
    let common = common.collect::<BTreeMap<_, _>>();
    for (side, version) in [(a, version_a), (b, version_b)] {
        for place in side.iter_mut().flat_map(|recording| &mut recording.locations) {
            let stem = own_file(&place.module, version).map(stem);
            if let Some(name) = stem.and_then(|stem| common.get(stem)) {
                place.module.clone_from(name);
            }
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

fn both(a: &str, b: &str) -> String {
    if a == b { a.to_string() } else { format!("{a} / {b}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::tables::Location;

    fn named(modules: [&str; 2]) -> [String; 2] {
        let mut sides = modules.map(|module| {
            let place = Location { module: module.into(), ..Location::default() };
            [Recording { locations: vec![place], ..Recording::default() }]
        });
        let [one, other] = ["1.1.1w", "3.0.2"]
            .map(|version| Version { prefix: format!("/builds/openssl-{version}"), ..Version::default() });
        let [a, b] = &mut sides;
        name_alike([(a, &one), (b, &other)]);
        sides.map(|mut side| side[0].locations.remove(0).module)
    }

    #[test]
    fn what_both_have_of_their_own_has_one_name() {
        let both = "libssl.so.1.1 / libssl.so.3";
        assert_eq!(
            named(["/builds/openssl-1.1.1w/lib/libssl.so.1.1", "/builds/openssl-3.0.2/lib64/libssl.so.3"]),
            [both; 2]
        );
        let path = |version: &str| format!("/builds/openssl-{version}/lib/ossl-modules/legacy.so");
        assert_eq!(named([&path("1.1.1w"), &path("3.0.2")]), ["legacy.so"; 2]);
    }

    #[test]
    fn what_is_the_systems_or_anothers_keeps_its_name() {
        let own = "/builds/openssl-3.0.2/lib/libssl.so.3";
        for other in ["/usr/lib/libssl.so.3", "/builds/openssl-1.1.1wx/lib/libssl.so.3", "[kernel]", ""] {
            assert_eq!(named([other, own]), [other, own]);
        }
        let mut sides = [[Recording::default()], [Recording::default()]];
        let [a, b] = &mut sides;
        name_alike([(a, &Version::default()), (b, &Version::default())]);
    }
}
