//! Whether a function was compiled without optimization, by its first instructions.
//!
//! A compiler that does not optimize gives each variable a place in memory, arguments included: the function sets its frame up,
//! stores what it was called with below the frame, and loads it from there again. GCC's and Clang's code for C and C++ looks like
//! that at -O0 and at no other level. Rust's and Go's does not.

/// How much of a function is looked at.
pub(super) const BYTES: u64 = 96;

/// `push %rbp; mov %rsp,%rbp`.
const FRAME: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];
/// `endbr64`, where jumps are checked.
const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
/// The numbers of a register and an addressing mode, as one byte behind an instruction (ModR/M): memory at -128 to 127 from %rbp,
const BELOW_FRAME: u8 = 0b01_000_101;
/// without the register's number.
const WITHOUT_REGISTER: u8 = 0b11_000_111;
/// The first argument's register, %rdi or %edi.
const FIRST_ARGUMENT: u8 = 7 << 3;

/// Whether the code at a function's start stores its first argument below its frame, and loads it from there soon.
pub(super) fn keeps_arguments_in_memory(code: &[u8]) -> bool {
    let code = code.strip_prefix(&LANDING).unwrap_or(code);
    let Some(rest) = code.strip_prefix(&FRAME).map(after_room) else { return false };
    // `mov %rdi,-8(%rbp)` or `mov %edi,-4(%rbp)`.
    let rest = rest.strip_prefix(&[0x48]).unwrap_or(rest);
    let &[0x89, mode, place, ref rest @ ..] = rest else { return false };
    // Below the frame, not in it: the distance is negative.
    let is_store = mode == BELOW_FRAME | FIRST_ARGUMENT && place >= 0x80;
    is_store && rest.windows(3).any(|window| loads(window, place))
}

/// The code behind what makes room for variables: `push %rbx` and `sub $n,%rsp`, where they are there.
fn after_room(code: &[u8]) -> &[u8] {
    let code = code.strip_prefix(&[0x53]).unwrap_or(code);
    match code {
        [0x48, 0x83, 0xec, _, rest @ ..] | [0x48, 0x81, 0xec, _, _, _, _, rest @ ..] => rest,
        _ => code,
    }
}

/// Whether an instruction loads from a place below the frame, or compares, adds or takes its address.
fn loads(window: &[u8], place: u8) -> bool {
    const LOAD_OR_WORK: [u8; 6] = [0x8b, 0x03, 0x2b, 0x3b, 0x83, 0x33];
    LOAD_OR_WORK.contains(&window[0]) && window[1] & WITHOUT_REGISTER == BELOW_FRAME && window[2] == place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gcc_writes_without_optimization_is_known() {
        // unsigned mix(unsigned r, unsigned c) { r ^= c; ... }, gcc -O0.
        let mix = [
            0x55, 0x48, 0x89, 0xe5, 0x89, 0x7d, 0xfc, 0x89, 0x75, 0xf8, 0x8b, 0x45, 0xf8, 0x31, 0x45, 0xfc, 0x8b, 0x45,
            0xfc,
        ];
        assert!(keeps_arguments_in_memory(&mix));
        // unsigned hash(const char *b, int n) with a local variable, gcc -O0.
        let hash = [
            0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x48, 0x89, 0x7d, 0xe8, 0x89, 0x75, 0xe4, 0xc7, 0x45, 0xfc,
            0, 0, 0, 0, 0x48, 0x8b, 0x45, 0xe8,
        ];
        assert!(keeps_arguments_in_memory(&hash));
        assert!(keeps_arguments_in_memory(&[&LANDING[..], &hash].concat()));
    }

    #[test]
    fn optimized_code_is_not_even_where_it_keeps_frames() {
        // push %rbp; mov %rsp,%rbp; push %r15; push %r14; mov %rdi,-0x38(%rbp): an argument that is kept for later.
        let kept = [0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x41, 0x56, 0x48, 0x89, 0x7d, 0xc8, 0x48, 0x8b, 0x45, 0xc8];
        assert!(!keeps_arguments_in_memory(&kept));
        // Stored below the frame and not read from there.
        assert!(!keeps_arguments_in_memory(&[0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x7d, 0xf8, 0xc3, 0, 0, 0]));
        // No frame: sub $0x18,%rsp; mov %rdi,0x8(%rsp); mov 0x8(%rsp),%rax.
        assert!(!keeps_arguments_in_memory(&[
            0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x7c, 0x24, 0x08, 0x48, 0x8b, 0x44, 0x24, 0x08
        ]));
        assert!(!keeps_arguments_in_memory(&[]) && !keeps_arguments_in_memory(&FRAME));
    }
}
