//! Which runtime is in a file: recognised by what the file contains, never by its name.

use super::constants::constants;
use super::mapping::Mapping;
use super::question::{Embedded, ScriptImage, ScriptImageOf};
use super::v8::{self, Exported};
use object::read::ReadRef;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, read};
use std::fs::File;

/// A larger file is none: Node has 130 MB, whose names are too many to ask for one by one.
const LARGEST_FILE_BYTES: u64 = 1 << 30;

/// The runtime that a program brings along.
pub(super) fn embedded(file: File) -> Embedded {
    Mapping::read(file, LARGEST_FILE_BYTES, embedded_in).unwrap_or_default()
}

fn embedded_in(bytes: &[u8]) -> Embedded {
    let Ok(file) = object::File::parse(bytes) else { return Embedded::None };
    // Go's linker writes both into every executable, stripped ones too; programs with cgo have them as well.
    if [".gopclntab", ".go.buildinfo"].iter().any(|name| file.section_by_name(name).is_some()) {
        return Embedded::Go;
    }
    // Node exports its interface for native add-ons, so that they find it in the executable that loads them.
    let is_node = |name: &[u8]| matches!(name, b"node_module_register" | b"napi_create_function");
    let mut definitions = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
    if definitions.any(|symbol| symbol.name_bytes().is_ok_and(is_node)) { Embedded::Node } else { Embedded::None }
}

/// The symbols by which interpreters are found.
#[derive(Default)]
struct Symbols {
    python: Option<u64>,
    python_version: Option<u64>,
    php_globals: Option<u64>,
    php: bool,
    perl_key: Option<u64>,
    perl_version: [Option<u64>; 2],
    ruby: Option<u64>,
    ruby_at_exit: Option<u64>,
    ruby_version: Option<u64>,
    thread_values: Option<u64>,
    v8: Exported,
    hotspot: [Option<u64>; 3],
    hotspot_strides: [Option<u64>; 3],
}

impl Symbols {
    fn of<'data>(file: &impl Object<'data>) -> Symbols {
        let mut found = Symbols::default();
        // Those of a thread's own memory are definitions, too.
        for symbol in file.dynamic_symbols().filter(|symbol| !symbol.is_undefined()) {
            let address = Some(symbol.address());
            match symbol.name_bytes() {
                Ok(b"_PyRuntime") => found.python = address,
                Ok(b"Py_Version") => found.python_version = address,
                Ok(b"executor_globals") => found.php_globals = address,
                Ok(b"zend_execute_ex") => found.php = true,
                Ok(b"PL_thr_key") => found.perl_key = address,
                Ok(b"PL_revision") => found.perl_version[0] = address,
                Ok(b"PL_version") => found.perl_version[1] = address,
                Ok(b"ruby_current_vm_ptr") => found.ruby = address,
                Ok(b"ruby_vm_at_exit") => found.ruby_at_exit = address,
                Ok(b"ruby_api_version") => found.ruby_version = address,
                Ok(b"_thread_db_pthread_specific") => found.thread_values = address,
                Ok(b"gHotSpotVMStructs") => found.hotspot[0] = address,
                Ok(b"gHotSpotVMTypes") => found.hotspot[1] = address,
                Ok(b"gHotSpotVMIntConstants") => found.hotspot[2] = address,
                Ok(b"gHotSpotVMStructEntryArrayStride") => found.hotspot_strides[0] = address,
                Ok(b"gHotSpotVMTypeEntryArrayStride") => found.hotspot_strides[1] = address,
                Ok(b"gHotSpotVMIntConstantEntryArrayStride") => found.hotspot_strides[2] = address,
                Ok(name) => found.v8.take(name, symbol.address()),
                Err(_) => {}
            }
        }
        found
    }

    fn image<'data, R: ReadRef<'data>>(&self, file: &read::File<'data, R>) -> Option<ScriptImageOf> {
        if let Some(found) = v8::exported(file, &self.v8) {
            return Some(ScriptImageOf::V8(found));
        }
        if let Some(runtime) = self.python {
            let version_symbol = self.python_version;
            let version_tag = if version_symbol.is_none() { version_tag(file) } else { None };
            return Some(ScriptImageOf::Python { runtime, version_symbol, version_tag });
        }
        if self.php {
            return Some(ScriptImageOf::Php { globals: self.php_globals, interface: php_interface(file) });
        }
        if let [Some(revision), Some(version)] = self.perl_version {
            let version = (constants::<1>(file, revision)?[0], constants::<1>(file, version)?[0]);
            return Some(ScriptImageOf::Perl { key: self.perl_key, version });
        }
        if let Some(version) = self.ruby_version {
            // Three numbers, of four bytes each.
            let version = constants::<12>(file, version)?;
            let machine = self.ruby.or_else(|| first_loaded(file, self.ruby_at_exit?));
            return Some(ScriptImageOf::Ruby { machine, version: (version[0], version[4]) });
        }
        if let ([Some(fields), Some(types), Some(numbers)], [Some(of_fields), Some(of_types), Some(of_numbers)]) =
            (self.hotspot, self.hotspot_strides)
        {
            let (tables, strides) = ([fields, types, numbers], [of_fields, of_types, of_numbers]);
            return Some(ScriptImageOf::HotSpot { tables, strides });
        }
        self.thread_values.map(|description| ScriptImageOf::ThreadValues { description })
    }
}

