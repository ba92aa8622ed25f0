//! From an instruction to its line, in the formats that interpreters have used: a table is read once, as a whole.

use super::question::{Form, Numbers};

/// Where instructions end that are on a line, in bytes or (from 3.11 on) in code units, and that line; 0 for none. In order.
pub(crate) type Lines = Vec<(u32, u32)>;

/// Reads a table.
pub(super) fn read(form: Form, table: &[u8], first_line: u32) -> Lines {
    let mut lines = Lines::new();
    let mut add = |end: u32, line: i64| {
        let line = u32::try_from(line).unwrap_or(0);
        match lines.last_mut() {
            Some(last) if last.1 == line => last.0 = end,
            _ => lines.push((end, line)),
        }
    };
    match form {
        Form::Increments => in_increments(table, first_line, &mut add),
        Form::Ranges => in_ranges(table, first_line, &mut add),
        Form::Locations => in_locations(table, first_line, &mut add),
        Form::Ranks { entries, entry_bytes, words } => in_ranks(table, [entries, entry_bytes, words], &mut add),
        Form::Compressed { code_bytes, numbers } => compressed(table, code_bytes, numbers, &mut add),
    }
    lines
}

/// The line of an instruction; 0 where it has none.
pub(crate) fn line_at(lines: &[(u32, u32)], index: u32) -> u32 {
    lines.get(lines.partition_point(|(end, _)| *end <= index)).map_or(0, |(_, line)| *line)
}

/// 3.9's `co_lnotab`: pairs of byte and line increments.
fn in_increments(table: &[u8], first_line: u32, add: &mut impl FnMut(u32, i64)) {
    let (mut address, mut line) = (0_u32, i64::from(first_line));
    for pair in table.chunks_exact(2) {
        address += u32::from(pair[0]);
        add(address, line);
        line += i64::from(pair[1] as i8);
    }
    add(u32::MAX, line);
}

/// 3.10's `co_linetable` (PEP 626): pairs of length in bytes and line increment, -128 for code without a line.
fn in_ranges(table: &[u8], first_line: u32, add: &mut impl FnMut(u32, i64)) {
    let (mut end, mut line, mut has_line) = (0_u32, i64::from(first_line), true);
    for pair in table.chunks_exact(2) {
        end += u32::from(pair[0]);
        match pair[1] as i8 {
            -128 => has_line = false,
            0 => {}
            increment => {
                line += i64::from(increment);
                has_line = true;
            }
        }
        add(end, if has_line { line } else { 0 });
    }
}

/// The location table of 3.11 and later (`Objects/locations.md`), which counts in code units of two bytes.
fn in_locations(table: &[u8], first_line: u32, add: &mut impl FnMut(u32, i64)) {
    let (mut end, mut line, mut at) = (0_u32, i64::from(first_line), 0);
    while let Some(&first) = table.get(at) {
        let kind = first >> 3 & 15;
        end += u32::from(first & 7) + 1;
        let increment = match kind {
            // 13: a line; 14: a line, an end line and columns. The line comes first.
            13 | 14 => signed(&table[at + 1..]),
            // A line one to two further, or the same, and two bytes of columns.
            10..=12 => i64::from(kind) - 10,
            _ => 0,
        };
        line = line.saturating_add(increment);
        add(end, if kind == 15 { 0 } else { line });
        // Only the first byte of an entry has its top bit set.
        at += 1 + table[at + 1..].iter().take_while(|byte| **byte < 0x80).count();
    }
}

/// CRuby's entries, and the ranks of positions behind them: how many entries begin up to each word. Up to word 54 a rank has
/// seven bits, nine of them a word; beyond, blocks of 512 words have their first rank, seven ranks of nine bits that count from
/// it, and a bit for each word at which an entry begins (`succ_index_table` in `iseq.c`).
fn in_ranks(table: &[u8], [entries, entry_bytes, words]: [u32; 3], add: &mut impl FnMut(u32, i64)) {
    const FIRST: u32 = 54;
    const BLOCK_BYTES: usize = 80;
    let length = (entries as usize).saturating_mul(entry_bytes as usize);
    let Some((entries, ranks)) = table.split_at_checked(length) else { return };
    let word = |at: usize| ranks.get(at..).and_then(|rest| rest.first_chunk()).map(|bytes| u64::from_le_bytes(*bytes));
    let of_block = |at: u32| {
        let (block, within) = (at as usize / 512 * BLOCK_BYTES + FIRST as usize / 9 * 8, at as usize % 512);
        let small = within / 64;
        let before = if small == 0 { 0 } else { word(block + 8)? >> (9 * (small - 1)) & 0x1ff };
        let bits = word(block + 16 + small * 8)? << (63 - within % 64);
        Some((word(block)? & u64::from(u32::MAX)) + before + u64::from(bits.count_ones()))
    };
    for at in 0..words {
        let rank = match at.checked_sub(FIRST) {
            None => word(at as usize / 9 * 8).map(|nine| nine >> (7 * (at % 9)) & 0x7f),
            Some(beyond) => of_block(beyond),
        };
        let entry = rank.and_then(|rank| (rank as usize).checked_sub(1)?.checked_mul(entry_bytes as usize));
        let line = entry.and_then(|at| entries.get(at..)?.first_chunk::<4>());
        let Some(line) = line else { return };
        add(at + 1, i64::from(i32::from_le_bytes(*line)));
    }
}

