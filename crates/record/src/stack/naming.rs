//! What a frame is: module, function, file and line.

use case::tables::{Location, kind};

use super::call_site;
use super::debug_info;
use super::frame::Frame;
use super::image::Image;
use super::kernel_symbols::KernelSymbols;
use super::modules::{Module, Modules};

/// Describes a frame; `caller` is the next outer one.
pub(super) fn location(modules: &mut Modules, frame: Frame, caller: Option<Frame>) -> Location {
    if let Some(generated) = modules.generated(frame.image) {
        let (start, name) = generated.function(frame.address).unwrap_or_default();
        let (function, function_offset) = (name.to_owned(), start);
        return Location { function, function_offset, ..empty(kind::GENERATED, "[jit]", frame.address) };
    }
    match modules.get(frame.image) {
        Module::Image(image) => in_image(modules, image, frame, caller),
        Module::Unreadable(path) => empty(kind::NATIVE, path, frame.address),
        Module::Unknown | Module::Generated(_) => empty(kind::UNKNOWN, "[unknown]", frame.address),
    }
}

/// Describes an address in the kernel.
pub(super) fn kernel_location(symbols: &KernelSymbols, address: u64) -> Location {
    let (start, name) = symbols.function(address).unwrap_or_default();
    let (function, function_offset) = (name.to_owned(), symbols.offset(start));
    Location { function, function_offset, ..empty(kind::KERNEL, "[kernel]", symbols.offset(address)) }
}

fn in_image(modules: &Modules, image: &Image, frame: Frame, caller: Option<Frame>) -> Location {
    let address = frame.address;
    let mut location = Location { is_libc: image.is_c_library, ..empty(kind::NATIVE, &image.path, address) };
    let start = image.function_start(address);
    location.function_offset = start.unwrap_or_default();
    if let Some(table) = &image.go
        && let Some(function) = table.function(address)
    {
        location.function = function.name;
        (location.file, location.line) = table.line(address).unwrap_or_default();
        return location;
    }
    let symbol = image.symbols().name(address, start);
    if let Some(symbol) = &symbol {
        location.function = readable(image, &symbol.text, symbol.start);
        location.function_offset = start.unwrap_or(symbol.start);
    }
    if let Some(found) = debug_info::look_up(&image.elf, address, start) {
        (location.file, location.line) = (found.file, found.line);
        if let Some(inlined) = found.inlined {
            location.function = inlined;
        } else if symbol.is_none() {
            location.function = found.function.unwrap_or_default();
        }
    }
    if location.function.is_empty() && start.is_some() {
        location.function = name_by_call(modules, image, caller).unwrap_or_default();
    }
    location
}

/// The name by which the caller called, where the called image has a function of that name: it is this one, or one
/// that it jumped to as its last act. Without that test a frame reached by another way would get a false name.
fn name_by_call(modules: &Modules, called: &Image, caller: Option<Frame>) -> Option<String> {
    let caller = caller?;
    let Module::Image(image) = modules.get(caller.image) else { return None };
    let name = call_site::imported_name(image, caller.return_address()?)?;
    called.symbols().defines(&name).then_some(name)
}

fn readable(image: &Image, name: &str, start: u64) -> String {
    let mangled = name.starts_with("_Z") || name.starts_with("_R");
    let demangled = mangled.then(|| debug_info::demangled(&image.elf, start)).flatten();
    demangled.unwrap_or_else(|| name.to_owned())
}

fn empty(kind: u8, module: &str, offset: u64) -> Location {
    Location {
        id: 0,
        kind,
        module: module.to_owned(),
        function: String::new(),
        function_offset: 0,
        offset,
        file: String::new(),
        line: 0,
        is_libc: false,
    }
}
