//! Reading another process's memory.

use std::io::IoSliceMut;

/// The longest string or table that is read; beyond it the pointer is taken for a wrong one.
pub(super) const LONGEST: usize = 1 << 20;

/// The longest name or path that is believed, in bytes.
pub(crate) const LONGEST_TEXT: usize = 4096;

/// Memory that is mapped, is mapped by the page.
const PAGE: u64 = 4096;

/// Whose memory is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Memory<'a> {
    /// A process's.
    Process(u32),
    /// Bytes that lie at an address, as a fuzzer makes them up.
    Given { start: u64, bytes: &'a [u8] },
}

impl Memory<'_> {
    /// Fills the buffer; whether all of it could be read.
    pub fn read(self, address: u64, buffer: &mut [u8]) -> bool {
        match self {
            Memory::Process(pid) => read(pid, address, buffer),
            Memory::Given { start, bytes } => {
                let from = address.checked_sub(start).and_then(|from| usize::try_from(from).ok());
                let found = from.and_then(|from| bytes.get(from..from.checked_add(buffer.len())?));
                found.is_some_and(|found| {
                    buffer.copy_from_slice(found);
                    true
                })
            }
        }
    }

    /// A fixed number of bytes.
    pub fn front<const N: usize>(self, address: u64) -> Option<[u8; N]> {
        let mut buffer = [0; N];
        (address != 0 && self.read(address, &mut buffer)).then_some(buffer)
    }

    /// One 64-bit word.
    pub fn word(self, address: u64) -> Option<u64> {
        self.front(address).map(u64::from_le_bytes)
    }

    /// So many bytes.
    pub fn bytes(self, address: u64, length: usize) -> Option<Vec<u8>> {
        if length > LONGEST {
            return None;
        }
        let mut buffer = vec![0; length];
        self.read(address, &mut buffer).then_some(buffer)
    }

    /// What lies before the next zero, as far as it is not too long to be believed.
    pub fn text(self, address: u64) -> Option<String> {
        let mut text = Vec::new();
        while address != 0 && text.len() < LONGEST_TEXT {
            let at = address.checked_add(text.len() as u64)?;
            // No further than the page reaches: the next one may not be there.
            let piece = self.bytes(at, (PAGE - at % PAGE).min(64) as usize)?;
            let end = piece.iter().position(|byte| *byte == 0);
            text.extend(&piece[..end.unwrap_or(piece.len())]);
            if end.is_some() {
                return Some(String::from_utf8_lossy(&text).into_owned());
            }
        }
        None
    }
}

/// Fills the buffer from the process's memory; whether all of it could be read.
pub(crate) fn read(pid: u32, address: u64, buffer: &mut [u8]) -> bool {
    let length = buffer.len();
    let mut local = [IoSliceMut::new(buffer)];
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
    // SAFETY: the local vector describes one live, writable buffer of `length` bytes (IoSliceMut has iovec's layout);
    // the remote address is checked by the kernel.
    let moved = unsafe {
        libc::process_vm_readv(pid as libc::pid_t, local.as_mut_ptr().cast::<libc::iovec>(), 1, &raw const remote, 1, 0)
    };
    if usize::try_from(moved) == Ok(length) {
        return true;
    }
    let is_refused = moved < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
    is_refused && crate::peer::memory(pid, address, local_buffer(&mut local))
}

fn local_buffer<'a>(local: &'a mut [IoSliceMut<'_>; 1]) -> &'a mut [u8] {
    &mut local[0]
}

/// One 64-bit word.
pub(super) fn word(pid: u32, address: u64) -> Option<u64> {
    Memory::Process(pid).word(address)
}

/// So many bytes.
pub(super) fn bytes(pid: u32, address: u64, length: usize) -> Option<Vec<u8>> {
    Memory::Process(pid).bytes(address, length)
}

/// A word of a buffer; 0 beyond its end.
pub(super) fn word_of(buffer: &[u8], offset: usize) -> u64 {
    buffer.get(offset..).and_then(|rest| rest.first_chunk::<8>()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Half of one; 0 beyond its end.
pub(crate) fn half_of(buffer: &[u8], offset: usize) -> u32 {
    buffer.get(offset..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// A digest of words, as the kernel side makes it (`mixed` in `bpf/script_frames.bpf.h`): FNV-1a, a word at a time.
pub(super) fn digest(words: &[u64]) -> u64 {
    let mixed = |hash: u64, word: &u64| (hash ^ word).wrapping_mul(1_099_511_628_211);
    let hash = words.iter().fold(14_695_981_039_346_656_037, mixed);
    hash ^ hash >> 29
}
