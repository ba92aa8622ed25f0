//! `xtask cycles`: the import cycles between modules within each crate.
//!
//! Promises: modules are compared where they are siblings, each with everything below it; what a module and its own
//! submodules share is their affair and no cycle. Tests are left out.

mod components;
mod imports;
mod modules;

use anyhow::{Context, Result};
use modules::{Import, Modules};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Modules of one level that cannot be understood one after the other.
#[derive(Debug)]
pub struct Cycle {
    /// The crate's folder, the module whose children they are, and the imports that tie them together, one a pair.
    pub at: String,
    /// The modules, in order of their names.
    pub members: Vec<String>,
    /// One import for each pair of members of which one imports the other.
    pub imports: Vec<Import>,
}

/// The cycles of all crates of the workspace at `root`.
pub fn find(root: &Path) -> Result<Vec<Cycle>> {
    let mut folders = fs::read_dir(root.join("crates"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()
        .context("listing the crates")?;
    folders.push(root.join("xtask"));
    folders.sort();
    let mut found = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for start in ["lib.rs", "main.rs"].map(|file| folder.join("src").join(file)) {
            if start.is_file() {
                found.extend(within(&name, &Modules::read(&start)?));
            }
        }
    }
    Ok(found)
}

/// The cycles of one crate.
fn within(name: &str, modules: &Modules) -> Vec<Cycle> {
    // By level: from which child to which, and the first import that says so.
    let mut levels: BTreeMap<Vec<String>, BTreeMap<(String, String), Import>> = BTreeMap::new();
    for import in modules.imports() {
        let shared = import.from.iter().zip(&import.to).take_while(|(from, to)| from == to).count();
        if let (Some(from), Some(to)) = (import.from.get(shared), import.to.get(shared)) {
            let edges = levels.entry(import.from[..shared].to_vec()).or_default();
            edges.entry((from.clone(), to.clone())).or_insert(import);
        }
    }
    let mut cycles = Vec::new();
    for (level, edges) in levels {
        for members in components::strongly_connected(edges.keys()) {
            let imports = edges
                .iter()
                .filter(|((from, to), _)| members.contains(from) && members.contains(to))
                .map(|(_, import)| import.clone())
                .collect();
            let at = [&[name.to_owned()], level.as_slice()].concat().join("::");
            cycles.push(Cycle { at, members, imports });
        }
    }
    cycles
}

/// The cycles as text, the last line being their number.
pub fn text(cycles: &[Cycle]) -> String {
    let mut text = String::new();
    for cycle in cycles {
        text.push_str(&format!("{}: {}\n", cycle.at, cycle.members.join(", ")));
        for import in &cycle.imports {
            text.push_str(&format!("    {} imports {}\n", import.from.join("::"), import.to.join("::")));
        }
    }
    match cycles.len() {
        0 => text.push_str("no import cycle\n"),
        1 => text.push_str("1 import cycle\n"),
        number => text.push_str(&format!("{number} import cycles\n")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycles of a crate with these files below `src`.
    fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder for modules");
            fs::write(path, text).expect("a source");
        }
        let modules = Modules::read(&folder.path().join("lib.rs")).expect("modules");
        within("made-up", &modules).into_iter().map(|cycle| cycle.members).collect()
    }

    #[test]
    fn siblings_that_import_each_other_are_a_cycle() {
        let lib = ("lib.rs", "mod a; mod b; mod c;");
        let there = ("a.rs", "use crate::b::{self, Thing};");
        assert_eq!(cycles(&[lib, there, ("b.rs", "fn f() { crate::a::g(); }"), ("c.rs", "")]), [["a", "b"]]);
        assert!(cycles(&[lib, there, ("b.rs", ""), ("c.rs", "use super::a::g;")]).is_empty());
    }

    #[test]
    fn a_module_and_its_submodule_are_no_cycle_but_what_stands_below_counts_for_its_ancestors() {
        let lib = ("lib.rs", "mod a; mod b;");
        let parent = ("a.rs", "mod c; pub use c::Thing; pub struct Other;");
        let child = ("a/c.rs", "use super::Other; use crate::b::X; pub struct Thing;");
        assert!(cycles(&[lib, parent, child, ("b.rs", "pub struct X;")]).is_empty());
        assert_eq!(cycles(&[lib, parent, child, ("b.rs", "use crate::a::Thing; pub struct X;")]), [["a", "b"]]);
    }

    #[test]
    fn re_exports_are_followed_to_the_file_that_declares() {
        let lib = ("lib.rs", "mod a; mod b; pub use a::Thing;");
        let a = ("a.rs", "use crate::b::X; pub struct Thing;");
        assert_eq!(cycles(&[lib, a, ("b.rs", "use crate::Thing; pub struct X;")]), [["a", "b"]]);
    }

    #[test]
    fn tests_and_other_crates_do_not_count() {
        let lib = ("lib.rs", "mod a; mod b;");
        let a = ("a.rs", "use crate::b::X;");
        let b = "use std::a::g; pub struct X; #[cfg(test)] use crate::a; #[cfg(test)] mod tests { use crate::a::g; }";
        assert!(cycles(&[lib, a, ("b.rs", b)]).is_empty());
    }

    #[test]
    fn macros_are_read_too() {
        let lib = ("lib.rs", "mod a; mod b;");
        assert_eq!(cycles(&[lib, ("a.rs", "use crate::b;"), ("b.rs", "say!(\"{}\", crate::a::X);")]), [["a", "b"]]);
    }

    #[test]
    fn no_modules_of_this_workspace_import_each_other_in_a_circle() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's folder");
        let cycles = find(root).expect("the crates");
        assert!(cycles.is_empty(), "{}", text(&cycles));
    }
}
