//! An echo: a server that sends back what it gets.

use super::{Read, Reply};
use case::LoadFault;

/// Compares what comes back.
pub(crate) struct Reader {
    sent: Vec<u8>,
    at: usize,
}

impl Reader {
    pub(crate) fn of(sent: &[u8]) -> Reader {
        Reader { sent: sent.to_vec(), at: 0 }
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<Read, LoadFault> {
        let taken = bytes.len().min(self.sent.len() - self.at);
        if bytes[..taken] != self.sent[self.at..self.at + taken] {
            return Err(LoadFault::WrongEcho);
        }
        self.at += taken;
        let reply = (self.at == self.sent.len()).then_some(Reply { status: 0, fault: None, keeps: true });
        if reply.is_some() {
            self.at = 0;
        }
        Ok(Read { taken, reply })
    }

    pub(crate) fn closed(&self) -> LoadFault {
        if self.at == 0 { LoadFault::ClosedEarly } else { LoadFault::TruncatedBody }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_may_come_in_pieces_and_must_be_the_same() {
        let mut reader = Reader::of(b"hello");
        assert_eq!(reader.read(b"he"), Ok(Read { taken: 2, reply: None }));
        assert_eq!(reader.closed(), LoadFault::TruncatedBody);
        let whole = reader.read(b"llohe").expect("an echo");
        assert!(whole.taken == 3 && whole.reply.is_some());
        assert_eq!(reader.read(b"hex"), Err(LoadFault::WrongEcho));
    }
}
