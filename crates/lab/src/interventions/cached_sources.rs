//! `cached-sources`: PHP keeps what it has compiled.

use super::small_ca_bundle::read;
use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::intervention_counters::InterventionCounters;
use crate::treatment::{Replacement, Treatment};
use case::syscall;
use case::tables::Call;
use std::collections::BTreeSet;
use std::path::Path;

/// Said behind whatever the file says: of two values PHP takes the later one. Files that were written right before the program started
/// are cached as well.
const SETTINGS: &str = "\nopcache.enable=1\nopcache.enable_cli=1\nopcache.file_update_protection=0\n";

intervention! {
    /// # cached-sources
    ///
    /// ## What it does
    /// Switches on PHP's cache of compiled code (opcache), so that files are compiled once. It shows PHP another file in
    /// the place of the one that loads the cache, with the same text and the settings at its end.
    ///
    /// ## What it reaches
    /// PHP where a file of settings loads the cache, as packages of distributions have it. Settings in files that are
    /// read later, of a pool or on the command line count for more. Other languages keep what they have compiled by
    /// themselves; files that a program reads for itself stay as they are.
    ///
    /// ## How we know it took effect
    /// The kernel reports that the file was opened. That nothing overrules it shows in the effect alone.
    pub const CACHED_SOURCES: Intervention = Intervention {
        name: "cached-sources",
        summary: "switches on PHP's cache of compiled code",
        predictions: &[
            Prediction::gains("P55").refutes_nothing("a later file, the pool or the command line counts for more"),
        ],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat,
        applied,
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let settings = request.recording.and_then(|recording| {
        let tree = request.world.tree.as_ref();
        let opened = |call: &&Call| syscall::is_open(call.number) && call.result >= 0;
        // Nothing is shown to a program that it could not open itself.
        let opened: BTreeSet<u32> = recording.calls.iter().filter(opened).map(|call| call.path).collect();
        let paths = recording.paths.iter().filter(|row| opened.contains(&row.id)).map(|row| row.path.as_str());
        paths.filter(|path| is_setting(path)).find_map(|path| {
            let file = tree.map_or(Some(path.into()), |tree| tree.root.resolve(Path::new(path)))?;
            Some(Replacement { path: path.into(), content: with_cache(&read(&file)?)? })
        })
    });
    let none =
        "needs PHP with a file of settings that loads its cache: nothing else answers for files that may have changed";
    treatment.replacements.push(settings.ok_or_else(|| NotHere(none.to_string()))?);
    Ok(())
}

/// Whether a path is that of a file of settings.
fn is_setting(path: &str) -> bool {
    path.starts_with('/') && Path::new(path).extension().is_some_and(|extension| extension == "ini")
}

/// The file's text with the cache on; none where it does not load it.
fn with_cache(text: &str) -> Option<Vec<u8>> {
    let is_loading = |line: &str| {
        let (name, value) = line.split_once('=').unwrap_or_default();
        name.trim() == "zend_extension" && value.contains("opcache")
    };
    text.lines().any(is_loading).then(|| [text.as_bytes(), SETTINGS.as_bytes()].concat())
}

fn applied(counters: &InterventionCounters) -> Result<u64, String> {
    match counters.replaced {
        0 => Err("PHP did not open the file of settings".into()),
        opened => Ok(opened),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_switched_on_where_it_is_loaded() {
        let shown = with_cache("; opcache\nzend_extension = opcache.so\nopcache.enable=0").expect("shown");
        let shown = String::from_utf8(shown).expect("text");
        assert!(shown.starts_with("; opcache\n") && shown.contains("opcache.enable=0\nopcache.enable=1\n"), "{shown}");
        assert_eq!(with_cache("; zend_extension=opcache.so\nzend_extension=xdebug.so\n"), None);
    }
}
