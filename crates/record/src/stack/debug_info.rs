//! Source files, lines and demangled names from an image's debug information, by blazesym.

use nix::sys::memfd::{MFdFlags, memfd_create};
use std::cell::OnceCell;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use blazesym::symbolize::source::{Elf as ElfSource, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolized, Symbolizer};

use super::elf::{Contents, Elf};

/// Debug information of larger files is not read: blazesym maps the whole file.
const LARGEST_FILE_BYTES: u64 = 2 << 30;

/// Files that are not root's are copied up to this size, and so much of them in all: programs of one's own, built with debug
/// information, have some ten megabytes.
const LARGEST_COPY_BYTES: u64 = 128 << 20;
static ROOM_FOR_COPIES: AtomicU64 = AtomicU64::new(256 << 20);

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

/// The file as nobody can change it any more: blazesym maps it, and where somebody cuts a mapped file off, whoever reads it
/// there is killed. Root's files are taken as they are; others are copied, where they are not too large.
fn settled(file: &File, length: u64) -> Option<File> {
    let metadata = file.metadata().ok()?;
    let is_roots = metadata.uid() == 0 && metadata.mode() & (libc::S_IWGRP | libc::S_IWOTH) == 0;
    if is_roots {
        return file.try_clone().ok();
    }
    let room = ROOM_FOR_COPIES.fetch_update(Relaxed, Relaxed, |room| room.checked_sub(length));
    room.ok().filter(|_| length <= LARGEST_COPY_BYTES)?;
    let name = memfd_create(c"whyslow-debug-information", MFdFlags::MFD_CLOEXEC).ok()?;
    let mut copy = File::from(name);
    let mut bytes = vec![0; 1 << 16];
    let mut at = 0;
    while at < length {
        let wanted = bytes.len().min((length - at) as usize);
        file.read_exact_at(&mut bytes[..wanted], at).and_then(|()| copy.write_all(&bytes[..wanted])).ok()?;
        at += wanted as u64;
    }
    Some(copy)
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
    let file = elf.settled.get_or_init(|| settled(file, *length)).as_ref()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_others_may_cut_off_is_copied_before_it_is_mapped() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("library");
        let contents = (0..200_000_u32).map(|number| number as u8).collect::<Vec<_>>();
        std::fs::write(&path, &contents).expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o666)).expect("anybody's");
        let file = File::options().read(true).write(true).open(&path).expect("opened");
        let settled = settled(&file, contents.len() as u64).expect("a copy");
        file.set_len(0).expect("cut off");
        let mut kept = vec![0; contents.len()];
        settled.read_exact_at(&mut kept, 0).expect("all of it");
        assert!(kept == contents);
    }

    #[test]
    fn what_is_cut_off_while_it_is_copied_and_what_is_too_large_is_not_read() {
        let home = tempfile::tempdir().expect("a folder");
        let file = File::create_new(home.path().join("sparse")).expect("made");
        let file =
            File::options().read(true).open(home.path().join("sparse")).map(|read| (file, read)).expect("opened");
        file.0.set_permissions(Permissions::from_mode(0o666)).expect("anybody's");
        assert!(settled(&file.1, 1000).is_none(), "shorter than it was");
        assert!(settled(&file.1, LARGEST_COPY_BYTES + 1).is_none());
    }
}
