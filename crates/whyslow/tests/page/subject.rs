//! Cases to draw pages of, made by the casebook's stories.

use crate::stage::Stage;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testing::{beside_others, skip};

/// A case with its page.
pub struct Subject {
    pub case: PathBuf,
    pub page: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

/// The nagle story, slow and proved. None where this machine cannot run it.
pub fn nagle() -> Option<Subject> {
    let subject = crate::stories::running::nagle()?;
    Some(Subject { case: subject.case.clone(), page: subject.case.join("report.html"), _folder: None })
}

/// Any story, with the words and options for its script and variables of its environment.
pub fn story(name: &str, words: &[&str], environment: &[(&str, &str)]) -> Option<Subject> {
    let _turn = beside_others();
    let stage = Stage::new();
    if !stage.can_record() {
        return None;
    }
    let case = stage.path("case");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../casebook/run.sh");
    let out = Command::new(script)
        .arg(name)
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
        skip(said.trim_start_matches("skipped: "));
        return None;
    }
    assert!(matches!(out.status.code(), Some(0 | 1 | 3)), "{name}: {}\n{said}", out.status);
    let page = case.join("report.html");
    assert!(page.is_file(), "{name} left no page: {said}");
    Some(Subject { case, page, _folder: Some(stage.into_folder()) })
}
