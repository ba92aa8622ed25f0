//! Finding a command on the search path, before anything is started, so that the error can name what is wrong.

use super::Program;
use crate::RecordError;
use crate::executable::candidates;
use nix::unistd::{AccessFlags, access};
use std::path::{Path, PathBuf};

/// The file that a command's first word names, as a shell in the program's folder and environment would find it.
pub fn find(name: &str, program: &Program) -> Result<PathBuf, RecordError> {
    if name.contains('/') {
        // Executed as it was typed, in that folder: a script sees this path as its own.
        let typed = PathBuf::from(name);
        let path = program.folder.as_ref().map_or_else(|| typed.clone(), |folder| folder.join(name));
        if let (Some(root), true) = (&program.root, path.is_absolute()) {
            return root.resolve(&path).map(|_| typed).ok_or_else(|| RecordError::NotFound(name.into()));
        }
        return if path.exists() { executable(&path).map(|()| typed) } else { Err(RecordError::NotFound(name.into())) };
    }
    let own = program.environment.iter().rev().find(|(variable, _)| variable == "PATH");
    let search = own.map_or_else(|| std::env::var_os("PATH"), |(_, path)| path.clone());
    let mut refused = None;
    for path in candidates(name, Path::new(""), search) {
        if let Some(root) = &program.root {
            // Whether it can be executed is only known inside: a link that leads to an absolute path leads elsewhere here.
            match root.resolve(&path) {
                Some(_) => return Ok(path),
                None => continue,
            }
        }
        if !path.is_file() {
            continue;
        }
        match executable(&path) {
            Ok(()) => return Ok(path),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| RecordError::NotFound(name.to_string())))
}

fn executable(path: &Path) -> Result<(), RecordError> {
    let reason = if path.is_dir() {
        "it is a folder".to_string()
    } else {
        match access(path, AccessFlags::X_OK) {
            Ok(()) => return Ok(()),
            Err(nix::errno::Errno::EACCES) => "it lacks the permission to be executed".to_string(),
            Err(error) => error.desc().to_string(),
        }
    };
    Err(RecordError::NotExecutable { path: path.to_path_buf(), reason })
}
