//! A file mapped into memory, to look at a few pages of a large one.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::AsRawFd;

/// The mapping; it ends with this.
pub(super) struct Mapping(&'static [u8]);

impl Mapping {
    /// Maps so much of a file, for reading.
    pub fn of(file: &File, length: u64) -> Option<Mapping> {
        let length = usize::try_from(length).ok().filter(|length| *length > 0)?;
        // SAFETY: a new mapping of a file that is open, wherever the kernel puts it.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
        };
        // SAFETY: the kernel says that so many bytes are there to be read. Who cuts the file off ends this process.
        (start != libc::MAP_FAILED).then(|| Mapping(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) }))
    }

    /// Reads all of a file in another way than by asking for each of its pieces; `None` where it is longer than `most` bytes.
    pub fn read<T>(file: File, most: u64, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let mut file = file;
        // Not by its metadata: who is shut in cannot ask for those.
        let length = file.seek(SeekFrom::End(0)).ok().filter(|length| *length <= most)?;
        Mapping::of(&file, length).map(|mapping| read(mapping.0))
    }

    /// Its bytes.
    ///
    /// # Safety
    /// They are there as long as the mapping is: whoever keeps them keeps that beside them.
    pub unsafe fn bytes(&self) -> &'static [u8] {
        self.0
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and nobody has the bytes any more.
        unsafe { libc::munmap(self.0.as_ptr().cast_mut().cast(), self.0.len()) };
    }
}
