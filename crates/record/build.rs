//! Compiles the BPF programs with clang, one object a purpose; the objects are embedded in the binary.

use std::path::Path;
use std::process::Command;

/// Each is loaded by itself: `bpf/NAME.bpf.c`.
const OBJECTS: [&str; 4] = ["recorder", "meter", "services", "socket_options"];

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    let folder = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for name in OBJECTS {
        compile(name, Path::new(&folder));
    }
}

fn compile(name: &str, folder: &Path) {
    let source = format!("bpf/{name}.bpf.c");
    // mcpu=v3: atomic operations that return the old value, which numbering needs (kernels since 5.12).
    let status = Command::new("clang")
        .args(["-target", "bpf", "-mcpu=v3", "-D__TARGET_ARCH_x86", "-O2", "-g", "-Wall", "-Werror"])
        .args(["-c", &source, "-o"])
        .arg(folder.join(format!("{name}.bpf.o")))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!(
            "clang could not compile {source} ({status}); are libbpf's headers installed? try: apt-get install libbpf-dev"
        ),
        Err(error) => {
            panic!("clang, which compiles the BPF programs, cannot be run ({error}); try: apt-get install clang")
        }
    }
}
