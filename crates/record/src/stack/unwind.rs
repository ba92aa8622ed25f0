//! From one frame to its caller: the registers of a frame, and the ways to get those of the next.
//!
//! Three ways, best first: the row of unwind information; for the innermost frame, the assumption that it has not yet
//! moved the stack pointer; the chain of frame pointers. The last two are guesses and are checked: each return address
//! must be behind a call instruction, and frames must follow each other up the copied stack.

use gimli::{Encoding, EndianSlice, EvaluationResult, Expression, Format, LittleEndian, Location, Value};

use super::frame::Registers;
use super::row::{Expressions, FRAME_POINTER, FrameAddress, INSTRUCTION_POINTER, KEPT, Row, Rule, STACK_POINTER};

/// Expressions of real programs have fewer than twenty operations; a loop in one is not followed.
const MOST_OPERATIONS: u32 = 1000;

/// What one step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwound {
    /// The caller's registers are there.
    Caller,
    /// The same, the caller having been interrupted by a signal rather than having made a call.
    Interrupted,
    /// There is no caller.
    First,
    /// The caller is not to be had.
    Lost,
}

/// A frame's registers and the copied stack.
pub(super) struct Machine<'a> {
    registers: [u64; 17],
    /// One bit for each register whose value is known.
    known: u32,
    stack: &'a [u8],
    bottom: u64,
}

