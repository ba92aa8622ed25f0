//! The sizes that a Parquet file names: of its footer, of what that lists, and of each page.

use super::Budget;
use super::thrift::{self, Seen};
use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A footer is not larger: a table of ten million rows has one of some ten kilobytes.
const LARGEST_FOOTER_BYTES: u64 = 4 << 20;

/// Columns of a table, with the root that holds them: ours have up to forty.
const MOST_COLUMNS: u64 = 256;

/// A page is not larger once it is unfolded: ours have a megabyte, or what some hundred long values take.
const LARGEST_PAGE_BYTES: u64 = 16 << 20;

/// The head of a page is not longer: it names sizes, and the least and the greatest value.
const LONGEST_HEAD_BYTES: usize = 64 << 10;

/// Rows handed over at a time.
const READ_ROWS: u64 = 4_096;

/// The words of the rows that are handed over at a time take no more.
const WORDS_AT_A_TIME_BYTES: u64 = 64 << 20;

/// The last bytes: the footer's length and the format's name.
const TAIL_BYTES: u64 = 8;

/// The fields of a file's footer, by their numbers: its schema.
const SCHEMA: [i16; 1] = [2];

/// Those of a page's head: bytes unfolded, bytes in the file, values of a page of data (of either version) and of a dictionary.
const UNFOLDED: [i16; 1] = [2];
const IN_FILE: [i16; 1] = [3];
const VALUES: [[i16; 2]; 3] = [[5, 1], [7, 1], [8, 1]];

/// Reads the footer's outline.
pub(in crate::folder) fn check_footer(file: &File) -> Result<(), String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let cut = || "it is cut off".to_string();
    let end = length.checked_sub(TAIL_BYTES).ok_or_else(cut)?;
    let tail = bytes(file, end, TAIL_BYTES as usize).ok_or_else(cut)?;
    let (size, name) = tail.split_at(4);
    if name != b"PAR1" {
        return Err("it is no Parquet file, or cut off".to_string());
    }
    let size = size.first_chunk::<4>().map_or(0, |size| u64::from(u32::from_le_bytes(*size)));
    let start = end.checked_sub(size).filter(|_| size <= LARGEST_FOOTER_BYTES).ok_or("its footer is too large")?;
    let footer = bytes(file, start, size as usize).ok_or_else(cut)?;
    let mut columns = 0;
    let whole = thrift::structure(&footer, &mut |path, seen| match seen {
        Seen::List(length) if path == SCHEMA => columns = length,
        _ => {}
    });
    if whole.is_none() || columns > MOST_COLUMNS {
        return Err("its footer is absurd".to_string());
    }
    Ok(())
}

/// How many rows can be taken at a time, all sizes that the pages name being possible.
pub(in crate::folder) fn rows_at_a_time(
    file: &File,
    metadata: &ParquetMetaData,
    row_bytes: usize,
    budget: &Budget,
) -> Result<usize, String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let groups = metadata.row_groups();
    let rows = groups.iter().try_fold(0_u64, |sum, group| sum.checked_add(u64::try_from(group.num_rows()).ok()?));
    let rows = rows.ok_or("its number of rows is absurd")?;
    budget.allows(rows.saturating_mul(row_bytes as u64))?;
    let (mut unfolded, mut longest) = (0, 0);
    for group in groups {
        let mut words = 0;
        for column in group.columns() {
            let pages = Pages::of(file, length, column, group)?;
            unfolded += pages.unfolded;
            words += pages.longest_word;
        }
        longest = longest.max(words);
    }
    budget.allows(unfolded)?;
    Ok((WORDS_AT_A_TIME_BYTES / longest.max(1)).clamp(1, READ_ROWS) as usize)
}

/// The pages of one column in one piece of a table.
struct Pages {
    /// The bytes of all, unfolded.
    unfolded: u64,
    /// The longest word of its dictionary; 0 where it has none.
    longest_word: u64,
}

impl Pages {
    fn of(file: &File, length: u64, column: &ColumnChunkMetaData, group: &RowGroupMetaData) -> Result<Pages, String> {
        let absurd = || format!("the pages of column {} are absurd", column.column_path());
        let number = |number: i64| u64::try_from(number).ok();
        let first = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let (start, bytes) = number(first).zip(number(column.compressed_size())).ok_or_else(absurd)?;
        let end = start.checked_add(bytes).filter(|end| *end <= length).ok_or_else(absurd)?;
        let has_words = column.column_type() == Type::BYTE_ARRAY;
        let mut pages = Pages { unfolded: 0, longest_word: 0 };
        let mut at = start;
        while at < end {
            let page = Page::of(file, at, end).filter(|page| page.values <= group.num_rows()).ok_or_else(absurd)?;
            pages.unfolded += page.unfolded;
            if has_words && page.is_dictionary {
                let longest = page.longest_word(file, column.compression()).ok_or_else(absurd)?;
                pages.longest_word = pages.longest_word.max(longest);
            }
            at = page.end;
        }
        Ok(pages)
    }
}

struct Page {
    start: u64,
    end: u64,
    unfolded: u64,
    values: i64,
    is_dictionary: bool,
}

impl Page {
    fn of(file: &File, at: u64, end: u64) -> Option<Page> {
        let head = bytes(file, at, LONGEST_HEAD_BYTES.min((end - at) as usize))?;
        let (mut unfolded, mut in_file, mut values, mut is_dictionary) = (-1, -1, 0, false);
        let head = thrift::structure(&head, &mut |path, seen| match seen {
            Seen::Number(number) if path == UNFOLDED => unfolded = number,
            Seen::Number(number) if path == IN_FILE => in_file = number,
            Seen::Number(number) if VALUES.iter().any(|field| path == field) => {
                // A negative one is out of bounds as well.
                values = values.max(if number < 0 { i64::MAX } else { number });
                is_dictionary |= path == VALUES[1];
            }
            _ => {}
        })?;
        let unfolded = u64::try_from(unfolded).ok().filter(|bytes| *bytes <= LARGEST_PAGE_BYTES)?;
        let start = at + head as u64;
        let page_end = start.checked_add(u64::try_from(in_file).ok()?).filter(|page_end| *page_end <= end)?;
        Some(Page { start, end: page_end, unfolded, values, is_dictionary })
    }

    /// The longest word of a dictionary: each behind its length.
    fn longest_word(&self, file: &File, compression: Compression) -> Option<u64> {
        let folded = bytes(file, self.start, (self.end - self.start) as usize)?;
        let page = match compression {
            Compression::UNCOMPRESSED => folded,
            Compression::ZSTD(_) => zstd::bulk::decompress(&folded, self.unfolded as usize).ok()?,
            _ => return None,
        };
        let (mut rest, mut longest) = (&page[..], 0);
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length);
            rest = after.get(length as usize..)?;
            longest = longest.max(u64::from(length));
        }
        Some(longest)
    }
}

fn bytes(file: &File, at: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
}
