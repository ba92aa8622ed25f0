//! Which name a call was made by, read from the machine code before the return address. A stripped library keeps the
//! names of what it imports: they tell what was called where the called function itself has no name.

use super::image::Image;

/// The longest call instruction decoded here: `call *offset(%rip)`.
const LONGEST_CALL_BYTES: u64 = 6;
/// Enough for `endbr64; bnd jmp *offset(%rip)`.
const STUB_BYTES: u64 = 16;

/// What a call instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    /// Code at an address of the same image.
    Code(u64),
    /// Whatever a slot of the image's global offset table points at.
    Slot(u64),
}

/// Decodes the direct or slot call that ends at an address. `before` are the bytes before it.
pub(super) fn decode(before: &[u8], return_address: u64) -> Option<Callee> {
    let relative = |bytes: [u8; 4]| return_address.wrapping_add_signed(i64::from(i32::from_le_bytes(bytes)));
    match before {
        [.., 0xff, 0x15, a, b, c, d] => Some(Callee::Slot(relative([*a, *b, *c, *d]))),
        [.., 0xe8, a, b, c, d] => Some(Callee::Code(relative([*a, *b, *c, *d]))),
        _ => None,
    }
}

/// Whether the bytes before a return address can be a call at all: the test for a guessed return address.
pub(crate) fn ends_with_call(before: &[u8]) -> bool {
    // `call rel32`, or `ff /2` with a register or memory operand of 2, 3, 4, 6 or 7 bytes in all.
    let indirect = |length: usize| {
        let Some(start) = before.len().checked_sub(length) else { return false };
        before[start] == 0xff && (before[start + 1] >> 3) & 7 == 2
    };
    matches!(before, [.., 0xe8, _, _, _, _]) || [2, 3, 4, 6, 7].into_iter().any(indirect)
}

/// The slot that a stub of the procedure linkage table jumps through. `at` is the address of its first byte.
pub(super) fn decode_stub(stub: &[u8], at: u64) -> Option<u64> {
    const END_BRANCH: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    let rest = stub.strip_prefix(&END_BRANCH).unwrap_or(stub);
    let rest = rest.strip_prefix(&[0xf2]).unwrap_or(rest);
    let [0xff, 0x25, a, b, c, d, ..] = rest else { return None };
    let end = at.wrapping_add((stub.len() - rest.len() + 6) as u64);
    Some(end.wrapping_add_signed(i64::from(i32::from_le_bytes([*a, *b, *c, *d]))))
}

/// The name of the imported function that was called by the instruction before `return_address` of an image.
pub(super) fn imported_name(caller: &Image, return_address: u64) -> Option<String> {
    let before = caller.code(return_address.checked_sub(LONGEST_CALL_BYTES)?, LONGEST_CALL_BYTES)?;
    let slot = match decode(&before, return_address)? {
        Callee::Slot(slot) => slot,
        Callee::Code(target) => decode_stub(&caller.code(target, STUB_BYTES)?, target)?,
    };
    caller.symbols().import(slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direct_call_gives_its_target() {
        assert_eq!(decode(&[0x90, 0xe8, 0x10, 0, 0, 0], 0x1000), Some(Callee::Code(0x1010)));
        assert_eq!(decode(&[0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff], 0x1000), Some(Callee::Code(0xff0)));
    }

    #[test]
    fn a_call_through_the_offset_table_gives_its_slot() {
        assert_eq!(decode(&[0xff, 0x15, 0, 1, 0, 0], 0x1000), Some(Callee::Slot(0x1100)));
    }

    #[test]
    fn a_call_through_a_register_gives_nothing_but_is_a_call() {
        let before = [0x90, 0x90, 0x90, 0x90, 0xff, 0xd0];
        assert_eq!(decode(&before, 0x1000), None);
        assert!(ends_with_call(&before));
        assert!(!ends_with_call(&[0x90; 6]));
    }

    #[test]
    fn both_kinds_of_stub_are_followed() {
        assert_eq!(decode_stub(&[0xff, 0x25, 4, 0, 0, 0, 0x68, 0], 0x1000), Some(0x100a));
        assert_eq!(decode_stub(&[0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 4, 0, 0, 0, 0x90], 0x1000), Some(0x100f));
        assert_eq!(decode_stub(&[0x55, 0x48, 0x89, 0xe5], 0x1000), None);
    }
}