impl<'a> Machine<'a> {
    /// The innermost frame, all of whose registers are known.
    pub fn new(registers: &Registers, stack: &'a [u8]) -> Machine<'a> {
        Machine { registers: registers.0, known: (1 << 17) - 1, stack, bottom: registers.stack_pointer() }
    }

    /// The address that the frame is at, or returns to.
    pub fn instruction_pointer(&self) -> u64 {
        self.registers[usize::from(INSTRUCTION_POINTER)]
    }

    fn register(&self, number: u8) -> Option<u64> {
        (self.known & 1 << number != 0).then(|| self.registers[usize::from(number)])
    }

    fn read(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.wrapping_sub(self.bottom)).ok()?;
        let bytes = self.stack.get(offset..offset.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Steps by unwind information.
    pub fn by_row(&mut self, row: &Row, expressions: &Expressions) -> Unwound {
        if row.return_address == Rule::Undefined {
            return Unwound::First;
        }
        self.apply(row, expressions).unwrap_or(Unwound::Lost)
    }

    fn apply(&mut self, row: &Row, expressions: &Expressions) -> Option<Unwound> {
        let frame = match row.frame_address {
            FrameAddress::Register(register, offset) => self.register(register)?.wrapping_add_signed(i64::from(offset)),
            FrameAddress::Expression(number) => self.evaluate(expressions.get(number)?, None)?,
        };
        // A frame lies above the one it called. After a signal it may be on another stack.
        if !row.signal && frame <= self.register(STACK_POINTER)? {
            return None;
        }
        let return_address = self.value(INSTRUCTION_POINTER, row.return_address, frame, expressions)?;
        let mut registers = self.registers;
        let mut known = self.known;
        let mut set = |register: u8, value: Option<u64>| match value {
            Some(value) => {
                registers[usize::from(register)] = value;
                known |= 1 << register;
            }
            None => known &= !(1 << register),
        };
        // Unless a rule says otherwise the caller's stack pointer is the frame's address.
        set(STACK_POINTER, Some(frame));
        for (register, rule) in KEPT.iter().zip(&row.kept) {
            if *rule != Rule::Same {
                set(*register, self.value(*register, *rule, frame, expressions));
            }
        }
        for (register, rule) in row.others.iter().flatten() {
            set(*register, self.value(*register, *rule, frame, expressions));
        }
        set(INSTRUCTION_POINTER, Some(return_address));
        (self.registers, self.known) = (registers, known);
        Some(match (return_address, row.signal) {
            (0, _) => Unwound::First,
            (_, true) => Unwound::Interrupted,
            (_, false) => Unwound::Caller,
        })
    }

    fn value(&self, register: u8, rule: Rule, frame: u64, expressions: &Expressions) -> Option<u64> {
        match rule {
            Rule::Same => self.register(register),
            Rule::Undefined => None,
            Rule::AtFrame(offset) => {
                let place = frame.wrapping_add_signed(i64::from(offset));
                // At the end of a function, after its `pop`s, the compiler does not trouble to say that the register
                // has its caller's value again; what is below the stack pointer was popped.
                let popped = place < self.register(STACK_POINTER)? && register != INSTRUCTION_POINTER;
                if popped { self.register(register) } else { self.read(place) }
            }
            Rule::FramePlus(offset) => Some(frame.wrapping_add_signed(i64::from(offset))),
            Rule::Register(other) => self.register(other),
            Rule::AtExpression(number) => self.read(self.evaluate(expressions.get(number)?, Some(frame))?),
            Rule::Expression(number) => self.evaluate(expressions.get(number)?, Some(frame)),
        }
    }

    fn evaluate(&self, expression: &[u8], initial: Option<u64>) -> Option<u64> {
        let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };
        let mut evaluation = Expression(EndianSlice::new(expression, LittleEndian)).evaluation(encoding);
        evaluation.set_max_iterations(MOST_OPERATIONS);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let number = u8::try_from(register.0).ok().filter(|number| *number <= INSTRUCTION_POINTER)?;
                    evaluation.resume_with_register(Value::Generic(self.register(number)?)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                    evaluation.resume_with_memory(Value::Generic(self.read(address)?)).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.result().first()?.location {
            Location::Address { address } => Some(address),
            _ => None,
        }
    }

    /// Steps as from a function that has not moved the stack pointer: its return address is on top.
    pub fn by_leaf(&mut self, is_return_address: impl Fn(u64) -> bool) -> Unwound {
        let Some(top) = self.register(STACK_POINTER) else { return Unwound::Lost };
        let Some(return_address) = self.read(top).filter(|address| is_return_address(*address)) else {
            return Unwound::Lost;
        };
        self.registers[usize::from(STACK_POINTER)] = top.wrapping_add(8);
        self.registers[usize::from(INSTRUCTION_POINTER)] = return_address;
        Unwound::Caller
    }

    /// Steps along the chain of frame pointers.
    pub fn by_frame_pointer(&mut self, is_return_address: impl Fn(u64) -> bool) -> Unwound {
        self.follow_frame_pointer(is_return_address).unwrap_or(Unwound::Lost)
    }

    fn follow_frame_pointer(&mut self, is_return_address: impl Fn(u64) -> bool) -> Option<Unwound> {
        let frame = self.register(FRAME_POINTER)?;
        if frame < self.register(STACK_POINTER)? || !frame.is_multiple_of(8) {
            return None;
        }
        let (outer, return_address) = (self.read(frame)?, self.read(frame.wrapping_add(8))?);
        if return_address == 0 && outer == 0 {
            return Some(Unwound::First);
        }
        if !is_return_address(return_address) {
            return None;
        }
        self.registers[usize::from(FRAME_POINTER)] = outer;
        self.registers[usize::from(STACK_POINTER)] = frame.wrapping_add(16);
        self.registers[usize::from(INSTRUCTION_POINTER)] = return_address;
        // What the skipped function did with the other registers is not known.
        self.known = 1 << FRAME_POINTER | 1 << STACK_POINTER | 1 << INSTRUCTION_POINTER;
        Some(Unwound::Caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn registers(stack_pointer: u64, frame_pointer: u64) -> Registers {
        let mut registers = Registers::default();
        registers.0[usize::from(STACK_POINTER)] = stack_pointer;
        registers.0[usize::from(FRAME_POINTER)] = frame_pointer;
        registers
    }

    fn stack(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_register_popped_just_before_the_return_keeps_its_value() {
        let stack = stack(&[0x4000, 7, 0x5000]);
        let mut machine = Machine::new(&registers(0x1000, 0x1008), &stack);
        let mut row = Row::of_frame_size(0);
        row.kept[1] = Rule::AtFrame(-16);
        assert_eq!(machine.by_row(&row, &Expressions::default()), Unwound::Caller);
        assert_eq!(machine.instruction_pointer(), 0x4000);
        assert_eq!(machine.by_frame_pointer(|address| address == 0x5000), Unwound::Caller);
        assert_eq!(machine.instruction_pointer(), 0x5000);
    }

    #[test]
    fn a_chain_of_frame_pointers_may_only_lead_up_and_to_code() {
        let stack = stack(&[0, 0, 0x1000, 0x5000]);
        let mut down = Machine::new(&registers(0x1000, 0xff0), &stack);
        assert_eq!(down.by_frame_pointer(|_| true), Unwound::Lost);
        let mut beyond = Machine::new(&registers(0x1000, 0x1018), &stack);
        assert_eq!(beyond.by_frame_pointer(|_| true), Unwound::Lost);
        let mut data = Machine::new(&registers(0x1000, 0x1010), &stack);
        assert_eq!(data.by_frame_pointer(|address| address != 0x5000), Unwound::Lost);
        let mut first = Machine::new(&registers(0x1000, 0x1000), &stack);
        assert_eq!(first.by_frame_pointer(|_| true), Unwound::First);
    }

    proptest! {
        #[test]
        fn any_expression_is_taken(bytes in prop::collection::vec(any::<u8>(), 0..40), place in any::<u64>()) {
            let machine = Machine::new(&registers(place, place), &[0; 64]);
            machine.evaluate(&bytes, Some(place));
        }
    }
}