/// Reads a file's symbols; `None` where it exports none by which an interpreter is found.
pub(super) fn of_scripts(file: File) -> Option<ScriptImage> {
    Mapping::read(file, LARGEST_FILE_BYTES, of_scripts_in)?
}

fn of_scripts_in(bytes: &[u8]) -> Option<ScriptImage> {
    let file = object::File::parse(bytes).ok()?;
    let of = Symbols::of(&file).image(&file)?;
    let first = file.segments().find(|segment| segment.file_range().0 == 0)?;
    Some(ScriptImage { first_address: first.address() & !0xfff, of })
}

/// The address of the variable that a function loads first: CRuby exports none from 3.3 on, but functions that begin by
/// loading it. Whoever is told has to look whether it is the one that is meant.
fn first_loaded<'data>(file: &impl Object<'data>, function: u64) -> Option<u64> {
    first_load(&constants::<64>(file, function)?, function)
}

/// The address that the first load in a function's code is from: `REX.W MOV r64, [RIP + disp32]`, of seven bytes, which
/// counts from the next instruction on.
fn first_load(code: &[u8], function: u64) -> Option<u64> {
    const LENGTH: usize = 7;
    let is_load = |window: &[u8]| window[0] & 0xfb == 0x48 && window[1] == 0x8b && window[2] & 0xc7 == 0x05;
    let at = code.windows(LENGTH).position(is_load)?;
    let distance = i32::from_le_bytes(*code[at + 3..].first_chunk()?);
    Some(function.wrapping_add((at + LENGTH) as u64).wrapping_add_signed(i64::from(distance)))
}

/// The number of PHP's interface for extensions, which every build names as `API20220829,NTS`, or with a 4 before it. None of
/// builds with threads (`TS`) and those for debugging, which lay out everything differently.
fn php_interface<'data>(file: &impl Object<'data>) -> Option<u32> {
    const TAG: &[u8] = b"API";
    const PLAIN: &[u8] = b",NTS\0";
    let constants = file.section_by_name(".rodata")?;
    let bytes = constants.data().ok()?;
    bytes.windows(TAG.len() + 9 + PLAIN.len()).filter(|window| window.starts_with(TAG)).find_map(|window| {
        let rest = &window[TAG.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let date = rest[..digits].get(digits.checked_sub(8)?..)?;
        let number = std::str::from_utf8(date).ok()?.parse().ok()?;
        rest[digits..].starts_with(PLAIN).then_some(number)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How 3.3's `ruby_vm_at_exit` begins in Debian 13: it loads `ruby_current_vm_ptr` as its sixth instruction.
    const AT_EXIT: [u8; 30] = [
        0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x53, 0x48, 0x89, 0xfb, 0xbf, 0x10, 0, 0, 0, 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b,
        0x2d, 0xbf, 0xa2, 0x1f, 0, 0xe8, 0xca, 0x10, 0xdd, 0xff,
    ];

    #[test]
    fn the_variable_that_a_function_loads_first_is_found_by_its_distance() {
        assert_eq!(first_load(&AT_EXIT, 0x27_1910), Some(0x46_bbe8));
        assert_eq!(first_load(&AT_EXIT[..18], 0x27_1910), None);
        assert_eq!(first_load(&[0; 64], 0x27_1910), None);
    }
}
