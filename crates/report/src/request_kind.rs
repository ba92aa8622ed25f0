//! Requests of one kind, in words.

use crate::text::clean;
use case::RequestKind;

/// Requests of one kind: `GET /render`; by the line that asks: `requests from client.py:3 in report`.
pub(crate) fn request_kind(kind: &RequestKind, several: bool) -> String {
    let from = if several { "requests from" } else { "request from" };
    match kind {
        RequestKind::Http { method, path } => format!("{} {}", clean(method), clean(path)),
        RequestKind::Command { name } => format!("{} {}", clean(name), if several { "commands" } else { "command" }),
        RequestKind::AskedBy { file, line, function } if *line > 0 => {
            let base = clean(file.rsplit('/').next().unwrap_or(file));
            format!("{from} {base}:{line} in {}", clean(function))
        }
        RequestKind::AskedBy { function, .. } => format!("{from} {}", clean(function)),
        RequestKind::Any => if several { "requests" } else { "request" }.into(),
    }
}
