//! Compiles the recorder's BPF programs with clang; the object is embedded in the binary.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    let object = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("recorder.bpf.o");
    // mcpu=v3: atomic operations that return the old value, which numbering needs (kernels since 5.12).
    let status = Command::new("clang")
        .args(["-target", "bpf", "-mcpu=v3", "-D__TARGET_ARCH_x86", "-O2", "-g", "-Wall", "-Werror"])
        .args(["-c", "bpf/recorder.bpf.c", "-o"])
        .arg(&object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!(
            "clang could not compile bpf/recorder.bpf.c ({status}); are libbpf's headers installed? try: apt-get install libbpf-dev"
        ),
        Err(error) => {
            panic!("clang, which compiles the BPF programs, cannot be run ({error}); try: apt-get install clang")
        }
    }
}
