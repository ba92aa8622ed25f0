//! Go's own function table (`.gopclntab`): every Go program carries it, stripped or not, and it tells for each
//! instruction how large the frame is, and its function, file and line. The layout is that of Go 1.18 and later, as
//! described by `runtime/symtab.go` and `runtime.pcHeader`; older programs are walked by frame pointers.

use super::elf::{Elf, text_at};
use super::row::Row;

/// The header's first four bytes, by the version that introduced the layout.
const MAGIC_1_18: u32 = 0xffff_fff0;
const MAGIC_1_20: u32 = 0xffff_fff1;

/// Flag of a function that nobody called: where a goroutine or a thread begins.
const TOP_FRAME: u8 = 1;
/// Flag of a function that sets the stack pointer to another stack.
const WRITES_STACK_POINTER: u8 = 2;

/// Number of the table that tells which code was put inline; -1 for none.
const INLINED: u32 = 2;

/// The table with the places of its parts.
#[derive(Debug)]
pub(super) struct GoTable {
    bytes: Vec<u8>,
    text_start: u64,
    functions: usize,
    names: usize,
    units: usize,
    files: usize,
    programs: usize,
    table: usize,
    /// Where a function's record has its flags.
    flag_offset: usize,
}

/// One Go function.
pub(super) struct GoFunction {
    pub start: u64,
    pub name: String,
    record: usize,
    flags: u8,
}

impl GoTable {
    /// Reads the table, where the image has one that this code understands. `text_start` is the address of the
    /// symbol `runtime.text`, where that is known; it is the start of `.text` except in programs linked with C.
    pub fn read(elf: &Elf, text_start: Option<u64>) -> Option<GoTable> {
        let section = [".gopclntab", ".data.rel.ro.gopclntab"].iter().find_map(|name| elf.section(name))?;
        // A program linked by the C linker has its C parts' `.eh_frame`, and their code at the start of `.text`.
        let text = elf.section(".text").filter(|_| elf.section(".eh_frame").is_none()).map(|text| text.address);
        GoTable::parse(elf.bytes(section)?, text_start, text)
    }

    fn parse(bytes: Vec<u8>, symbol: Option<u64>, section: Option<u64>) -> Option<GoTable> {
        let magic = u32_at(&bytes, 0)?;
        let flag_offset = match magic {
            MAGIC_1_18 => 37,
            MAGIC_1_20 => 41,
            _ => return None,
        };
        if bytes.get(7) != Some(&8) {
            return None;
        }
        let place = |field: usize| usize::try_from(u64_at(&bytes, 8 + 8 * field)?).ok();
        // Since Go 1.26 the header no longer holds the text's address.
        let header_start = u64_at(&bytes, 24).filter(|start| *start != 0);
        Some(GoTable {
            text_start: symbol.or(header_start).or(section)?,
            functions: place(0)?.min(bytes.len() / 8),
            names: place(3)?,
            units: place(4)?,
            files: place(5)?,
            programs: place(6)?,
            table: place(7)?,
            flag_offset,
            bytes,
        })
    }

