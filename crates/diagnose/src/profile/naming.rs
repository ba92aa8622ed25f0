//! What modules and functions are called: as they were recorded, or such that two sides can be compared.

use crate::code::base_name;
use crate::profile::Frame;
use case::Function;
use case::tables::Location;
use std::collections::{BTreeMap, BTreeSet};

/// Names of a side's code.
#[derive(Clone, Copy)]
pub(crate) struct Names<'n> {
    modules: &'n BTreeMap<String, String>,
    rebuilt: &'n BTreeSet<String>,
}

static NO_MODULES: BTreeMap<String, String> = BTreeMap::new();
static NONE_REBUILT: BTreeSet<String> = BTreeSet::new();

impl<'n> Names<'n> {
    /// All as they were recorded.
    pub const AS_RECORDED: Names<'static> = Names { modules: &NO_MODULES, rebuilt: &NONE_REBUILT };

    /// Modules under other names; addresses in those `rebuilt`, by their other names, say nothing to the other side.
    pub fn new(modules: &'n BTreeMap<String, String>, rebuilt: &'n BTreeSet<String>) -> Names<'n> {
        Names { modules, rebuilt }
    }

    /// A module's name.
    pub fn module(&self, name: &str) -> String {
        self.modules.get(name).map_or(name, String::as_str).to_string()
    }

    /// A place's function. One that has no name has its address; all of a rebuilt module have one name in common.
    pub fn frame(&self, location: &Location) -> Frame {
        let module = self.module(base_name(&location.module));
        let function = match location.function.as_str() {
            "" if self.rebuilt.contains(&module) => Function::unnamed(&module),
            "" => Function::at(&module, address(location)),
            name => name.to_string(),
        };
        Frame { function, module }
    }
}

/// Where a place's function begins in its module; where that is not known, the place itself.
pub(crate) fn address(location: &Location) -> u64 {
    if location.function_offset > 0 { location.function_offset } else { location.offset }
}
