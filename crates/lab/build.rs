//! Builds every shim in `shims` with the host's C compiler, and lists the objects for `shim.rs`.
//!
//! They are linked against nothing: an undefined symbol without a version binds to whatever libc the subject has.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=shims");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut sources: Vec<PathBuf> = std::fs::read_dir("shims")
        .expect("the folder of shims")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "c"))
        .collect();
    sources.sort();
    let mut list = "/// Every shim's name and object.\nconst OBJECTS: &[(&str, &[u8])] = &[\n".to_string();
    for source in &sources {
        let name = source.file_stem().and_then(|stem| stem.to_str()).expect("a shim has a plain name");
        let object = out.join(format!("{name}.so"));
        compile(source, &object);
        let object = object.display();
        writeln!(list, "    ({name:?}, include_bytes!(\"{object}\")),").expect("a string takes everything");
    }
    list.push_str("];\n");
    std::fs::write(out.join("shims.rs"), list).expect("the list of shims is written");
}

fn compile(source: &Path, object: &Path) {
    let status = Command::new("clang")
        .args(["-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-fvisibility=hidden", "-fno-stack-protector"])
        .args(["-nostdlib", "-Wl,--unresolved-symbols=ignore-all", "-Wl,-z,now", "-o"])
        .args([object, source])
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => {
            panic!("clang could not compile {} ({status}); try: apt-get install clang libc6-dev", source.display())
        }
        Err(error) => panic!("clang, which compiles the shims, cannot be run ({error}); try: apt-get install clang"),
    }
}
