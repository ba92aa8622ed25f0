//! The modules of a crate, one a file, and which of them imports which.

use super::imports::Source;
use anyhow::{Context, Result};
use proc_macro2::TokenStream;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// One module (its path below the crate, as `a`, `b`) uses something that another declares.
#[derive(Clone, Debug)]
pub struct Import {
    /// Who imports.
    pub from: Vec<String>,
    /// Whose file declares what is imported.
    pub to: Vec<String>,
}

/// The modules of one crate.
#[derive(Debug, Default)]
pub struct Modules {
    /// By path; the crate itself is the empty one.
    sources: BTreeMap<Vec<String>, Source>,
    /// What `use` declarations call what: by module, inline ones among them, and name.
    names: BTreeMap<(Vec<String>, String), Vec<String>>,
}

/// Re-exports of re-exports are followed so often, which ends those that go in circles.
const MOST_RE_EXPORTS: usize = 16;

impl Modules {
    /// Reads the crate that starts in the file `start`.
    pub fn read(start: &Path) -> Result<Self> {
        let mut modules = Self::default();
        let folder = start.parent().context("the crate's folder")?;
        modules.add(Vec::new(), start, folder)?;
        for (module, source) in &modules.sources {
            for mention in &source.mentions {
                if let Some(name) = &mention.name {
                    let inline = [module.as_slice(), &mention.within].concat();
                    modules.names.insert((inline, name.clone()), mention.path.clone());
                }
            }
        }
        Ok(modules)
    }

    fn add(&mut self, module: Vec<String>, file: &Path, below: &Path) -> Result<()> {
        let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let tokens: TokenStream =
            text.parse().map_err(|error| anyhow::anyhow!("{}: no Rust: {error}", file.display()))?;
        let source = Source::of(tokens);
        for submodule in &source.submodules {
            let folder = below.join(submodule.iter().collect::<std::path::PathBuf>());
            let files = [folder.with_extension("rs"), folder.join("mod.rs")];
            let file = files.iter().find(|file| file.is_file());
            let file = file.with_context(|| format!("{} has no file", folder.display()))?;
            self.add([module.as_slice(), submodule].concat(), file, &folder)?;
        }
        self.sources.insert(module, source);
        Ok(())
    }

    /// Every import of one file from another, each once, in order.
    pub fn imports(&self) -> Vec<Import> {
        let mut imports = BTreeSet::new();
        for (module, source) in &self.sources {
            for mention in &source.mentions {
                let within = [module.as_slice(), &mention.within].concat();
                if let Some(to) = self.file_of(&within, &mention.path, MOST_RE_EXPORTS)
                    && to != *module
                {
                    imports.insert((module.clone(), to));
                }
            }
        }
        imports.into_iter().map(|(from, to)| Import { from, to }).collect()
    }

    /// The module whose file declares what `path` says in the module `within`; nothing where that is another crate.
    fn file_of(&self, within: &[String], path: &[String], patience: usize) -> Option<Vec<String>> {
        let mut module = within.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                module.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let known = self.is_module(&module, first) || self.names.contains_key(&(module.clone(), first.into()));
                if !known {
                    return None;
                }
            }
        }
        while let Some((name, below)) = rest.split_first() {
            if self.is_module(&module, name) {
                module.push(name.clone());
            } else if let Some(target) = self.names.get(&(module.clone(), name.clone()))
                && patience > 0
                && let Some(target) = self.file_of(&module, target, patience - 1)
            {
                module = target;
            } else {
                break;
            }
            rest = below;
        }
        while !self.sources.contains_key(&module) {
            module.pop()?;
        }
        Some(module)
    }

    fn is_module(&self, parent: &[String], name: &str) -> bool {
        self.sources.contains_key(&[parent, &[name.to_owned()]].concat())
    }
}
