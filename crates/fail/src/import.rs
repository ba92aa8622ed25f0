//! Errors of reading what others have recorded.

use super::{Failure, quote_path};
use ::case::CaseError;
use ::import::ImportError;
use std::io::ErrorKind;

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Failure {
        let why = error.to_string();
        match error {
            ImportError::Io { path, source } => {
                let shown = quote_path(&path);
                let remedy = match source.kind() {
                    ErrorKind::PermissionDenied => format!("sudo cat {shown} | whyslow logs -"),
                    _ => format!("ls -l {shown}"),
                };
                Failure::new("the file cannot be read", why, remedy)
            }
            ImportError::NoFiles(_) => Failure::new("no log to read", why, "whyslow logs /var/log/nginx"),
            ImportError::NotALog(path) => {
                Failure::new("no access log", why, format!("whyslow logs --format FORMAT {}", quote_path(&path)))
            }
            ImportError::NotFollowed(path) => {
                Failure::new("the file cannot be followed", why, format!("whyslow logs {}", quote_path(&path)))
            }
            ImportError::NotACapture(path) => {
                Failure::new("the file is no capture", why, format!("file {}", quote_path(&path)))
            }
            ImportError::Cube(CaseError::Damaged { .. }) => {
                let remedy = "whyslow logs FILES --cube FILE.parquet, which writes one from logs";
                Failure::new("the cube cannot be read", why, remedy)
            }
            ImportError::Cube(CaseError::Io { path, source }) => {
                Failure::system(Some(&path), "reading or writing the cube", &source)
            }
            ImportError::Cube(other) => other.into(),
            ImportError::Question(_) => {
                let remedy = "whyslow logs FILES --sql \"SELECT agent, requests FROM traffic WHERE part = 'agent'\"";
                Failure::new("the question cannot be answered", why, remedy)
            }
            ImportError::NoRanges(_) => {
                let remedy = "whyslow logs --ranges Googlebot=FILE: a file in which ranges like 192.0.2.0/24 stand";
                Failure::new("no address ranges", why, remedy)
            }
        }
    }
}
