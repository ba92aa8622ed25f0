//! An answer that is kept, for who wants to read it: a few headers, and the body up to a length.

use case::LoadFault;
use httparse::Header;

/// A header longer than this is not kept: no server means one.
const LONGEST_HEADER: usize = 4 << 10;

/// What a server has answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answered {
    pub status: u16,
    /// The headers that count, as they came; empty for those that did not.
    pub etag: String,
    pub last_modified: String,
    pub location: String,
    pub retry_after: String,
    pub coding: String,
    pub body: Vec<u8>,
}

/// An answer that is being read.
pub(crate) struct Kept {
    /// Bodies are kept up to this length; longer ones are faults.
    most: usize,
    current: Answered,
    /// The one that was read last.
    pub whole: Option<Answered>,
}

impl Kept {
    pub(crate) fn of(most: usize) -> Kept {
        Kept { most, current: Answered::default(), whole: None }
    }

    pub(crate) fn begin(&mut self, status: u16, headers: &[Header]) {
        let value = |name: &str| {
            let all = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            let mut text = all.filter_map(|header| std::str::from_utf8(header.value).ok()).map(str::trim);
            text.rfind(|text| text.len() <= LONGEST_HEADER).unwrap_or_default().to_string()
        };
        self.current = Answered {
            status,
            etag: value("etag"),
            last_modified: value("last-modified"),
            location: value("location"),
            retry_after: value("retry-after"),
            coding: value("content-encoding"),
            body: Vec::new(),
        };
    }

    /// That a body of so many bytes is on its way.
    pub(crate) fn expect(&mut self, length: u64) -> Result<(), LoadFault> {
        if length > self.most as u64 { Err(LoadFault::BodyTooLarge) } else { Ok(()) }
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), LoadFault> {
        if self.current.body.len() + bytes.len() > self.most {
            return Err(LoadFault::BodyTooLarge);
        }
        self.current.body.extend_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn end(&mut self) {
        self.whole = Some(std::mem::take(&mut self.current));
    }

    /// How much of a body there is so far.
    pub(crate) fn len(&self) -> usize {
        self.current.body.len()
    }
}
