//! What an image has at an address as it was linked.

use object::{Object, ObjectSection};

/// The bytes that a file has at an address.
pub(super) fn constants<'data, const N: usize>(file: &impl Object<'data>, address: u64) -> Option<[u8; N]> {
    let section = file.sections().find(|one| address >= one.address() && address - one.address() < one.size())?;
    let bytes = section.data_range(address, N as u64).ok()??;
    bytes.try_into().ok()
}