/// HotSpot's pairs of increments of bytecode and line (`CompressedLineNumberReadStream`): both in one byte where they fit, behind
/// a byte of ones where not, until a byte of zeros. They come in any order of the bytecodes.
fn compressed(table: &[u8], code_bytes: u32, numbers: Numbers, add: &mut impl FnMut(u32, i64)) {
    const LONG: u8 = 0xff;
    let mut begins: Vec<(i64, i64)> = Vec::new();
    let (mut code, mut line, mut rest) = (0_i64, 0_i64, table);
    while let Some((&first, after)) = rest.split_first().filter(|(first, _)| **first != 0) {
        rest = after;
        let increments = if first == LONG {
            let mut next =
                || number(&mut rest, numbers).map(|number| i64::from((number >> 1) as i32 ^ -((number & 1) as i32)));
            let code = next();
            code.zip(next())
        } else {
            Some((i64::from(first >> 3), i64::from(first & 7)))
        };
        let Some((further, lines)) = increments else { break };
        (code, line) = (code + further, line + lines);
        begins.push((code, line));
    }
    begins.sort_by_key(|(code, _)| *code);
    let ends = begins.iter().skip(1).map(|(code, _)| *code).chain([i64::from(code_bytes)]);
    let first = begins.first().map_or(0, |(code, _)| *code);
    for (end, line) in [(first, 0)].into_iter().chain(ends.zip(begins.iter().map(|(_, line)| *line))) {
        if let Some(end) = u32::try_from(end).ok().filter(|end| (1..=code_bytes).contains(end)) {
            add(end, line);
        }
    }
}

/// The next number of a stream of HotSpot's (`UNSIGNED5`): of up to five bytes of six bits each, the lowest first; a byte of
/// at least 192 says that there is one more.
pub(crate) fn number(bytes: &mut &[u8], numbers: Numbers) -> Option<u32> {
    const MORE: u8 = 192;
    let less = match numbers {
        Numbers::WithZero => 0,
        Numbers::WithoutZero => 1,
    };
    let mut value = 0_u32;
    for group in 0..5 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value = value.wrapping_add(u32::from(byte.checked_sub(less)?) << (6 * group));
        if byte < MORE {
            break;
        }
    }
    Some(value)
}

