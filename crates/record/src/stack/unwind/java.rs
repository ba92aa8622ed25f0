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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Registers;

    const STACK: u64 = 0x7000;
    const CODE: u64 = 0x4000;

    fn blob(kind: Kind, frame_bytes: u64) -> Blob {
        let mut blob = Blob::default();
        (blob.kind, blob.frame_bytes, blob.complete) = (kind, frame_bytes, CODE + 12);
        blob
    }

    /// Steps from an address, where return addresses are above 0x5000; the caller's address, stack and frame pointer.
    fn stepped(words: &[u64], frame: u64, (blob, address, at_instruction): (Blob, u64, bool)) -> Option<[u64; 3]> {
        let mut registers = Registers::default();
        registers.0[usize::from(STACK_POINTER)] = STACK;
        registers.0[usize::from(FRAME_POINTER)] = frame;
        let stack = words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let mut machine = Machine::new(&registers, &stack);
        let step = machine.by_blob(&blob, address, at_instruction, |address| (0x5000..0x6000).contains(&address));
        let known = |register| machine.register(register).unwrap_or_default();
        let caller = [INSTRUCTION_POINTER, STACK_POINTER, FRAME_POINTER].map(known);
        (step == Unwound::Caller).then_some(caller)
    }

    #[test]
    fn a_compiled_method_is_left_by_the_size_of_its_frame() {
        let words = [1, 2, 0x7777, 0x5001];
        let compiled = blob(Kind::Compiled, 32);
        assert_eq!(stepped(&words, 0, (compiled, CODE + 50, false)), Some([0x5001, STACK + 32, 0x7777]));
        assert_eq!(stepped(&words[..3], 0, (compiled, CODE + 50, false)), None, "cut");
        assert_eq!(stepped(&[1, 2, 3, 4], 0, (compiled, CODE + 50, false)), None, "no return address");
    }

    #[test]
    fn a_method_that_begins_or_ends_has_less_on_the_stack() {
        let compiled = blob(Kind::Compiled, 32);
        let begins = [0x5001, 2, 3, 0x5002];
        assert_eq!(stepped(&begins, 0x99, (compiled, CODE + 4, true)), Some([0x5001, STACK + 8, 0x99]));
        let pushed = [0x7777, 0x5001, 3, 0x5002];
        assert_eq!(stepped(&pushed, 0x99, (compiled, CODE + 4, true)), Some([0x5001, STACK + 16, 0x7777]));
        let ends = [0x5001, 2, 3, 4];
        assert_eq!(stepped(&ends, 0x99, (compiled, CODE + 50, true)), Some([0x5001, STACK + 8, 0x99]));
    }

    #[test]
    fn the_interpreter_is_left_by_its_frame_pointer_to_above_the_arguments_of_its_caller() {
        let words = |sender: u64| [0, 0, sender, 0x7777, 0x5001, 8, 9];
        let interpreter = blob(Kind::Interpreter, 0);
        let left = |sender| stepped(&words(sender), STACK + 24, (interpreter, CODE + 50, false));
        assert_eq!(left(STACK + 56), Some([0x5001, STACK + 56, 0x7777]));
        assert_eq!(left(STACK + 8), Some([0x5001, STACK + 40, 0x7777]), "below its own frame");
        assert_eq!(left(STACK + 40 + 256 * 8), Some([0x5001, STACK + 40, 0x7777]));
    }

    #[test]
    fn the_interpreters_bytecode_is_in_a_register_until_it_calls() {
        let mut registers = Registers::default();
        registers.0[usize::from(STACK_POINTER)] = STACK;
        registers.0[usize::from(FRAME_POINTER)] = STACK + 64;
        registers.0[usize::from(BYTECODE_REGISTER)] = 0x21;
        let stack = [0x20_u64, 0, 0, 0, 0, 0x1200, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let machine = Machine::new(&registers, &stack);
        assert_eq!(machine.interpreted(true), Some((0x1200, 0x21)));
        assert_eq!(machine.interpreted(false), Some((0x1200, 0x20)));
    }
}
