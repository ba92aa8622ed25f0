//! How to get from one frame to its caller, decoded into a few bytes: one [`Row`] for one address of one image.

use gimli::{CfaRule, Encoding, Format, Operation, RegisterRule, UnwindContext, UnwindExpression};
use serde::{Deserialize, Serialize};

use super::frame_table::FrameTable;

/// Number of the stack pointer, the frame pointer and the instruction pointer in DWARF's numbering for x86-64.
pub(crate) const STACK_POINTER: u8 = 7;
pub(crate) const FRAME_POINTER: u8 = 6;
pub(crate) const INSTRUCTION_POINTER: u8 = 16;

/// r12, where Go keeps the return address of `syscall.rawVforkSyscall` (syscall/asm_linux_amd64.s).
const SAVED_BY_VFORK: u8 = 12;

/// The registers a callee keeps for its caller: rbx, rbp, r12 to r15.
pub(crate) const KEPT: [u8; 6] = [3, 6, 12, 13, 14, 15];

/// Where a register's value in the calling frame comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Rule {
    /// Unchanged.
    Same,
    /// Not to be had; for the return address: there is no caller.
    Undefined,
    /// In memory, at the canonical frame address plus this.
    AtFrame(i32),
    /// The canonical frame address plus this.
    FramePlus(i32),
    /// In another register.
    Register(u8),
    /// In memory, at the address an expression gives.
    AtExpression(Steps),
    /// What an expression gives.
    Expression(Steps),
}

/// The canonical frame address: the stack pointer's value in the caller, before its call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum FrameAddress {
    /// A register plus an offset.
    Register(u8, i32),
    /// What an expression gives.
    Expression(Steps),
}

/// An expression: few functions have any (procedure linkage tables, signal trampolines, hand-written ones).
pub(crate) type Steps = Box<[Step]>;

/// A step of an expression, which works on a stack of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Puts a number on top.
    Constant(u64),
    /// Puts a register and an offset on top.
    Register(u8, i64),
    /// Adds to the top.
    Add(u64),
    /// Puts a copy of what lies so far below the top onto it.
    Pick(u8),
    /// Takes the top away.
    Drop,
    /// Exchanges the top and what is below.
    Swap,
    /// Takes the top for an address, and puts what memory holds there in its place.
    Read,
    /// Negates the top.
    Negate,
    /// Puts what two give in their place.
    Of(Both),
}

/// What two numbers give, the upper one second; those that compare take them for signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Both {
    Plus,
    Minus,
    Times,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// One decoded row of unwind information.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Row {
    pub frame_address: FrameAddress,
    pub return_address: Rule,
    /// Rules of the registers in [`KEPT`].
    pub kept: [Rule; KEPT.len()],
    /// Rules of others, as signal frames have them.
    pub others: Option<Box<[(u8, Rule)]>>,
    /// Whether the caller was interrupted here by a signal, not by a call.
    pub signal: bool,
}

/// Expressions of real programs have fewer than twenty steps; none that jumps is followed.
const MOST_STEPS: usize = 100;

fn steps(table: &FrameTable, expression: &UnwindExpression<usize>) -> Option<Steps> {
    let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };
    let mut operations = expression.get(&table.section()).ok()?.operations(encoding);
    let mut steps = Vec::new();
    while let Some(operation) = operations.next().ok()? {
        if !matches!(operation, Operation::Nop) {
            steps.push(step(&operation)?);
        }
        if steps.len() > MOST_STEPS {
            return None;
        }
    }
    Some(steps.into())
}

/// None for what no row needs.
fn step<R: gimli::Reader>(operation: &Operation<R>) -> Option<Step> {
    Some(match *operation {
        Operation::UnsignedConstant { value } => Step::Constant(value),
        Operation::SignedConstant { value } => Step::Constant(value as u64),
        Operation::RegisterOffset { register, offset, .. } => Step::Register(general(register.0)?, offset),
        Operation::PlusConstant { value } => Step::Add(value),
        Operation::Pick { index } => Step::Pick(index),
        Operation::Drop => Step::Drop,
        Operation::Swap => Step::Swap,
        Operation::Deref { size: 8, space: false, .. } => Step::Read,
        Operation::Neg => Step::Negate,
        Operation::Plus => Step::Of(Both::Plus),
        Operation::Minus => Step::Of(Both::Minus),
        Operation::Mul => Step::Of(Both::Times),
        Operation::And => Step::Of(Both::And),
        Operation::Or => Step::Of(Both::Or),
        Operation::Xor => Step::Of(Both::Xor),
        Operation::Shl => Step::Of(Both::ShiftLeft),
        Operation::Shr => Step::Of(Both::ShiftRight),
        Operation::Eq => Step::Of(Both::Equal),
        Operation::Ne => Step::Of(Both::NotEqual),
        Operation::Lt => Step::Of(Both::Less),
        Operation::Le => Step::Of(Both::LessOrEqual),
        Operation::Gt => Step::Of(Both::Greater),
        Operation::Ge => Step::Of(Both::GreaterOrEqual),
        _ => return None,
    })
}

