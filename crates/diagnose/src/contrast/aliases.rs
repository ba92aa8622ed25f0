//! Which names of one side mean the same as which of the other.

use crate::code::base_name;
use case::Recording;
use std::collections::{BTreeMap, BTreeSet};

/// Common names for things that the two sides name differently.
#[derive(Default)]
pub struct Aliases {
    a: BTreeMap<String, String>,
    b: BTreeMap<String, String>,
}

impl Aliases {
    /// Of modules: libraries that differ by version, and the programs where each side runs one that the other does not.
    pub fn of_modules(a: &[Recording], b: &[Recording]) -> Aliases {
        let modules = |side: &[Recording]| -> BTreeSet<String> {
            let modules = side.iter().flat_map(|recording| &recording.locations).map(|row| base_name(&row.module));
            modules.map(str::to_string).collect()
        };
        let programs = |side: &[Recording]| -> BTreeSet<String> {
            let programs = side.iter().flat_map(|recording| &recording.processes);
            programs.map(|row| base_name(&row.executable).to_string()).collect()
        };
        let (mut programs_a, mut programs_b) = (programs(a), programs(b));
        let (mut modules_a, mut modules_b) = (modules(a), modules(b));
        let links = links([&(&modules_a | &programs_a), &(&modules_b | &programs_b)]);
        for names in [&mut programs_a, &mut programs_b, &mut modules_a, &mut modules_b] {
            *names = names.iter().map(|name| links.get(name).unwrap_or(name).clone()).collect();
        }
        let mut aliases = Aliases::pair(&programs_a, &programs_b, |_| "program".to_string());
        let without = |modules: BTreeSet<String>, programs: &BTreeSet<String>| -> BTreeSet<String> {
            modules.difference(programs).cloned().collect()
        };
        let libraries =
            Aliases::pair(&without(modules_a, &programs_a), &without(modules_b, &programs_b), without_version);
        aliases.a.extend(libraries.a);
        aliases.b.extend(libraries.b);
        for (link, file) in links {
            let (in_a, in_b) = (aliases.in_a(&file), aliases.in_b(&file));
            aliases.a.insert(link.clone(), in_a);
            aliases.b.insert(link, in_b);
        }
        aliases
    }

    /// Pairs what only one side has: where exactly one name of each side has the same stem, they get one name.
    pub fn pair(a: &BTreeSet<String>, b: &BTreeSet<String>, stem: impl Fn(&str) -> String) -> Aliases {
        let by_stem = |names: &BTreeSet<String>, others: &BTreeSet<String>| {
            let mut stems: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for name in names.difference(others) {
                stems.entry(stem(name)).or_default().push(name.clone());
            }
            stems
        };
        let (stems_a, stems_b) = (by_stem(a, b), by_stem(b, a));
        let mut aliases = Aliases::default();
        for (stem, names) in &stems_a {
            if let ([ours], Some([theirs])) = (names.as_slice(), stems_b.get(stem).map(Vec::as_slice)) {
                let both = both_names(ours, theirs);
                aliases.a.insert(ours.clone(), both.clone());
                aliases.b.insert(theirs.clone(), both);
            }
        }
        aliases
    }

    /// The common name of what A calls so.
    pub fn in_a(&self, name: &str) -> String {
        self.a.get(name).map_or(name, String::as_str).to_string()
    }

    /// The common name of what B calls so.
    pub fn in_b(&self, name: &str) -> String {
        self.b.get(name).map_or(name, String::as_str).to_string()
    }
}

/// Names that one side has for the same file, each with the longest of them. A file that is reached through a link is
/// recorded as `libz.so.1` in one run and as `libz.so.1.2.13` in the next.
fn links(sides: [&BTreeSet<String>; 2]) -> BTreeMap<String, String> {
    let mut links = BTreeMap::new();
    for side in sides {
        for name in side {
            let longer = side.iter().filter(|file| file.strip_prefix(name.as_str()).is_some_and(is_version));
            if let Some(file) = longer.max_by_key(|file| file.len()) {
                links.insert(name.clone(), file.clone());
            }
        }
    }
    links
}

/// Whether this is what a file's name has beyond a link's to it: `.2.13`, `3.11`.
fn is_version(rest: &str) -> bool {
    rest.contains('.') && rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
}

/// Both names at once, what they begin with said once: `blocked in read (/a / /b)`.
fn both_names(a: &str, b: &str) -> String {
    let words = |name: &str| -> Vec<String> { name.split_inclusive(' ').map(str::to_string).collect() };
    let (words_a, words_b) = (words(a), words(b));
    let same = words_a.iter().zip(&words_b).take_while(|(one, other)| one == other).count();
    let rest = words_b[same..].concat();
    match a.strip_suffix(')') {
        Some(open) if rest.ends_with(')') => format!("{open} / {}", rest.trim_start_matches('(')),
        _ => format!("{a} / {rest}"),
    }
}

/// A library's name without its version: `libcrypto` of `libcrypto.so.1.1`, `libpython` of `libpython3.11.so.1.0`.
fn without_version(name: &str) -> String {
    let stem = name.split_once(".so").map_or(name, |(stem, _)| stem);
    stem.chars().filter(|letter| !letter.is_ascii_digit() && !matches!(letter, '.' | '-' | '_')).collect()
}

/// A name with every number in it made the same.
pub fn without_figures(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        match letter.is_ascii_digit() {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(letter),
        }
    }
    text
}
