//! Gopher (RFC 1436): all that comes until the server closes is the answer.

use super::{Read, Reply, Search};
use crate::plan::Expected;
use case::LoadFault;

/// Counts bytes until the end.
pub(crate) struct Reader {
    begun: bool,
    search: Search,
}

impl Reader {
    pub(crate) fn of(expected: &Expected) -> Reader {
        Reader { begun: false, search: Search::of(expected.body.as_ref()) }
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) -> Read {
        self.begun |= !bytes.is_empty();
        self.search.read(bytes);
        Read { taken: bytes.len(), reply: None }
    }

    pub(crate) fn closed(&mut self) -> Result<Reply, LoadFault> {
        if !self.begun {
            return Err(LoadFault::ClosedEarly);
        }
        Ok(Reply { status: 0, fault: self.search.fault(), keeps: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_with_the_connection_and_nothing_is_none() {
        let mut reader = Reader::of(&Expected { body: Some(b"menu".to_vec()), ..Expected::default() });
        assert_eq!(reader.closed(), Err(LoadFault::ClosedEarly));
        assert_eq!(reader.read(b"a me"), Read { taken: 4, reply: None });
        reader.read(b"nu\r\n");
        assert_eq!(reader.closed(), Ok(Reply { status: 0, fault: None, keeps: false }));
    }
}
