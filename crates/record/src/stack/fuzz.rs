//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use super::elf::{Contents, Room};
use super::image::Image;
use super::kernel_symbols::KernelSymbols;
use super::perf_map::PerfMap;
use super::row::Expressions;
use super::{call_site, debug_info as debug, maps as proc_maps};
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
    let Some(image) = Image::open("x".to_string(), Contents::Memory(bytes.to_vec()), &mut Room::default()) else {
        return;
    };
    for address in [address, SOMEWHERE, image.elf.entry] {
        let start = image.function_start(address);
        image.symbols().name(address, start);
        image.symbols().import(address);
        image.elf.bias(address, address);
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
    let Some(image) = Image::open("x".to_string(), Contents::Memory(bytes.to_vec()), &mut Room::default()) else {
        return;
    };
    let (mut context, mut expressions) = (UnwindContext::new(), Expressions::default());
    for address in [address, SOMEWHERE, image.elf.entry] {
        image.row(address, &mut context, &mut expressions);
        image.is_entry(address);
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
    let Some(image) =
        Contents::of_file(file).and_then(|contents| Image::open("x".to_string(), contents, &mut Room::default()))
    else {
        return;
    };
    for address in [address, SOMEWHERE, image.elf.entry] {
        debug::look_up(&image.elf, address, Some(address));
        debug::demangled(&image.elf, address);
    }
}

/// A map file of generated code.
pub fn perf_map(bytes: &[u8]) {
    PerfMap::parse(bytes).function(SOMEWHERE);
}

/// `/proc/PID/maps`.
pub fn maps(bytes: &[u8]) {
    for line in proc_maps::parse(bytes) {
        line.backing();
    }
}

/// `/proc/kallsyms`.
pub fn kernel_symbols(text: &str) {
    let symbols = KernelSymbols::parse(text);
    symbols.function(SOMEWHERE);
    symbols.offset(SOMEWHERE);
}
