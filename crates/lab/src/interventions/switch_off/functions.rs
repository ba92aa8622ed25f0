//! Where functions are in the files of a program, by the symbol tables of those.

use object::read::ReadCache;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolFlags, elf};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The stub that overwrites a function's beginning has this length (`switch-off.c`): in a shorter function it would
/// overwrite the next one, too.
const LEAST_BYTES: u64 = 20;

/// The shim recognises a function by this many of its bytes.
const KNOWN_BYTES: u64 = 16;

/// What a compiler calls the copies that it makes of a function; what it moves out of one as unlikely (`cold`) is no copy.
const CLONES: [&str; 4] = ["constprop", "isra", "part", "llvm"];

/// A function in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    name: String,
    address: u64,
    bytes: u64,
    begins: Vec<u8>,
}

/// Finds a function with its clones in the one file that has it, and words it for the shim. `seen` are addresses at which
/// a recording saw a function of that (readable) name in a file.
pub fn find(files: &[PathBuf], name: &str, seen: &dyn Fn(&PathBuf) -> BTreeSet<u64>) -> Result<String, String> {
    let mut found: Vec<(&PathBuf, Vec<Function>)> = Vec::new();
    let mut are_stripped = true;
    for file in files {
        let Some(all) = read(file) else { continue };
        are_stripped &= all.is_empty();
        let own = of_name(all, name, &seen(file));
        if !own.is_empty() {
            found.push((file, own));
        }
    }
    let shown = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    let (file, functions) = match found.as_slice() {
        [one] => one,
        [] if are_stripped => return Err(format!("found no symbol table in {shown}: it was stripped")),
        [] => return Err(format!("found no function `{name}` in {shown}: it may have been inlined")),
        [(file, _), ..] => {
            let module = file.file_name().unwrap_or_default().to_string_lossy();
            return Err(format!("found `{name}` in {} files; name one, as in {module}!{name}", found.len()));
        }
    };
    let of_that_name = functions.iter().filter(|one| !is_clone(&one.name, name)).count();
    if of_that_name > 1 {
        return Err(format!("found {of_that_name} functions `{name}` in {}", file.display()));
    }
    if let Some(short) = functions.iter().find(|one| one.bytes < LEAST_BYTES) {
        return Err(format!("cannot overwrite `{}`: it is only {} bytes long", short.name, short.bytes));
    }
    Ok(functions.iter().map(worded).collect::<Vec<_>>().join(" "))
}

/// Those of that name, and their clones.
fn of_name(all: Vec<Function>, name: &str, seen: &BTreeSet<u64>) -> Vec<Function> {
    let is_named = all.iter().any(|one| one.name == name || is_clone(&one.name, name));
    // What is not in the table by that name is there by another, which a compiler has made of it.
    let has_name = |one: &Function| one.name == name || is_clone(&one.name, name);
    let is_it = |one: &Function| if is_named { has_name(one) } else { seen.contains(&one.address) };
    let mut own = all.into_iter().filter(is_it).collect::<Vec<_>>();
    own.sort_by_key(|one| one.address);
    // Both tables can have it, and one piece of code several names.
    own.dedup_by_key(|one| one.address);
    own
}

fn is_clone(symbol: &str, name: &str) -> bool {
    let ending = symbol.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
    ending.is_some_and(|ending| CLONES.iter().any(|clone| ending.starts_with(clone)) && !ending.contains("cold"))
}

/// All functions of a file; none where it cannot be read.
fn read(path: &Path) -> Option<Vec<Function>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = object::File::parse(&cache).ok()?;
    let mut all =
        file.symbols().chain(file.dynamic_symbols()).filter_map(|symbol| function(&symbol)).collect::<Vec<_>>();
    for one in &mut all {
        let bytes = file.segments().find_map(|segment| segment.data_range(one.address, KNOWN_BYTES).ok().flatten());
        one.begins = bytes.unwrap_or_default().to_vec();
    }
    all.retain(|one| one.begins.len() as u64 == KNOWN_BYTES);
    Some(all)
}

/// A symbol, where it is a function that is here.
fn function<'a>(symbol: &impl ObjectSymbol<'a>) -> Option<Function> {
    let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { return None };
    let is_function = symbol.is_definition() && st_info & 0xf == elf::STT_FUNC;
    let name = symbol.name().ok().filter(|name| is_function && !name.is_empty())?.to_string();
    Some(Function { name, address: symbol.address(), bytes: symbol.size(), begins: Vec::new() })
}

/// As the shim reads it.
fn worded(function: &Function) -> String {
    let mut word = format!("{:x}:", function.address);
    for byte in &function.begins {
        // A string takes everything.
        let _ = write!(word, "{byte:02x}");
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, address: u64) -> Function {
        Function { name: name.into(), address, bytes: 64, begins: vec![0xab; 16] }
    }

    #[test]
    fn clones_go_with_their_function_and_others_of_a_like_name_do_not() {
        let all = ["scan", "scan.constprop.0", "scan.part.1.cold", "scanner", "scan.old"];
        let all = all.iter().zip(1..).map(|(name, address)| function(name, address)).collect::<Vec<_>>();
        let own = of_name(all, "scan", &BTreeSet::new());
        assert_eq!(own.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["scan", "scan.constprop.0"]);
    }

    #[test]
    fn a_readable_name_is_found_where_the_recording_saw_it() {
        let all = vec![function("_Z4scanPKc", 0x1000), function("_Z4scani", 0x2000)];
        let own = of_name(all, "scan(char const*)", &[0x1000].into());
        assert_eq!(own, [function("_Z4scanPKc", 0x1000)]);
    }

    #[test]
    fn a_function_is_worded_by_its_address_and_its_bytes() {
        assert_eq!(worded(&function("scan", 0x1260)), format!("1260:{}", "ab".repeat(16)));
    }

    #[test]
    fn a_file_without_functions_of_that_name_says_so() {
        let own = std::env::current_exe().expect("ourselves");
        let none = |_: &PathBuf| BTreeSet::new();
        let refused = find(&[own], "no_such_function", &none).expect_err("refused");
        assert!(refused.contains("`no_such_function`"), "{refused}");
        let text = tempfile::NamedTempFile::new().expect("a file");
        let refused = find(&[text.path().to_path_buf()], "work", &none).expect_err("refused");
        assert!(refused.contains("stripped"), "{refused}");
    }
}
