//! Whose time it is: the roots of call trees.

use crate::code::{UNKNOWN_MODULE, base_name};
use crate::profile::Frame;
use crate::profile::naming::Names;
use case::tables::Process;

/// The root of a program's tree: its role and its executable's name.
pub fn root(process: Option<&Process>, names: Names) -> Frame {
    let module = names.module(executable(process));
    let function = match process.map(|row| row.role.as_str()) {
        Some(role @ ("client" | "server")) => format!("{role} {module}"),
        _ => module.clone(),
    };
    Frame { function, module }
}

/// The name of a program's executable.
pub fn executable(process: Option<&Process>) -> &str {
    process.map_or(UNKNOWN_MODULE, |row| base_name(&row.executable))
}
