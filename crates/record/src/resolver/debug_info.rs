//! Source files and lines from an image's debug information, and names as people write them.
//!
//! Debug information is mapped, not read: of a gigabyte a few pages are looked at. Somebody who cuts the file off ends
//! whoever looks; that is why this is done apart.

use std::borrow::Cow;
use std::path::Path;

use addr2line::{Context, Location};
use flate2::read::ZlibDecoder;
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::LittleEndian as Little;
use object::elf::{self, CompressionHeader64};
use object::pod;
use std::io::Read;

use super::elf::{Contents, Elf};
use super::mapping::Mapping;
use super::question::Link;
use super::symbols::Symbols;

/// Debug information of larger files is not read.
const LARGEST_FILE_BYTES: u64 = 2 << 30;
/// Compressed sections that give more in all are not unpacked.
const LARGEST_UNPACKED_BYTES: u64 = 1 << 30;
/// The longest path or name that a link has.
const LONGEST_LINK_BYTES: u64 = 4096;
/// A note has a header of 12 bytes, and that of the build the name `GNU`.
const NOTE_HEADER_BYTES: usize = 16;

type Bytes = EndianSlice<'static, LittleEndian>;

/// An image's debug information.
pub(super) struct DebugInfo {
    // Before the bytes that it borrows from: fields are dropped in this order.
    context: Context<Bytes>,
    /// The file that it was found in and its symbols, where that is not the image's own.
    other: Option<(Elf, Symbols)>,
    parts: Vec<Parts>,
}

/// What a context borrows from. It stays where it is.
type Parts = (Option<Mapping>, Vec<Box<[u8]>>);

impl std::fmt::Debug for DebugInfo {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("DebugInfo")
    }
}

/// What debug information says about an address.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Name of the function, where that is certain.
    pub function: Option<String>,
    pub file: String,
    pub line: u32,
    /// Name of the function whose line that is, where the compiler put it inline.
    pub inlined: Option<String>,
}

impl DebugInfo {
    /// Reads that in a file itself; none where it has none.
    pub fn read(elf: &Elf) -> Option<DebugInfo> {
        elf.section(".debug_info").or_else(|| elf.section(".debug_line"))?;
        let (dwarf, parts) = sections(elf)?;
        Some(DebugInfo { context: Context::from_dwarf(dwarf).ok()?, other: None, parts: vec![parts] })
    }

    /// Reads a file that has nothing else, and the link to what it shares with others.
    pub fn read_from(elf: Elf) -> Option<(DebugInfo, Option<Link>)> {
        let found = DebugInfo::read(&elf)?;
        let link = named(&elf, ".gnu_debugaltlink").map(|(name, build)| Link { name, build });
        let symbols = Symbols::read(&elf);
        Some((DebugInfo { other: Some((elf, symbols)), ..found }, link))
    }

    /// Takes what is shared from its file. To be done before anything is looked up.
    pub fn take_shared(&mut self, file: Contents) -> Option<()> {
        let (own, _) = self.other.as_ref()?;
        let shared = Elf::open(file)?;
        if named(own, ".gnu_debugaltlink")?.1 != build(&shared)? {
            return None;
        }
        let (mut dwarf, parts) = sections(own)?;
        let (sup, others) = sections(&shared)?;
        dwarf.set_sup(sup);
        self.context = Context::from_dwarf(dwarf).ok()?;
        self.parts = vec![parts, others];
        Some(())
    }

    /// Looks an address up, given where unwind data says that its function starts. The line is one in that function, not
    /// in what the compiler put inline there; but where the function is a library's template, as what runs a thread's closure
    /// is, it is in the program's own code that was put inline.
    pub fn look_up(&self, address: u64, function_start: Option<u64>) -> Option<Found> {
        let mut frames = self.context.find_frames(address).skip_all_loads().ok()?;
        // Innermost first.
        let mut all = Vec::new();
        while let Some(frame) = frames.next().ok()? {
            let name = frame.function.as_ref().and_then(|name| name.raw_name().ok().map(Cow::into_owned));
            all.push((name, frame.location.map(|place| line(&place))));
        }
        let (name, place) = all.pop().unwrap_or_default();
        if place.as_ref().is_some_and(|(file, _)| is_of_library(file))
            && let Some((Some(name), Some((file, line)))) = all.into_iter().find(|(name, place)| {
                name.is_some() && place.as_ref().is_some_and(|(file, line)| !is_of_library(file) && *line > 0)
            })
        {
            return Some(Found { function: None, file, line, inlined: Some(demangled(&name)) });
        }
        let by_symbol = || Some(self.other.as_ref()?.1.name(address, function_start)?.text);
        let function = name.or_else(by_symbol).map(|name| demangled(&name));
        let (file, line) = place.unwrap_or_default();
        Some(Found { function, file, line, inlined: None })
    }
}

fn line(place: &Location<'_>) -> (String, u32) {
    (place.file.unwrap_or_default().to_string(), place.line.unwrap_or_default())
}

