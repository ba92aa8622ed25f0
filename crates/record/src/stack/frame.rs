//! What a walk takes and gives.

use crate::resolver::row::{FRAME_POINTER, INSTRUCTION_POINTER, STACK_POINTER};

/// A thread's general registers in DWARF's numbering: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15, then rip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(pub [u64; 17]);

impl Registers {
    /// The stack pointer, where the copied stack begins.
    pub fn stack_pointer(&self) -> u64 {
        self.0[usize::from(STACK_POINTER)]
    }

    /// The frame pointer, where the program keeps one.
    pub fn frame_pointer(&self) -> u64 {
        self.0[usize::from(FRAME_POINTER)]
    }

    /// The instruction pointer.
    pub fn instruction_pointer(&self) -> u64 {
        self.0[usize::from(INSTRUCTION_POINTER)]
    }
}

/// One frame of one stack: a place in an image, the same for all processes that have the image mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub(super) image: u32,
    /// Whether the thread was at this very instruction, and not in a call that it made.
    pub(super) at_instruction: bool,
    /// The instruction's address in the image; of a call, the address of its last byte.
    pub(super) address: u64,
}

impl Frame {
    /// Where the call that this frame made returns to; None where it made none.
    pub(super) fn return_address(self) -> Option<u64> {
        (!self.at_instruction).then(|| self.address.wrapping_add(1))
    }
}

/// One stack, walked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// Whether the walk reached the thread's first function.
    pub complete: bool,
}
