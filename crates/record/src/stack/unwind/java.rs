//! From a frame of HotSpot's to its caller. Compiled code keeps no frame pointer, but its frame's size is known; the
//! interpreter's frames hang together by theirs, and hold the method and the bytecode.

use super::{Machine, Unwound};
use crate::java::{Blob, Kind};
use crate::resolver::row::{FRAME_POINTER, INSTRUCTION_POINTER, STACK_POINTER};

/// Where an interpreter's frame has its parts, in bytes below the frame pointer: the same on x86-64 since JDK 9.
const SENDER_STACK: u64 = 8;
const METHOD: u64 = 24;
const BYTECODE: u64 = 64;

/// The register with the address of the bytecode that the interpreter is at.
const BYTECODE_REGISTER: u8 = 13;

/// Arguments that a compiled caller hands to an interpreted method take up to 255 words.
const LONGEST_ARGUMENTS: u64 = 255 * 8;

impl Machine<'_> {
    /// The method that the interpreter is in, and the address of its bytecode.
    pub fn interpreted(&self, at_instruction: bool) -> Option<(u64, u64)> {
        let frame = self.register(FRAME_POINTER)?;
        let method = self.read(frame.wrapping_sub(METHOD))?;
        // The frame's own is brought up to date before a call.
        let in_register = at_instruction.then(|| self.register(BYTECODE_REGISTER)).flatten();
        Some((method, in_register.or_else(|| self.read(frame.wrapping_sub(BYTECODE)))?))
    }

    /// Steps out of a blob.
    pub fn by_blob(
        &mut self,
        blob: &Blob,
        address: u64,
        at_instruction: bool,
        is_return_address: impl Fn(u64) -> bool + Copy,
    ) -> Unwound {
        match blob.kind {
            Kind::Interpreter => self.by_interpreter(is_return_address),
            _ if at_instruction => self.out_of_innermost(blob, address, is_return_address),
            _ if blob.frame_bytes > 0 => self.by_frame_of(blob.frame_bytes, is_return_address).unwrap_or(Unwound::Lost),
            _ => self.by_frame_pointer(is_return_address),
        }
    }

    fn by_interpreter(&mut self, is_return_address: impl Fn(u64) -> bool) -> Unwound {
        let Some(frame) = self.register(FRAME_POINTER) else { return Unwound::Lost };
        let sender = self.read(frame.wrapping_sub(SENDER_STACK));
        let step = self.by_frame_pointer(is_return_address);
        // A compiled caller's frame begins above the arguments that were put on the stack for this one.
        let above = frame.wrapping_add(16);
        if step == Unwound::Caller
            && let Some(sender) = sender.filter(|sender| sender.wrapping_sub(above) <= LONGEST_ARGUMENTS)
        {
            self.registers[usize::from(STACK_POINTER)] = sender;
        }
        step
    }

    /// The frame may not be made yet, or be gone already.
    fn out_of_innermost(
        &mut self,
        blob: &Blob,
        address: u64,
        is_return_address: impl Fn(u64) -> bool + Copy,
    ) -> Unwound {
        if blob.frame_bytes == 0 {
            return match self.by_leaf(is_return_address) {
                Unwound::Lost => self.by_frame_pointer(is_return_address),
                step => step,
            };
        }
        // Nothing but the return address is on the stack, or the frame pointer too, or everything is.
        let sizes = [8, 16, blob.frame_bytes];
        let in_order = |sizes: [u64; 3]| if address >= blob.complete { [sizes[2], sizes[0], sizes[1]] } else { sizes };
        in_order(sizes).into_iter().find_map(|size| self.by_frame_of(size, is_return_address)).unwrap_or(Unwound::Lost)
    }

    /// Steps over a frame of so many bytes, the last of which are the caller's frame pointer and the return address.
    fn by_frame_of(&mut self, bytes: u64, is_return_address: impl Fn(u64) -> bool) -> Option<Unwound> {
        let caller = self.register(STACK_POINTER)?.wrapping_add(bytes);
        let return_address = self.read(caller.wrapping_sub(8)).filter(|address| is_return_address(*address))?;
        let outer = if bytes > 8 { self.read(caller.wrapping_sub(16)) } else { self.register(FRAME_POINTER) };
        self.known = 1 << STACK_POINTER | 1 << INSTRUCTION_POINTER;
        if let Some(outer) = outer {
            self.registers[usize::from(FRAME_POINTER)] = outer;
            self.known |= 1 << FRAME_POINTER;
        }
        self.registers[usize::from(STACK_POINTER)] = caller;
        self.registers[usize::from(INSTRUCTION_POINTER)] = return_address;
        Some(Unwound::Caller)
    }
}
