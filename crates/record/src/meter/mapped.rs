//! An array of the kernel's, mapped for reading: one item a processor.

use crate::error::RecordError;
use crate::loaded::no_map;
use aya::maps::{Map, MapData};
use std::os::fd::{AsFd, AsRawFd};

/// The mapping. `T` is made of atomic integers only: the kernel writes it meanwhile.
pub(super) struct Mapped<T> {
    address: *const T,
    items: usize,
    /// The map that the memory belongs to.
    _map: MapData,
}

// SAFETY: the memory is only read, atomically, and stays mapped as long as this lives.
unsafe impl<T> Send for Mapped<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Mapped<T> {}

impl<T> Mapped<T> {
    /// Maps an array of that many items, each as large as `T`.
    pub fn new(map: Map, name: &str, items: usize) -> Result<Mapped<T>, RecordError> {
        let Map::Array(map) = map else { return Err(no_map(name)) };
        let descriptor = map.fd().as_fd().as_raw_fd();
        // SAFETY: a new mapping, at an address of the kernel's choice.
        let address = unsafe {
            libc::mmap(std::ptr::null_mut(), items * size_of::<T>(), libc::PROT_READ, libc::MAP_SHARED, descriptor, 0)
        };
        if address == libc::MAP_FAILED {
            return Err(RecordError::io("mapping the meter's sums")(std::io::Error::last_os_error()));
        }
        Ok(Mapped { address: address.cast_const().cast(), items, _map: map })
    }

    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = &T> {
        // SAFETY: within the mapping, which is aligned to a page, and which lives as long as the borrow.
        (0..self.items).map(|item| unsafe { &*self.address.add(item) })
    }
}

impl<T> Drop for Mapped<T> {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the mapping any more.
        unsafe { libc::munmap(self.address.cast_mut().cast(), self.items * size_of::<T>()) };
    }
}
