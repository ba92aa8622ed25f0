//! Cases to draw pages of, made by the casebook's stories.

use crate::stage::Stage;
use crate::stage::speed::budget;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A case with its page.
pub struct Told {
    pub case: PathBuf,
    pub page: PathBuf,
    _stage: Stage,
}

/// The nagle story, slow and proved; told once for all tests. None where this machine cannot tell it.
pub fn nagle() -> Option<&'static Told> {
    static TOLD: OnceLock<Option<Told>> = OnceLock::new();
    TOLD.get_or_init(|| story("nagle", &["slow", "--budget", &budget(60)], &[])).as_ref()
}

/// Any story, with the words and options for its script and variables of its environment.
pub fn story(name: &str, words: &[&str], environment: &[(&str, &str)]) -> Option<Told> {
    let stage = Stage::new();
    if !stage.can_record(name) {
        return None;
    }
    let case = stage.path("case");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../casebook").join(name).join("run.sh");
    let out = Command::new(script)
        .args(words)
        .arg("-o")
        .arg(&case)
        .env("WHYSLOW", env!("CARGO_BIN_EXE_whyslow"))
        .env("XDG_STATE_HOME", stage.path("state"))
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the story's script");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    if out.status.code() == Some(77) {
        println!("{said}");
        return None;
    }
    assert!(matches!(out.status.code(), Some(0 | 1 | 3)), "{name}: {}\n{said}", out.status);
    let page = case.join("report.html");
    assert!(page.is_file(), "{name} left no page: {said}");
    Some(Told { case, page, _stage: stage })
}
