//! Which names of one side mean the same as which of the other.

use crate::code::base_name;
use crate::profile::naming::{Names, address};
use case::Recording;
use std::collections::{BTreeMap, BTreeSet};

/// Common names for things that the two sides name differently.
#[derive(Default)]
pub struct Aliases {
    a: BTreeMap<String, String>,
    b: BTreeMap<String, String>,
    /// Modules, by their common names, in which the sides have a function at different places.
    rebuilt: BTreeSet<String>,
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
        let links = [links(&(&modules_a | &programs_a)), links(&(&modules_b | &programs_b))];
        // Where a side has only the link's name, it means what it means to the other.
        let [links_a, links_b] = [0, 1].map(|side| {
            let mut both = links[1 - side].clone();
            both.extend(links[side].clone());
            both
        });
        let sides = [
            (&mut programs_a, &links_a),
            (&mut modules_a, &links_a),
            (&mut programs_b, &links_b),
            (&mut modules_b, &links_b),
        ];
        for (names, links) in sides {
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
        for (link, file) in links_a {
            aliases.a.insert(link, aliases.in_a(&file));
        }
        for (link, file) in links_b {
            aliases.b.insert(link, aliases.in_b(&file));
        }
        let (built_a, built_b) = (Build::of_modules(a, aliases.of_a()), Build::of_modules(b, aliases.of_b()));
        let both = built_a.iter().filter_map(|(module, build)| Some((module, build, built_b.get(module)?)));
        aliases.rebuilt = both.filter(|(_, a, b)| a.is_other(b)).map(|(module, ..)| module.clone()).collect();
        aliases
    }

    /// What A's code is called.
    pub fn of_a(&self) -> Names<'_> {
        Names::new(&self.a, &self.rebuilt)
    }

    /// What B's code is called.
    pub fn of_b(&self) -> Names<'_> {
        Names::new(&self.b, &self.rebuilt)
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

/// Where a side's functions are in a module.
#[derive(Default)]
struct Build<'r> {
    named: BTreeMap<&'r str, BTreeSet<u64>>,
    nameless: BTreeSet<u64>,
}

impl<'r> Build<'r> {
    fn of_modules(side: &'r [Recording], names: Names) -> BTreeMap<String, Build<'r>> {
        let mut modules: BTreeMap<String, Build> = BTreeMap::new();
        for row in side.iter().flat_map(|recording| &recording.locations) {
            let build = modules.entry(names.module(base_name(&row.module))).or_default();
            match row.function.as_str() {
                "" => build.nameless.insert(address(row)),
                name => build.named.entry(name).or_default().insert(row.function_offset),
            };
        }
        modules
    }

    /// Whether both are of different builds of a module: most functions that both have lie elsewhere. Where none has a name
    /// that both have: whether none without a name lies at the same place.
    fn is_other(&self, other: &Build) -> bool {
        let common = self.named.iter().filter_map(|(name, places)| Some((places, other.named.get(name)?)));
        let (apart, same): (Vec<_>, Vec<_>) = common.partition(|(places, others)| places.is_disjoint(others));
        let has_none = apart.is_empty() && same.is_empty();
        apart.len() > same.len() || has_none && self.nameless.is_disjoint(&other.nameless)
    }
}

/// Names that a side has for the same file, each with the longest of them. A file that is reached through a link is
/// recorded as `libz.so.1` in one run and as `libz.so.1.2.13` in the next.
fn links(side: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut links = BTreeMap::new();
    for name in side {
        let longer = side.iter().filter(|file| file.strip_prefix(name.as_str()).is_some_and(is_version));
        if let Some(file) = longer.max_by_key(|file| file.len()) {
            links.insert(name.clone(), file.clone());
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
