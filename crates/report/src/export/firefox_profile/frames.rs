//! Frames of the profile: compiled code belongs to its library, lines of scripts and the kernel's functions are labels.

use super::module;
use crate::export::code::function;
use crate::text::clean;
use case::Recording;
use case::tables::{Location, kind};
use fxprof_processed_profile::debugid::DebugId;
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, Frame, FrameFlags, FrameHandle, FrameInfo, LibraryHandle, LibraryInfo, Profile,
    StackHandle, Symbol, SymbolTable, ThreadHandle,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The frames of a profile, and the categories that they are in.
pub(super) struct Frames {
    libraries: BTreeMap<String, LibraryHandle>,
    addresses: BTreeMap<u32, u32>,
    interned: BTreeMap<(ThreadHandle, u32), FrameHandle>,
    user: CategoryHandle,
    kernel: CategoryHandle,
    script: CategoryHandle,
    /// What a thread waits for.
    pub(super) blocked: CategoryHandle,
    /// What a request takes.
    pub(super) network: CategoryHandle,
}

impl Frames {
    /// Declares the categories and the libraries.
    pub(super) fn of(profile: &mut Profile, recording: &Recording) -> Frames {
        let mut frames = Frames {
            libraries: BTreeMap::new(),
            addresses: BTreeMap::new(),
            interned: BTreeMap::new(),
            user: profile.add_category("User", CategoryColor::Yellow),
            kernel: profile.add_category("Kernel", CategoryColor::Orange),
            script: profile.add_category("Script", CategoryColor::Green),
            blocked: profile.add_category("Blocked", CategoryColor::Purple),
            network: profile.add_category("Network", CategoryColor::LightBlue),
        };
        frames.add_libraries(profile, recording);
        frames
    }

    /// Each library with the names of the places in it. Places are numbered, since two offsets of one function are one
    /// function, and a recording does not know where a function ends.
    fn add_libraries(&mut self, profile: &mut Profile, recording: &Recording) {
        let mut symbols: BTreeMap<&str, Vec<Symbol>> = BTreeMap::new();
        for location in recording.locations.iter().filter(|location| location.kind == kind::NATIVE) {
            let of_library = symbols.entry(&location.module).or_default();
            let address = of_library.len() as u32;
            of_library.push(Symbol { address, size: Some(1), name: function(location) });
            self.addresses.insert(location.id, address);
        }
        for (path, symbols) in symbols {
            let library = LibraryInfo {
                name: module(path),
                debug_name: module(path),
                path: clean(path),
                debug_path: clean(path),
                debug_id: DebugId::nil(),
                code_id: None,
                arch: None,
                symbol_table: Some(Arc::new(SymbolTable::new(symbols))),
            };
            self.libraries.insert(path.to_string(), profile.add_lib(library));
        }
    }

    /// The stack of a path, outermost first; none for no frames.
    pub(super) fn stack(
        &mut self,
        profile: &mut Profile,
        thread: ThreadHandle,
        path: &[&Location],
    ) -> Option<StackHandle> {
        let mut stack = None;
        for location in path {
            let key = (thread, location.id);
            let frame = match self.interned.get(&key) {
                Some(frame) => *frame,
                None => self.intern(profile, thread, location),
            };
            stack = Some(profile.intern_stack(thread, stack, frame));
        }
        stack
    }

    fn intern(&mut self, profile: &mut Profile, thread: ThreadHandle, location: &Location) -> FrameHandle {
        let (category, flags) = match location.kind {
            kind::KERNEL => (self.kernel, FrameFlags::empty()),
            kind::SCRIPT => (self.script, FrameFlags::IS_JS),
            _ => (self.user, FrameFlags::empty()),
        };
        let in_library = self.libraries.get(&location.module).zip(self.addresses.get(&location.id));
        let frame = match in_library {
            Some((library, address)) => Frame::RelativeAddressFromInstructionPointer(*library, *address),
            None => Frame::Label(profile.intern_string(&label(location))),
        };
        let info = FrameInfo { frame, category_pair: category.into(), flags };
        let handle = profile.intern_frame(thread, info);
        self.interned.insert((thread, location.id), handle);
        handle
    }
}

/// What is not in a library, by name: `post (client.py:26)`.
fn label(location: &Location) -> String {
    if location.kind != kind::SCRIPT || location.line == 0 {
        return function(location);
    }
    let file = if location.file.is_empty() { &location.module } else { &location.file };
    format!("{} ({}:{})", function(location), module(file), location.line)
}
