//! Reading another process's memory.

use std::io::IoSliceMut;

/// The longest string or table that is read; beyond it the pointer is taken for a wrong one.
pub(super) const LONGEST: usize = 1 << 20;

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
    let mut buffer = [0; 8];
    read(pid, address, &mut buffer).then(|| u64::from_le_bytes(buffer))
}

/// So many bytes.
pub(super) fn bytes(pid: u32, address: u64, length: usize) -> Option<Vec<u8>> {
    if length > LONGEST {
        return None;
    }
    let mut buffer = vec![0; length];
    read(pid, address, &mut buffer).then_some(buffer)
}
