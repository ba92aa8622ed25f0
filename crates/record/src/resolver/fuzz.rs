//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use super::elf::{Contents, Room};
use super::image::Image;
use super::perf_map::PerfMap;
use super::{Form, Numbers, call_site, debug_info as debug, lines as tables};
use gimli::UnwindContext;
use std::fs::File;
use std::io::Write;

/// An address in the middle of what seeds have.
const SOMEWHERE: u64 = 0x1140;

/// The bytes, and an address that their end names.
fn with_address(bytes: &[u8]) -> (&[u8], u64) {
    let Some((rest, address)) = bytes.split_last_chunk::<4>() else { return (bytes, SOMEWHERE) };
    (rest, u64::from(u32::from_le_bytes(*address)))
}

/// An executable's headers, symbols and imports.
pub fn elf(bytes: &[u8]) {
    let (bytes, address) = with_address(bytes);
    let Some(image) = Image::open(Contents::Memory(bytes.to_vec()), &mut Room::default()) else {
        return;
    };
    for address in [address, SOMEWHERE, image.elf.entry] {
        let start = image.function_start(address);
        image.symbols().name(address, start);
        image.symbols().import(address);
        image.elf.segments.bias(address, address);
        call_site::imported_name(&image, address);
        if let Some(go) = &image.go {
            go.line(address);
            go.function(address);
        }
    }
}

/// How to get from a frame to its caller.
pub fn unwinding(bytes: &[u8]) {
    let (bytes, address) = with_address(bytes);
    let Some(image) = Image::open(Contents::Memory(bytes.to_vec()), &mut Room::default()) else {
        return;
    };
    let mut context = UnwindContext::new();
    for address in [address, SOMEWHERE, image.elf.entry] {
        image.row(address, &mut context);
        image.facts().is_entry(address);
    }
}

/// Source lines, from DWARF.
pub fn debug_info(bytes: &[u8]) {
    let (bytes, address) = with_address(bytes);
    let Ok(named) = nix::sys::memfd::memfd_create(c"fuzz", nix::sys::memfd::MFdFlags::MFD_CLOEXEC) else { return };
    let mut file = File::from(named);
    if file.write_all(bytes).is_err() {
        return;
    }
    let Some(image) = Contents::of_file(file).and_then(|contents| Image::open(contents, &mut Room::default())) else {
        return;
    };
    for address in [address, SOMEWHERE, image.elf.entry] {
        image.debug().and_then(|found| found.look_up(address, Some(address)));
    }
    debug::demangled(&String::from_utf8_lossy(bytes));
}

/// A map file of generated code.
pub fn perf_map(bytes: &[u8]) {
    PerfMap::parse(bytes).function(SOMEWHERE);
}

/// A table of lines, in each form that interpreters have used, behind the first line and an instruction.
pub fn lines(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first_chunk::<4>() else { return };
    let Some((index, table)) = rest.split_first_chunk::<4>() else { return };
    let (first, index) = (u32::from_le_bytes(*first), u32::from_le_bytes(*index));
    let ranks = Form::Ranks { entries: first % 64, entry_bytes: 8 + index % 8, words: index };
    let compressed = Form::Compressed { code_bytes: index, numbers: Numbers::WithZero };
    for form in [Form::Increments, Form::Ranges, Form::Locations, ranks, compressed] {
        tables::line_at(&tables::read(form, table, first), index);
    }
}
