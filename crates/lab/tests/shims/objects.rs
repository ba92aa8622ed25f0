//! Every shim's object: that it loads beside any libc, and into any program.

use crate::preload::{Preloaded, text_of};
use std::process::Command;

/// The names of all shims: those of their C files.
fn shims() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/shims");
    let files = std::fs::read_dir(folder).expect("the folder of shims");
    let paths =
        files.map(|file| file.expect("a file").path()).filter(|path| path.extension().is_some_and(|e| e == "c"));
    let mut names: Vec<String> = paths.map(|path| path.file_stem().expect("a name").display().to_string()).collect();
    names.sort();
    names
}

#[test]
fn no_object_asks_for_a_version_of_a_symbol_or_for_a_library() {
    for shim in shims() {
        let preloaded = Preloaded::new(&[(&shim, "inert")]);
        let object = preloaded.folder().join(format!("{shim}.so"));
        let versions = text_of(Command::new("readelf").arg("--version-info").arg(&object));
        assert!(versions.contains("No version information"), "{shim}: {versions}");
        let dynamic = text_of(Command::new("readelf").arg("--dynamic").arg(&object));
        assert!(!dynamic.contains("(NEEDED)"), "{shim}: {dynamic}");
    }
}

/// What every libc exports since glibc 2.17 (`dlopen` and `dlsym`: from 2.34 on by itself, before that by its libdl). A
/// shim that used anything else would keep the subject from starting in an older world.
const EVERYWHERE: &str = "__errno_location __register_atfork bcmp calloc clearerr clock_gettime dl_iterate_phdr dlopen dlsym \
    environ fclose fileno free getenv getpeername inet_ntop madvise memccpy memchr memcmp memcpy memmove memset mmap \
    mprotect pthread_mutex_lock pthread_mutex_unlock setenv setsockopt setvbuf strchr strcmp strcpy \
    strlen strncmp strstr strtok_r syscall sysconf unsetenv";

#[test]
fn no_object_uses_a_symbol_that_an_older_libc_lacks() {
    for shim in shims() {
        let preloaded = Preloaded::new(&[(&shim, "inert")]);
        let object = preloaded.folder().join(format!("{shim}.so"));
        let listed = text_of(Command::new("nm").args(["--dynamic", "--undefined-only"]).arg(&object));
        let used: Vec<&str> = listed.split_whitespace().filter(|word| word.len() > 1).collect();
        assert!(used.contains(&"getenv"), "{shim}: {listed}");
        let unknown: Vec<&&str> =
            used.iter().filter(|name| !EVERYWHERE.split(' ').any(|known| known == **name)).collect();
        assert!(unknown.is_empty(), "{shim} uses {unknown:?}");
    }
}

#[test]
fn every_shim_loads_into_a_program_active_and_inert() {
    for shim in shims() {
        for parameter in ["inert", "1"] {
            let preloaded = Preloaded::new(&[(&shim, parameter)]);
            let printed = text_of(preloaded.command("/bin/sh").args(["-c", "echo as before"]));
            assert_eq!(printed, "as before\n", "{shim} with {parameter}");
            assert_eq!(preloaded.counts(&shim).loaded, 1, "{shim} with {parameter}");
        }
    }
}

#[test]
fn all_shims_together_load_into_a_program() {
    let names = shims();
    let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "inert")).collect();
    let preloaded = Preloaded::new(&all);
    assert_eq!(preloaded.python("print('as before')", &[]), "as before\n");
    assert!(names.iter().all(|name| preloaded.counts(name).loaded == 1));
}