/// A signed number in groups of six bits, the lowest first; the lowest bit is the sign.
fn signed(bytes: &[u8]) -> i64 {
    let mut value = 0_u64;
    for (group, byte) in bytes.iter().take(6).enumerate() {
        value |= u64::from(byte & 63) << (6 * group);
        if byte & 64 == 0 {
            break;
        }
    }
    let magnitude = (value >> 1) as i64;
    if value & 1 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(form: Form, table: &[u8], index: u32) -> u32 {
        line_at(&read(form, table, 10), index)
    }

    #[test]
    fn increments_count_up_and_down() {
        let table = [0, 1, 4, 2, 6, 0xff];
        let lines = [0, 3, 4, 9, 10, 50].map(|index| line(Form::Increments, &table, index));
        assert_eq!(lines, [11, 11, 13, 13, 12, 12]);
    }

    #[test]
    fn ranges_may_have_no_line() {
        let table = [4, 1, 2, 0x80, 4, 2];
        let lines = [0, 3, 4, 6, 9, 10].map(|index| line(Form::Ranges, &table, index));
        assert_eq!(lines, [11, 11, 0, 13, 13, 0]);
    }

    #[test]
    fn locations_have_entries_of_every_kind() {
        // Same line (short, 2 units); next line (one-line, 1 unit); no columns, -3 lines (1 unit); none (1 unit); long, +40.
        let table = [0x81, 0x12, 0xd8, 4, 9, 0xe8, 0b111, 0xf8, 0xf0, 0x50, 0x01, 0, 1, 2];
        let lines = [0, 1, 2, 3, 4, 5, 6].map(|index| line(Form::Locations, &table, index));
        assert_eq!(lines, [10, 10, 11, 8, 0, 48, 0]);
    }

    #[test]
    fn neighbours_on_one_line_are_one() {
        assert_eq!(read(Form::Ranges, &[2, 0, 2, 0, 2, 1, 2, 0x80], 10), [(4, 10), (6, 11), (8, 0)]);
    }

    /// Entries of eight bytes that begin at these words, and the ranks behind them.
    fn ranks(begins: &[usize], words: usize) -> Vec<u8> {
        let rank = |at: usize| begins.iter().filter(|begin| **begin <= at).count() as u64;
        let mut table: Vec<u8> = (1..=begins.len() as u64).flat_map(|line| (line * 10).to_le_bytes()).collect();
        for first in (0..54).step_by(9) {
            let nine: u64 = (0..9).map(|at| rank(first + at) << (7 * at)).sum();
            table.extend(nine.to_le_bytes());
        }
        for block in (54..words).step_by(512) {
            let before = if block == 0 { 0 } else { rank(block - 1) };
            table.extend(before.to_le_bytes());
            let small = (1..8).map(|small| (rank(block + small * 64 - 1) - before) << (9 * (small - 1))).sum::<u64>();
            table.extend(small.to_le_bytes());
            for bits in (block..block + 512).step_by(64) {
                let bits: u64 = (0..64).map(|at| u64::from(begins.contains(&(bits + at))) << at).sum();
                table.extend(bits.to_le_bytes());
            }
        }
        table
    }

    #[test]
    fn ranks_say_where_entries_begin_in_short_and_in_long_sequences() {
        let begins = [0, 3, 10, 53, 54, 70, 117, 118, 400, 565, 566, 567, 1100];
        let table = ranks(&begins, 1300);
        let form = Form::Ranks { entries: begins.len() as u32, entry_bytes: 8, words: 1300 };
        let lines = read(form, &table, 0);
        for at in 0..1300 {
            let entry = begins.iter().filter(|begin| **begin <= at).count() as u32;
            assert_eq!(line_at(&lines, at as u32), entry * 10, "word {at}");
        }
        assert_eq!(line_at(&lines, 1300), 0);
        let short = Form::Ranks { entries: 2, entry_bytes: 8, words: 9 };
        assert_eq!(read(short, &ranks(&[0, 4], 9), 0), [(4, 10), (9, 20)]);
    }

    const PLAIN: Numbers = Numbers::WithZero;

    #[test]
    fn a_compressed_table_has_short_and_long_pairs() {
        // Line 7 at 0 (long: +0, +7), line 9 at 4 (short: +4, +2), line 8 at 10 (long: +6, -1).
        let table = [0xff, 0, 14, 4 << 3 | 2, 0xff, 12, 1, 0];
        let form = Form::Compressed { code_bytes: 20, numbers: PLAIN };
        assert_eq!(read(form, &table, 0), [(4, 7), (10, 9), (20, 8)]);
        let counted_from_one = [0xff, 1, 15, 4 << 3 | 2, 0xff, 13, 2, 0];
        let form = Form::Compressed { code_bytes: 20, numbers: Numbers::WithoutZero };
        assert_eq!(read(form, &counted_from_one, 0), [(4, 7), (10, 9), (20, 8)]);
        // Cut in the middle of a pair, it says what came before.
        assert_eq!(read(form, &counted_from_one[..5], 0), [(4, 7), (20, 9)]);
    }

    #[test]
    fn entries_of_a_compressed_table_that_go_back_are_put_in_order() {
        // Line 5 at 8, line 3 at 2 (-6, -2).
        let table = [0xff, 16, 10, 0xff, 11, 3, 0];
        let form = Form::Compressed { code_bytes: 12, numbers: PLAIN };
        assert_eq!(read(form, &table, 0), [(2, 0), (8, 3), (12, 5)]);
    }

    #[test]
    fn numbers_of_hotspots_streams_have_up_to_five_bytes() {
        let all = |mut bytes: &[u8], numbers| std::iter::from_fn(|| number(&mut bytes, numbers)).collect::<Vec<_>>();
        assert_eq!(all(&[0, 191, 192, 0, 255, 1], PLAIN), [0, 191, 192, 255 + 64]);
        assert_eq!(all(&[1, 191, 192, 1, 255, 2], Numbers::WithoutZero), [0, 190, 191, 254 + 64]);
        assert_eq!(all(&[1, 0], Numbers::WithoutZero), [0], "a byte that is in none");
        assert_eq!(all(&[255; 9], PLAIN).len(), 1, "five, and then four without an end");
    }

    proptest! {
        #[test]
        fn no_table_makes_it_panic(table in proptest::collection::vec(any::<u8>(), 0..200), first: u32, index in 0u32..2000) {
            let ranks = Form::Ranks { entries: first, entry_bytes: index, words: u32::MAX };
            let compressed = Form::Compressed { code_bytes: first, numbers: Numbers::WithoutZero };
            for form in [Form::Increments, Form::Ranges, Form::Locations, ranks, compressed] {
                line_at(&read(form, &table, first), index);
            }
        }
    }
}
