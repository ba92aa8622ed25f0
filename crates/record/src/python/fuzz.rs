//! A door for fuzzers: it takes any bytes, gives no answer, and must come back.

use super::lines;

/// A table of lines, in each form that CPython has used, behind the first line and an instruction.
pub fn fuzz(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first_chunk::<4>() else { return };
    let Some((index, table)) = rest.split_first_chunk::<4>() else { return };
    let (first, index) = (u32::from_le_bytes(*first), u32::from_le_bytes(*index));
    lines::in_increments(table, first, index);
    lines::in_ranges(table, first, index);
    lines::in_locations(table, first, index);
}
