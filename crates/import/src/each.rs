//! Requests one by one, for those who need each rather than counts.

use crate::chunks::lines;
use crate::entry::Entry;
use crate::error::ImportError;
use crate::files::{LogFile, Opened, open};
use crate::workers::{BEGINNING, Options, format_of};
use std::io::{self, Read};

/// Hands on the requests of a file in the order of its lines, and nothing for each line that is none.
///
/// # Errors
/// Where the file cannot be read to its end, or is of no known format.
pub fn each(file: &LogFile, options: &Options, mut to: impl FnMut(Option<&Entry>)) -> Result<(), ImportError> {
    let refused = |error: io::Error| ImportError::io(&file.path)(error);
    let mut stream: Box<dyn Read + Send> = match open(file).map_err(refused)? {
        Opened::Plain(opened, _) => Box::new(opened),
        Opened::Stream(stream) => stream,
    };
    let mut beginning = Vec::with_capacity(BEGINNING);
    stream.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning).map_err(refused)?;
    let format = format_of(&beginning, options).ok_or_else(|| ImportError::NotALog(file.path.clone()))?;
    let read = lines(beginning.chain(stream), |line| {
        if !format.parse(line, |entry| to(Some(entry))) {
            to(None);
        }
    });
    read.map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn log(text: &str) -> (tempfile::NamedTempFile, LogFile) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let path = file.path().to_path_buf();
        (file, LogFile { path, is_named: true })
    }

    #[test]
    fn requests_come_with_their_methods_and_broken_lines_are_counted() {
        let (_kept, file) = log("1.2.3.4 - - [10/Oct/2000:20:55:36 +0000] \"HEAD /a HTTP/1.1\" 200 5\n\
            garbage\n1.2.3.4 - - [10/Oct/2000:20:55:37 +0000] \"POST /b?c HTTP/1.1\" 200 5\n");
        let mut seen = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let note = |entry: Option<&Entry>| {
            seen.push(entry.map(|one| (one.time, text(one.method), text(one.target))));
        };
        each(&file, &Options::default(), note).unwrap();
        let first = (Some(971_211_336), "HEAD".to_string(), "/a".to_string());
        let last = (Some(971_211_337), "POST".to_string(), "/b?c".to_string());
        assert_eq!(seen, [Some(first), None, Some(last)]);
    }

    #[test]
    fn what_is_no_log_is_an_error() {
        let (_kept, file) = log("hello\n");
        assert!(matches!(each(&file, &Options::default(), |_| ()), Err(ImportError::NotALog(_))));
    }
}
