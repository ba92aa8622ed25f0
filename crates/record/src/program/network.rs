//! Which network a program sees.

use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;

/// Which network a program sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// That of whyslow.
    #[default]
    Shared,
    /// A new network namespace in which only loopback is up; it vanishes with its last process.
    Own,
    /// That of another process of a subject's.
    Of(u32),
}

impl Network {
    /// The namespace of the process whose network is to be shared.
    pub(super) fn namespace(self) -> io::Result<Option<OwnedFd>> {
        let Network::Of(pid) = self else { return Ok(None) };
        broker::check_subject(pid)?;
        std::fs::File::open(format!("/proc/{pid}/ns/net")).map(|file| Some(OwnedFd::from(file)))
    }
}