    /// The function that an address of the image is in.
    pub fn function(&self, address: u64) -> Option<GoFunction> {
        let offset = u32::try_from(address.checked_sub(self.text_start)?).ok()?;
        let (mut low, mut high) = (0, self.functions);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.entry(middle)? <= offset { low = middle + 1 } else { high = middle }
        }
        let number = low.checked_sub(1)?;
        // The table ends with the end of the last function.
        if offset >= self.entry(number + 1)? {
            return None;
        }
        let record = self.table.checked_add(u32_at(&self.bytes, self.table.checked_add(number * 8 + 4)?)? as usize)?;
        let name = self.names.checked_add(u32_at(&self.bytes, record.checked_add(4)?)? as usize)?;
        Some(GoFunction {
            start: self.text_start + u64::from(self.entry(number)?),
            name: text_at(&self.bytes, u32::try_from(name).ok()?)?,
            record,
            flags: *self.bytes.get(record.checked_add(self.flag_offset)?)?,
        })
    }

    fn entry(&self, number: usize) -> Option<u32> {
        u32_at(&self.bytes, self.table.checked_add(number.checked_mul(8)?)?)
    }

    /// How to get from an address to its caller.
    pub fn row(&self, address: u64) -> Option<Row> {
        let function = self.function(address)?;
        // `mcall` leaves the goroutine's stack for the thread's own, whose first frame it then is.
        if function.flags & TOP_FRAME != 0 || function.name == "runtime.mcall" {
            return Some(Row::of_first_function());
        }
        if function.flags & WRITES_STACK_POINTER != 0 {
            return None;
        }
        Some(Row::of_frame_size(self.value(&function, 16, address)?))
    }

    /// Source file and line of an address, in the function itself: for code put inline there, the line of the nearest
    /// instruction before it that was not, which as a rule is the call's (the compiler leaves a mark there).
    pub fn line(&self, address: u64) -> Option<(String, u32)> {
        let function = self.function(address)?;
        let address = self.before_inlined(&function, address).unwrap_or(address);
        let line = u32::try_from(self.value(&function, 24, address)?).ok()?;
        let file = usize::try_from(self.value(&function, 20, address)?).ok()?;
        let unit = u32_at(&self.bytes, function.record.checked_add(32)?)? as usize;
        let place = self.units.checked_add(unit.checked_add(file)?.checked_mul(4)?)?;
        let name = u32_at(&self.bytes, place)?;
        let name = self.files.checked_add(usize::try_from(name).ok()?)?;
        Some((text_at(&self.bytes, u32::try_from(name).ok()?)?, line))
    }

    fn before_inlined(&self, function: &GoFunction, address: u64) -> Option<u64> {
        let tables = u32_at(&self.bytes, function.record.checked_add(28)?)?;
        if tables <= INLINED {
            return None;
        }
        // The numbered tables follow the record, whose last field is the fourth byte of the flags' word.
        let field = self.flag_offset - 1 + 4 + 4 * INLINED as usize;
        let before = self.runs(function, field)?.take_while(|run| run.start <= address);
        before.filter(|run| run.value == -1).last().map(|run| address.min(run.end - 1))
    }

    fn value(&self, function: &GoFunction, field: usize, address: u64) -> Option<i32> {
        self.runs(function, field)?.find(|run| address < run.end).map(|run| run.value)
    }

    /// One of a function's tables of values by address: pairs of a change of the value and the number of bytes of
    /// code it holds for, beginning with -1 at the function's start.
    fn runs(&self, function: &GoFunction, field: usize) -> Option<Runs<'_>> {
        let offset = u32_at(&self.bytes, function.record.checked_add(field)?)?;
        if offset == 0 {
            return None;
        }
        let rest = self.bytes.get(self.programs.checked_add(offset as usize)?..)?;
        Some(Runs { rest, value: -1, function: function.start, at: function.start })
    }
}

/// A stretch of code for which a value holds.
struct Run {
    start: u64,
    end: u64,
    value: i32,
}

struct Runs<'a> {
    rest: &'a [u8],
    value: i32,
    function: u64,
    at: u64,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let change = variable_length(&mut self.rest)?;
        if change == 0 && self.at != self.function {
            return None;
        }
        let change = (change >> 1) as i32 ^ -((change & 1) as i32);
        self.value = self.value.wrapping_add(change);
        let start = self.at;
        let length = variable_length(&mut self.rest).filter(|length| *length > 0)?;
        self.at = start.checked_add(u64::from(length))?;
        Some(Run { start, end: self.at, value: self.value })
    }
}

fn variable_length(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for shift in (0..32).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let bytes = bytes.get(offset..offset.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_after_the_header_are_taken(rest in prop::collection::vec(any::<u8>(), 0..600), address in 0_u64..4096, small in any::<bool>()) {
            let mut bytes = vec![0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8];
            bytes.extend(rest);
            // Small numbers in the header lead the search into the bytes themselves.
            if small {
                for field in (8..72).step_by(8) {
                    if let Some(number) = bytes.get_mut(field + 1..field + 8) { number.fill(0) }
                }
            }
            if let Some(table) = GoTable::parse(bytes, Some(0), None) {
                table.row(address);
                table.line(address);
            }
        }
    }
}
