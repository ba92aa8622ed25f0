//! How to get from one frame to its caller, decoded into a few bytes: one [`Row`] for one address of one image.

use gimli::{CfaRule, RegisterRule, UnwindContext, UnwindExpression};

use super::frame_table::FrameTable;

/// Number of the stack pointer, the frame pointer and the instruction pointer in DWARF's numbering for x86-64.
pub(super) const STACK_POINTER: u8 = 7;
pub(super) const FRAME_POINTER: u8 = 6;
pub(super) const INSTRUCTION_POINTER: u8 = 16;

/// The registers a callee keeps for its caller: rbx, rbp, r12 to r15.
pub(super) const KEPT: [u8; 6] = [3, 6, 12, 13, 14, 15];

/// Where a register's value in the calling frame comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rule {
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
    AtExpression(u32),
    /// What an expression gives.
    Expression(u32),
}

/// The canonical frame address: the stack pointer's value in the caller, before its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FrameAddress {
    /// A register plus an offset.
    Register(u8, i32),
    /// What an expression gives.
    Expression(u32),
}

/// One decoded row of unwind information.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Row {
    pub frame_address: FrameAddress,
    pub return_address: Rule,
    /// Rules of the registers in [`KEPT`].
    pub kept: [Rule; KEPT.len()],
    /// Rules of others, as signal frames have them.
    pub others: Option<Box<[(u8, Rule)]>>,
    /// Whether the caller was interrupted here by a signal, not by a call.
    pub signal: bool,
}

/// Expressions that rows refer to by number. Few functions have any (procedure linkage tables, signal trampolines).
#[derive(Debug, Default)]
pub(super) struct Expressions(Vec<Box<[u8]>>);

impl Expressions {
    /// The bytes of one.
    pub fn get(&self, number: u32) -> Option<&[u8]> {
        self.0.get(number as usize).map(AsRef::as_ref)
    }

    fn number(&mut self, table: &FrameTable, expression: &UnwindExpression<usize>) -> Option<u32> {
        let bytes = expression.get(&table.section()).ok()?.0.slice();
        let known = self.0.iter().position(|other| &**other == bytes);
        let number = known.unwrap_or_else(|| {
            self.0.push(bytes.into());
            self.0.len() - 1
        });
        u32::try_from(number).ok()
    }
}

impl Row {
    /// Decodes the row for an address; None where the image has no (readable) information about it.
    pub fn decode(
        table: &FrameTable,
        address: u64,
        context: &mut UnwindContext<usize>,
        expressions: &mut Expressions,
    ) -> Option<Row> {
        let entry = table.entry(address)?;
        let section = table.section();
        let row = entry.unwind_info_for_address(&section, &table.bases, context, address).ok()?;
        let frame_address = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                FrameAddress::Register(general(register.0)?, i32::try_from(*offset).ok()?)
            }
            CfaRule::Expression(expression) => FrameAddress::Expression(expressions.number(table, expression)?),
        };
        // A row without a rule for the return address column says that it is undefined: the thread's first function.
        let mut decoded = Row {
            frame_address,
            return_address: Rule::Undefined,
            kept: [Rule::Same; KEPT.len()],
            others: None,
            signal: entry.is_signal_trampoline(),
        };
        let mut others = Vec::new();
        for (register, rule) in row.registers() {
            let Some(register) = general(register.0) else { continue };
            let rule = decode_rule(table, rule, expressions)?;
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

    /// The row of a function without unwind information whose frame's size is known, as Go's tables tell it.
    pub fn of_frame_size(size: i32) -> Row {
        let mut kept = [Rule::Same; KEPT.len()];
        if size > 0 {
            // Go's compiler saves the frame pointer directly below the return address.
            kept[1] = Rule::AtFrame(-16);
        }
        Row {
            frame_address: FrameAddress::Register(STACK_POINTER, size.saturating_add(8)),
            return_address: Rule::AtFrame(-8),
            kept,
            others: None,
            signal: false,
        }
    }

    /// The row of a function that nobody called.
    pub fn of_first_function() -> Row {
        Row { return_address: Rule::Undefined, ..Row::of_frame_size(0) }
    }
}

/// A general register's number; None for vector registers and the like, which no rule of interest uses.
fn general(register: u16) -> Option<u8> {
    u8::try_from(register).ok().filter(|register| *register <= INSTRUCTION_POINTER)
}

fn decode_rule(table: &FrameTable, rule: &RegisterRule<usize>, expressions: &mut Expressions) -> Option<Rule> {
    Some(match rule {
        RegisterRule::SameValue => Rule::Same,
        RegisterRule::Offset(offset) => Rule::AtFrame(i32::try_from(*offset).ok()?),
        RegisterRule::ValOffset(offset) => Rule::FramePlus(i32::try_from(*offset).ok()?),
        RegisterRule::Register(other) => Rule::Register(general(other.0)?),
        RegisterRule::Expression(expression) => Rule::AtExpression(expressions.number(table, expression)?),
        RegisterRule::ValExpression(expression) => Rule::Expression(expressions.number(table, expression)?),
        _ => Rule::Undefined,
    })
}
