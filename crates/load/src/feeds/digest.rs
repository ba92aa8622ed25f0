//! Digests of 64 bits, for what is kept to be compared and nothing else.

/// FNV-1a (Fowler, Noll, Vo), which stays the same from version to version of everything.
pub(crate) fn digest(text: &str) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    text.bytes().fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// The bytes of digests, one after the other.
pub(crate) fn to_bytes(digests: &[u64]) -> Vec<u8> {
    digests.iter().flat_map(|one| one.to_le_bytes()).collect()
}

/// The digests in such bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok().map(u64::from_le_bytes))
}
