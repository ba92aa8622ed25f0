//! The ioctls that programs ask sockets with.

/// The ioctls that ask for the length of a queue, and the one that makes a descriptor non-blocking (asm-generic/ioctls.h,
/// linux/sockios.h). SIOCINQ and SIOCOUTQ have the numbers of FIONREAD and TIOCOUTQ.
pub const TIOCOUTQ: u64 = 0x5411;
pub const FIONREAD: u64 = 0x541b;
pub const FIONBIO: u64 = 0x5421;
const SIOCOUTQNSD: u64 = 0x894b;

/// A queue whose length an ioctl asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// What has arrived and was not read.
    ToRead,
    /// What was written and is not sent, or not acknowledged.
    ToSend,
}

impl Queue {
    /// Whether an answer is one that makes a program ask again: nothing to read, something yet to send.
    pub fn is_not_ready(self, length: u64) -> bool {
        match self {
            Queue::ToRead => length == 0,
            Queue::ToSend => length > 0,
        }
    }
}

/// Whose length an ioctl asks for, if for one.
pub fn queue(command: u64) -> Option<Queue> {
    match command {
        FIONREAD => Some(Queue::ToRead),
        TIOCOUTQ | SIOCOUTQNSD => Some(Queue::ToSend),
        _ => None,
    }
}

/// What an ioctl is called.
pub fn name(command: u64) -> String {
    match command {
        TIOCOUTQ => "TIOCOUTQ".to_string(),
        SIOCOUTQNSD => "SIOCOUTQNSD".to_string(),
        FIONREAD => "FIONREAD".to_string(),
        FIONBIO => "FIONBIO".to_string(),
        other => format!("0x{other:x}"),
    }
}
