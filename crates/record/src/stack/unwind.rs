//! From one frame to its caller: the registers of a frame, and the ways to get those of the next.
//!
//! Three ways, best first: the row of unwind information; for the innermost frame, the assumption that it has not yet
//! moved the stack pointer; the chain of frame pointers. The last two are guesses and are checked: each return address
//! must be behind a call instruction, and frames must follow each other up the copied stack.

mod java;

use super::frame::Registers;
use crate::resolver::row::{
    Both, FRAME_POINTER, FrameAddress, INSTRUCTION_POINTER, KEPT, Row, Rule, STACK_POINTER, Step,
};

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
    pub fn by_row(&mut self, row: &Row) -> Unwound {
        if row.return_address == Rule::Undefined {
            return Unwound::First;
        }
        self.apply(row).unwrap_or(Unwound::Lost)
    }

    fn apply(&mut self, row: &Row) -> Option<Unwound> {
        let frame = match &row.frame_address {
            FrameAddress::Register(register, offset) => {
                self.register(*register)?.wrapping_add_signed(i64::from(*offset))
            }
            FrameAddress::Expression(steps) => self.evaluate(steps, None)?,
        };
        // A frame lies above the one it called, or where that is if nothing is left of it on the stack. After a signal it may be on
        // another.
        let least = u64::from(!matches!(row.return_address, Rule::Register(_)));
        if !row.signal && frame < self.register(STACK_POINTER)?.saturating_add(least) {
            return None;
        }
        let return_address = self.value(INSTRUCTION_POINTER, &row.return_address, frame)?;
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
                set(*register, self.value(*register, rule, frame));
            }
        }
        for (register, rule) in row.others.iter().flatten() {
            set(*register, self.value(*register, rule, frame));
        }
        set(INSTRUCTION_POINTER, Some(return_address));
        (self.registers, self.known) = (registers, known);
        Some(match (return_address, row.signal) {
            (0, _) => Unwound::First,
            (_, true) => Unwound::Interrupted,
            (_, false) => Unwound::Caller,
        })
    }

    fn value(&self, register: u8, rule: &Rule, frame: u64) -> Option<u64> {
        match *rule {
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
            Rule::AtExpression(ref steps) => self.read(self.evaluate(steps, Some(frame))?),
            Rule::Expression(ref steps) => self.evaluate(steps, Some(frame)),
        }
    }

    fn evaluate(&self, steps: &[Step], initial: Option<u64>) -> Option<u64> {
        let mut numbers = Vec::from_iter(initial);
        for step in steps {
            let top = match *step {
                Step::Constant(number) => number,
                Step::Register(register, offset) => self.register(register)?.wrapping_add_signed(offset),
                Step::Add(number) => numbers.pop()?.wrapping_add(number),
                Step::Pick(below) => *numbers.iter().rev().nth(usize::from(below))?,
                Step::Read => self.read(numbers.pop()?)?,
                Step::Negate => numbers.pop()?.wrapping_neg(),
                Step::Of(both) => {
                    let (second, first) = (numbers.pop()?, numbers.pop()?);
                    of_both(both, first, second)
                }
                Step::Swap => {
                    let (second, first) = (numbers.pop()?, numbers.pop()?);
                    numbers.push(second);
                    first
                }
                Step::Drop => {
                    numbers.pop()?;
                    continue;
                }
            };
            numbers.push(top);
        }
        numbers.pop()
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

/// What two numbers give, by DWARF's rules for untyped ones.
fn of_both(both: Both, first: u64, second: u64) -> u64 {
    let (left, right) = (first as i64, second as i64);
    let shifted = |by: fn(u64, u32) -> Option<u64>| u32::try_from(second).ok().and_then(|bits| by(first, bits));
    match both {
        Both::Plus => first.wrapping_add(second),
        Both::Minus => first.wrapping_sub(second),
        Both::Times => first.wrapping_mul(second),
        Both::And => first & second,
        Both::Or => first | second,
        Both::Xor => first ^ second,
        Both::ShiftLeft => shifted(u64::checked_shl).unwrap_or(0),
        Both::ShiftRight => shifted(u64::checked_shr).unwrap_or(0),
        Both::Equal => u64::from(left == right),
        Both::NotEqual => u64::from(left != right),
        Both::Less => u64::from(left < right),
        Both::LessOrEqual => u64::from(left <= right),
        Both::Greater => u64::from(left > right),
        Both::GreaterOrEqual => u64::from(left >= right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_return_address_that_was_taken_off_the_stack_is_in_a_register() {
        let stack = stack(&[7, 8]);
        let mut registers = registers(0x1000, 0x1008);
        registers.0[12] = 0x4000;
        let mut machine = Machine::new(&registers, &stack);
        assert_eq!(machine.apply(&Row::of_frame_size(-8)), Some(Unwound::Caller));
        let of = |register: u8| machine.register(register);
        assert_eq!((of(INSTRUCTION_POINTER), of(STACK_POINTER)), (Some(0x4000), Some(0x1000)));
    }

    #[test]
    fn a_register_popped_just_before_the_return_keeps_its_value() {
        let stack = stack(&[0x4000, 7, 0x5000]);
        let mut machine = Machine::new(&registers(0x1000, 0x1008), &stack);
        let mut row = Row::of_frame_size(0);
        row.kept[1] = Rule::AtFrame(-16);
        assert_eq!(machine.by_row(&row), Unwound::Caller);
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

    /// As the linker writes it for a table of stubs: one word more on the stack from a stub's eleventh byte on.
    #[test]
    fn the_expression_of_a_table_of_stubs_is_followed() {
        let both = Step::Of;
        let steps = [
            Step::Register(STACK_POINTER, 8),
            Step::Register(INSTRUCTION_POINTER, 0),
            Step::Constant(15),
            both(Both::And),
            Step::Constant(11),
            both(Both::GreaterOrEqual),
            Step::Constant(3),
            both(Both::ShiftLeft),
            both(Both::Plus),
        ];
        for (address, frame) in [(0x40_1020, 0x1008), (0x40_102b, 0x1010)] {
            let mut registers = registers(0x1000, 0);
            registers.0[usize::from(INSTRUCTION_POINTER)] = address;
            assert_eq!(Machine::new(&registers, &[0; 64]).evaluate(&steps, None), Some(frame));
        }
    }

    #[test]
    fn steps_that_find_nothing_to_work_on_give_nothing() {
        let machine = Machine::new(&registers(0x1000, 0), &[0; 64]);
        for steps in [&[][..], &[Step::Swap], &[Step::Drop], &[Step::Read], &[Step::Constant(8), Step::Read]] {
            assert_eq!(machine.evaluate(steps, None), None, "{steps:?}");
        }
        assert_eq!(
            machine.evaluate(&[Step::Constant(1), Step::Constant(64), Step::Of(Both::ShiftLeft)], None),
            Some(0)
        );
        assert_eq!(machine.evaluate(&[Step::Pick(0), Step::Swap, Step::Drop], Some(7)), Some(7));
    }
}
