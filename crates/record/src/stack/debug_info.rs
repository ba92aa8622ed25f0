//! Source files, lines and demangled names from an image's debug information, by blazesym.

use std::cell::OnceCell;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use blazesym::symbolize::source::{Elf as ElfSource, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolized, Symbolizer};

use super::elf::{Contents, Elf};

/// Debug information of larger files is not read: blazesym maps the whole file.
const LARGEST_FILE_BYTES: u64 = 2 << 30;

thread_local! {
    // Not a field of `Stacks`: blazesym's symbolizer may not change threads, and stacks are learned on one thread and
    // named on another. It notices by itself when a path leads to another file.
    static SYMBOLIZER: OnceCell<Symbolizer> = const { OnceCell::new() };
}

/// What debug information says about an address.
#[derive(Debug, Default)]
pub(super) struct DebugInfo {
    /// Name of the function, where that is certain.
    pub function: Option<String>,
    pub file: String,
    pub line: u32,
    /// Name of the function whose line that is, where the compiler put it inline.
    pub inlined: Option<String>,
}

/// Looks an address up, given where unwind data says that its function starts. The line is one in that function, not
/// in what the compiler put inline there; but where the function is a library's template, as what runs a thread's closure is, it
/// is in the program's own code that was put inline.
pub(super) fn look_up(elf: &Elf, address: u64, function_start: Option<u64>) -> Option<DebugInfo> {
    symbolize(elf, address, Symbols::WithDebugInfo, |symbol| {
        let starts = function_start == Some(symbol.addr);
        let covers = symbol.size.is_some_and(|size| address.wrapping_sub(symbol.addr) < size as u64);
        let place = symbol.code_info.as_ref();
        let is_own = |place: &CodeInfo<'_>| !is_of_library(&place.to_path());
        let is_template = place.is_some_and(|place| !is_own(place));
        let inlined = symbol.inlined.iter().rev().filter(|_| is_template);
        if let Some((name, place)) = inlined
            .filter_map(|one| Some((&one.name, one.code_info.as_ref()?)))
            .find(|(_, place)| is_own(place) && place.line.is_some())
        {
            return DebugInfo {
                function: None,
                file: place.to_path().to_string_lossy().into_owned(),
                line: place.line.unwrap_or_default(),
                inlined: Some(name.to_string()),
            };
        }
        DebugInfo {
            function: (starts || covers).then(|| symbol.name.to_string()),
            file: place.map(|place| place.to_path().to_string_lossy().into_owned()).unwrap_or_default(),
            line: place.and_then(|place| place.line).unwrap_or_default(),
            inlined: None,
        }
    })
}

/// Whether a source file came with the compiler: C++'s headers, Rust's library.
fn is_of_library(path: &Path) -> bool {
    path.starts_with("/usr/include") || path.starts_with("/rustc") || path.to_string_lossy().contains("/include/c++/")
}

/// The demangled form of the name of the symbol at an address.
pub(super) fn demangled(elf: &Elf, start: u64) -> Option<String> {
    symbolize(elf, start, Symbols::Only, |symbol| (symbol.addr == start).then(|| symbol.name.to_string()))?
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbols {
    Only,
    WithDebugInfo,
}

fn symbolize<T>(elf: &Elf, address: u64, symbols: Symbols, answer: impl FnOnce(&Sym<'_>) -> T) -> Option<T> {
    let Contents::File(file, length) = &elf.contents else { return None };
    if *length > LARGEST_FILE_BYTES {
        return None;
    }
    // The file we hold open may have lost its name, or its name may mean another file here than in its process.
    let mut source = ElfSource::new(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
    source.debug_syms = symbols == Symbols::WithDebugInfo;
    SYMBOLIZER.with(|symbolizer| {
        let symbolizer = symbolizer.get_or_init(Symbolizer::new);
        match symbolizer.symbolize_single(&Source::Elf(source), Input::VirtOffset(address)) {
            Ok(Symbolized::Sym(symbol)) => Some(answer(&symbol)),
            _ => None,
        }
    })
}
