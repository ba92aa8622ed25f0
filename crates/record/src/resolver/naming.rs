//! What a place in an image is: function, file and line.

use super::call_site;
use super::debug_info::{Found, demangled};
use super::image::Image;
use super::question::{Named, Place};
use super::unoptimized;

/// Longer names and paths are cut: C++'s templates have names of some thousand letters.
const LONGEST_NAME_BYTES: usize = 64 << 10;

/// Describes a place; `caller` is the image that called.
pub(super) fn name(image: &Image, place: Place, caller: Option<&Image>) -> Named {
    let mut named = whole(image, place, caller);
    for text in [&mut named.function, &mut named.file] {
        text.truncate(text.floor_char_boundary(LONGEST_NAME_BYTES));
    }
    named
}

fn whole(image: &Image, place: Place, caller: Option<&Image>) -> Named {
    let address = place.address;
    let start = image.function_start(address);
    let mut named = Named { function_offset: start.unwrap_or_default(), ..Named::default() };
    if let Some(table) = &image.go
        && let Some(function) = table.function(address)
    {
        named.function = function.name;
        (named.file, named.line) = table.line(address).unwrap_or_default();
        return named;
    }
    let first_bytes = start.and_then(|start| image.code(start, unoptimized::BYTES));
    named.stores_arguments = first_bytes.is_some_and(|code| unoptimized::keeps_arguments_in_memory(&code));
    let symbol = image.symbols().name(address, start);
    if let Some(symbol) = &symbol {
        let is_mangled = symbol.text.starts_with("_Z") || symbol.text.starts_with("_R");
        named.function = if is_mangled { demangled(&symbol.text) } else { symbol.text.clone() };
        named.function_offset = start.unwrap_or(symbol.start);
    }
    // What is in no function has no line either: between functions, the one before goes on.
    let is_in_one = |found: &Found| symbol.is_some() || found.function.is_some() || found.inlined.is_some();
    if let Some(found) = image.debug().and_then(|debug| debug.look_up(address, start)).filter(is_in_one) {
        (named.file, named.line) = (found.file, found.line);
        if let Some(inlined) = found.inlined {
            named.function = inlined;
        } else if symbol.is_none() {
            named.function = found.function.unwrap_or_default();
        }
    }
    if named.function.is_empty() && start.is_some() {
        named.function = name_by_call(image, place, caller).unwrap_or_default();
    }
    named
}

/// The name by which the caller called, where the called image has a function of that name: it is this one, or one
/// that it jumped to as its last act. Without that test a frame reached by another way would get a false name.
fn name_by_call(called: &Image, place: Place, caller: Option<&Image>) -> Option<String> {
    let name = call_site::imported_name(caller?, place.caller?.1)?;
    called.symbols().defines(&name).then_some(name)
}
