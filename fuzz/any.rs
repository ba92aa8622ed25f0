//! One program for all targets: `WHYSLOW_FUZZ_TARGET` names the one that is given the bytes.
#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<fuzz::Target> = LazyLock::new(|| {
    fuzz::keep_quiet_about_damage();
    let name = std::env::var("WHYSLOW_FUZZ_TARGET").expect("WHYSLOW_FUZZ_TARGET names a target");
    fuzz::target(&name).unwrap_or_else(|| panic!("there is no target {name}"))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| TARGET(bytes));
