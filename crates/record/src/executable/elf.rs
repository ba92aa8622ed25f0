//! What an ELF file says of what it needs and of what it offers.

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Sym};
use object::{Endianness, FileKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger files are no programs or libraries that anybody loads.
const MOST_BYTES: u64 = 1 << 30;
/// How the versions end by which a loader and the libraries of its C library speak to each other alone.
const PRIVATE: &[u8] = b"_PRIVATE";

type Header = FileHeader64<Endianness>;

/// A program or library of 64 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elf {
    /// The loader that a program names; none for a library, or a program without one.
    pub loader: Option<PathBuf>,
    /// What it is called by those that need it.
    pub soname: Option<String>,
    /// The libraries that it needs.
    pub needed: Vec<String>,
    /// The symbols that it offers.
    pub offers: BTreeSet<String>,
    /// Whether it is a part of the C library: it offers symbols of a version that is private to that.
    pub is_c_library: bool,
}

impl Elf {
    /// Reads a file; none where it is no such file.
    pub fn read(path: &Path) -> Option<Elf> {
        use std::io::Read;
        let mut file = std::fs::File::open(path).ok()?;
        let metadata = file.metadata().ok().filter(|found| found.is_file() && found.len() <= MOST_BYTES)?;
        let mut bytes = vec![0; elf::ELFMAG.len()];
        file.read_exact(&mut bytes).ok().filter(|()| bytes == elf::ELFMAG)?;
        bytes.reserve(usize::try_from(metadata.len()).ok()?);
        file.read_to_end(&mut bytes).ok()?;
        Elf::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Option<Elf> {
        if FileKind::parse(bytes).ok()? != FileKind::Elf64 {
            return None;
        }
        let header = Header::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        let mut found = Elf::default();
        for segment in header.program_headers(endian, bytes).ok()? {
            if let Ok(Some(loader)) = segment.interpreter(endian, bytes) {
                found.loader = Some(PathBuf::from(text(loader)));
            }
        }
        let sections = header.sections(endian, bytes).ok()?;
        if let Ok(Some((entries, link))) = sections.dynamic(endian, bytes) {
            let strings = sections.strings(endian, bytes, link).ok()?;
            for entry in entries {
                let Ok(value) = entry.string(endian, strings) else { continue };
                match u32::try_from(entry.d_tag(endian)) {
                    Ok(elf::DT_NEEDED) => found.needed.push(text(value)),
                    Ok(elf::DT_SONAME) => found.soname = Some(text(value)),
                    _ => {}
                }
            }
        }
        let symbols = sections.symbols(endian, bytes, elf::SHT_DYNSYM).ok()?;
        let offered = symbols.iter().filter(|symbol| !symbol.is_undefined(endian) && !symbol.is_local());
        found.offers = offered.filter_map(|one| one.name(endian, symbols.strings()).ok()).map(text).collect();
        let versions = sections.versions(endian, bytes).ok().flatten();
        // A version that it defines; those that it needs have the file that they are needed of.
        let is_private = |version: &object::read::elf::Version<'_>| version.name().ends_with(PRIVATE);
        found.is_c_library = versions.is_some_and(|versions| {
            (0..=u16::from(u8::MAX)).any(|index| {
                let version = versions.version(object::read::elf::VersionIndex(index)).ok().flatten();
                version.is_some_and(|version| is_private(version) && version.file().is_none())
            })
        });
        Some(found)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
