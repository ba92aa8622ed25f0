//! Which runtime is in a file: recognised by what the file contains, never by its name.

use super::question::{Embedded, PythonImage};
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use std::fs::File;

/// The runtime that a program brings along.
pub(super) fn embedded(file: File) -> Embedded {
    let cache = ReadCache::new(file);
    let Ok(file) = object::File::parse(&cache) else { return Embedded::None };
    // Go's linker writes both into every executable, stripped ones too; programs with cgo have them as well.
    if [".gopclntab", ".go.buildinfo"].iter().any(|name| file.section_by_name(name).is_some()) {
        return Embedded::Go;
    }
    // Node exports its interface for native add-ons, so that they find it in the executable that loads them.
    let is_node = |name: &[u8]| matches!(name, b"node_module_register" | b"napi_create_function");
    let mut definitions = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
    if definitions.any(|symbol| symbol.name_bytes().is_ok_and(is_node)) { Embedded::Node } else { Embedded::None }
}

/// Reads a file's symbols; `None` where it exports no `_PyRuntime`.
pub(super) fn python(file: File) -> Option<PythonImage> {
    let cache = ReadCache::new(file);
    let file = object::File::parse(&cache).ok()?;
    let (mut runtime, mut version_symbol) = (None, None);
    for symbol in file.dynamic_symbols().filter(ObjectSymbol::is_definition) {
        match symbol.name_bytes() {
            Ok(b"_PyRuntime") => runtime = Some(symbol.address()),
            Ok(b"Py_Version") => version_symbol = Some(symbol.address()),
            _ => {}
        }
    }
    let runtime = runtime?;
    let first = file.segments().find(|segment| segment.file_range().0 == 0)?;
    let version_tag = if version_symbol.is_none() { version_tag(&file) } else { None };
    Some(PythonImage { first_address: first.address() & !0xfff, runtime, version_symbol, version_tag })
}

/// The version that `sys.implementation.cache_tag` names, `cpython-39`: among the constants of every build.
fn version_tag<'data>(file: &impl Object<'data>) -> Option<(u8, u8)> {
    const TAG: &[u8] = b"cpython-3";
    let constants = file.section_by_name(".rodata")?;
    let bytes = constants.data().ok()?;
    bytes.windows(TAG.len() + 3).filter(|window| window.starts_with(TAG)).find_map(|window| {
        let rest = &window[TAG.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let ends = rest.get(digits).is_some_and(|byte| matches!(byte, 0 | b'-' | b'.'));
        let minor = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        ends.then_some((3, minor))
    })
}