/// Whether a source file came with the compiler: C++'s headers, Rust's library.
fn is_of_library(path: &str) -> bool {
    let begins = |with: &str| Path::new(path).starts_with(with);
    begins("/usr/include") || begins("/rustc") || path.contains("/include/c++/")
}

/// The name as it is written in the source, where it is one of Rust's or C++'s.
pub(super) fn demangled(name: &str) -> String {
    if let Ok(found) = rustc_demangle::try_demangle(name) {
        return format!("{found:#}");
    }
    let target = adjusted_to(name);
    let found = cpp_demangle::Symbol::new(target.as_deref().unwrap_or(name)).ok();
    found.and_then(|symbol| symbol.demangle().ok()).unwrap_or_else(|| name.to_owned())
}

/// What a C++ thunk goes on to: it adjusts `this`, and is in no source. `_ZThn56_N1A1fEv` is one of `_ZN1A1fEv` (Itanium C++ ABI,
/// 5.1.4.3: `h`, or `v` with a second offset).
fn adjusted_to(name: &str) -> Option<String> {
    let (offsets, rest) = match name.strip_prefix("_ZT")?.split_at_checked(1)? {
        ("h", rest) => (1, rest),
        ("v", rest) => (2, rest),
        _ => return None,
    };
    rest.splitn(offsets + 1, '_').nth(offsets).map(|target| format!("_Z{target}"))
}

/// Where an image's debug information is, if it is in another file.
pub(super) fn link(elf: &Elf) -> Option<Link> {
    let (name, _) = named(elf, ".gnu_debuglink")?;
    Some(Link { name, build: build(elf)? })
}

/// Which build an image is.
pub(super) fn build(elf: &Elf) -> Option<Vec<u8>> {
    let section = elf.section(".note.gnu.build-id").filter(|section| section.bytes <= LONGEST_LINK_BYTES)?;
    Some(elf.bytes(section)?.get(NOTE_HEADER_BYTES..)?.to_vec()).filter(|build| !build.is_empty())
}

/// A name in a section, and what follows it.
fn named(elf: &Elf, section: &str) -> Option<(String, Vec<u8>)> {
    let section = elf.section(section).filter(|section| section.bytes <= LONGEST_LINK_BYTES)?;
    let bytes = elf.bytes(section)?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes[end + 1..].to_vec()))
}

/// The sections of a file that hold debug information.
fn sections(elf: &Elf) -> Option<(Dwarf<Bytes>, Parts)> {
    let (file, whole) = match &elf.contents {
        Contents::File(file, length) if *length <= LARGEST_FILE_BYTES => {
            let mapping = Mapping::of(file, *length)?;
            // SAFETY: the mapping is kept beside whatever borrows from it.
            let whole = unsafe { mapping.bytes() };
            (Some(mapping), whole)
        }
        Contents::File(..) | Contents::Memory(_) => (None, &[][..]),
    };
    let mut parts: Parts = (file, Vec::new());
    let mut room = LARGEST_UNPACKED_BYTES;
    let mut bytes = |id: SectionId| -> Option<&'static [u8]> {
        let section = elf.section(id.name()).filter(|section| section.kind != elf::SHT_NOBITS)?;
        let start = usize::try_from(section.file_offset).ok()?;
        let packed = whole.get(start..start.checked_add(usize::try_from(section.bytes).ok()?)?)?;
        if section.flags & u64::from(elf::SHF_COMPRESSED) == 0 {
            return Some(packed);
        }
        let unpacked = unpacked(packed, &mut room)?;
        // SAFETY: the box is kept beside whatever borrows from it, and its bytes do not move when the box does.
        let borrowed = unsafe { std::slice::from_raw_parts(unpacked.as_ptr(), unpacked.len()) };
        parts.1.push(unpacked);
        Some(borrowed)
    };
    let load = |id| Ok::<_, gimli::Error>(EndianSlice::new(bytes(id).unwrap_or_default(), LittleEndian));
    Some((Dwarf::load(load).ok()?, parts))
}

/// A compressed section's bytes.
fn unpacked(packed: &[u8], room: &mut u64) -> Option<Box<[u8]>> {
    let (header, rest) = pod::from_bytes::<CompressionHeader64<Little>>(packed).ok()?;
    let bytes = header.ch_size.get(Little);
    *room = room.checked_sub(bytes).filter(|_| header.ch_type.get(Little) == elf::ELFCOMPRESS_ZLIB)?;
    let mut unpacked = Vec::new();
    ZlibDecoder::new(rest).take(bytes).read_to_end(&mut unpacked).ok()?;
    Some(unpacked.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn a_thunk_has_the_name_of_what_it_goes_on_to() {
        assert_eq!(demangled("_ZN4Pool4workEi"), "Pool::work(int)");
        assert_eq!(demangled("_ZThn56_N4Pool4workEi"), "Pool::work(int)");
        assert_eq!(demangled("_ZTv0_n24_N4Pool4workEi"), "Pool::work(int)");
        assert_eq!(demangled("_ZThn"), "_ZThn");
    }
}