impl Row {
    /// Decodes the row for an address; None where the image has no (readable) information about it.
    pub(super) fn decode(table: &FrameTable, address: u64, context: &mut UnwindContext<usize>) -> Option<Row> {
        let entry = table.entry(address)?;
        let section = table.section();
        let row = entry.unwind_info_for_address(&section, &table.bases, context, address).ok()?;
        let frame_address = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                FrameAddress::Register(general(register.0)?, i32::try_from(*offset).ok()?)
            }
            CfaRule::Expression(expression) => FrameAddress::Expression(steps(table, expression)?),
        };
        // A row without a rule for the return address column says that it is undefined: the thread's first function.
        let mut decoded = Row {
            frame_address,
            return_address: Rule::Undefined,
            kept: [const { Rule::Same }; KEPT.len()],
            others: None,
            signal: entry.is_signal_trampoline(),
        };
        let mut others = Vec::new();
        for (register, rule) in row.registers() {
            let Some(register) = general(register.0) else { continue };
            let rule = decode_rule(table, rule)?;
            if register == INSTRUCTION_POINTER {
                decoded.return_address = rule;
            } else if let Some(place) = KEPT.iter().position(|kept| *kept == register) {
                decoded.kept[place] = rule;
            } else {
                others.push((register, rule));
            }
        }
        decoded.others = (!others.is_empty()).then(|| others.into());
        Some(decoded)
    }

    /// The row of a function without unwind information whose frame's size is known, as Go's tables tell it. Negative is what has taken
    /// its return address off the stack: Go's `vfork`, whose child shares the stack, has it in r12 meanwhile.
    pub fn of_frame_size(size: i32) -> Row {
        let mut kept = [const { Rule::Same }; KEPT.len()];
        if size > 0 {
            // Go's compiler saves the frame pointer directly below the return address.
            kept[1] = Rule::AtFrame(-16);
        }
        Row {
            frame_address: FrameAddress::Register(STACK_POINTER, size.saturating_add(8)),
            return_address: if size < 0 { Rule::Register(SAVED_BY_VFORK) } else { Rule::AtFrame(-8) },
            kept,
            others: None,
            signal: false,
        }
    }

    /// The row of a function that nobody called.
    pub fn of_first_function() -> Row {
        Row { return_address: Rule::Undefined, ..Row::of_frame_size(0) }
    }

    /// Whether it speaks of general registers only.
    pub fn is_sound(&self) -> bool {
        let is_general = |register: u8| register <= INSTRUCTION_POINTER;
        let is_step = |step: &Step| !matches!(step, Step::Register(register, _) if !is_general(*register));
        let is_rule = |rule: &Rule| match rule {
            Rule::Register(register) => is_general(*register),
            Rule::AtExpression(steps) | Rule::Expression(steps) => steps.iter().all(is_step),
            Rule::Same | Rule::Undefined | Rule::AtFrame(_) | Rule::FramePlus(_) => true,
        };
        let is_frame = match &self.frame_address {
            FrameAddress::Register(register, _) => is_general(*register),
            FrameAddress::Expression(steps) => steps.iter().all(is_step),
        };
        let mut others = self.others.iter().flatten();
        is_frame
            && self.kept.iter().chain([&self.return_address]).all(is_rule)
            && others.all(|(register, rule)| is_general(*register) && is_rule(rule))
    }
}

/// A general register's number; None for vector registers and the like, which no rule of interest uses.
fn general(register: u16) -> Option<u8> {
    u8::try_from(register).ok().filter(|register| *register <= INSTRUCTION_POINTER)
}

fn decode_rule(table: &FrameTable, rule: &RegisterRule<usize>) -> Option<Rule> {
    Some(match rule {
        RegisterRule::SameValue => Rule::Same,
        RegisterRule::Offset(offset) => Rule::AtFrame(i32::try_from(*offset).ok()?),
        RegisterRule::ValOffset(offset) => Rule::FramePlus(i32::try_from(*offset).ok()?),
        RegisterRule::Register(other) => Rule::Register(general(other.0)?),
        RegisterRule::Expression(expression) => Rule::AtExpression(steps(table, expression)?),
        RegisterRule::ValExpression(expression) => Rule::Expression(steps(table, expression)?),
        _ => Rule::Undefined,
    })
}
