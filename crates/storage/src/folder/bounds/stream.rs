//! The sizes that an Arrow stream names: of its messages, and of each buffer once it is unfolded.

use super::Budget;
use arrow_ipc::{CompressionType, Message, MessageHeader, Precision, RecordBatch, Schema, Type};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;

/// A message's description is not larger: it lists fields and buffers, some ten of each.
const LARGEST_HEAD_BYTES: u64 = 1 << 20;

/// Columns of a table: ours have up to forty.
const MOST_COLUMNS: usize = 256;

/// What stands before the length of each message's description.
const MARK: [u8; 4] = [0xff; 4];

/// Both.
const LEAD_BYTES: u64 = 8;

/// The length that each compressed buffer begins with, and the one which says that it is as it is.
const PREFIX_BYTES: u64 = 8;
const NOT_FOLDED: i64 = -1;

/// How many bytes from its beginning the stream is whole.
///
/// # Errors
/// Where a message that is whole names sizes that cannot be.
pub(in crate::folder) fn whole_part(file: &mut File, budget: &Budget) -> Result<u64, String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let (mut at, mut unfolded, mut places) = (0, 0, Vec::new());
    while let Some(lead) = bytes(file, at, LEAD_BYTES, length) {
        let (mark, size) = lead.split_at(4);
        let size = size.first_chunk::<4>().map_or(0, |size| u64::from(u32::from_le_bytes(*size)));
        if mark != MARK || size == 0 || size > LARGEST_HEAD_BYTES {
            break;
        }
        let Some(head) = bytes(file, at + LEAD_BYTES, size, length) else { break };
        let body = at + LEAD_BYTES + size;
        let Ok(message) = arrow_ipc::root_as_message(&head) else { break };
        let Some(end) = end_of_body(&message, body).filter(|end| *end <= length) else { break };
        let is_first = at == 0;
        if let Some(schema) = message.header_as_schema().filter(|_| is_first) {
            places = places_of_words(&schema);
        }
        unfolded += check(&message, is_first, &places, (&*file, body, end))?;
        budget.allows(unfolded)?;
        at = end;
    }
    Ok(at)
}

fn end_of_body(message: &Message<'_>, start: u64) -> Option<u64> {
    start.checked_add(u64::try_from(message.bodyLength()).ok()?)
}

/// What a message unfolds to.
fn check(message: &Message<'_>, is_first: bool, places: &[usize], body: (&File, u64, u64)) -> Result<u64, String> {
    match (message.header_type(), is_first) {
        (MessageHeader::Schema, true) => message.header_as_schema().filter(is_flat).map(|_| 0),
        (MessageHeader::RecordBatch, false) => {
            message.header_as_record_batch().and_then(|batch| buffers(&batch, places, body))
        }
        _ => None,
    }
    .ok_or_else(|| "a message of its stream is absurd".to_string())
}

/// Whether columns are of the types that ours have: none of others, none of a dictionary.
fn is_flat(schema: &Schema<'_>) -> bool {
    let Some(fields) = schema.fields() else { return false };
    let is_flat = |field: arrow_ipc::Field<'_>| {
        let is_plain = match field.type_type() {
            Type::Int => field.type_as_int().is_some_and(|number| matches!(number.bitWidth(), 8 | 16 | 32 | 64)),
            Type::FloatingPoint => {
                field.type_as_floating_point().is_some_and(|number| number.precision() == Precision::DOUBLE)
            }
            Type::Utf8 | Type::Bool => true,
            _ => false,
        };
        is_plain && field.children().is_none_or(|children| children.is_empty()) && field.dictionary().is_none()
    };
    fields.len() <= MOST_COLUMNS && fields.iter().all(is_flat)
}

/// Which buffers of a batch say where words begin: of a column of words the second of three, of others there are two.
fn places_of_words(schema: &Schema<'_>) -> Vec<usize> {
    let (mut number, mut places) = (0, Vec::new());
    for field in schema.fields().into_iter().flatten() {
        if field.type_type() == Type::Utf8 {
            places.push(number + 1);
            number += 1;
        }
        number += 2;
    }
    places
}

/// The bytes of all buffers, unfolded; each has the length that it says, and where words begin is said in whole numbers.
fn buffers(batch: &RecordBatch<'_>, places: &[usize], (file, start, end): (&File, u64, u64)) -> Option<u64> {
    let is_folded = match batch.compression().map(|compression| compression.codec()) {
        None => false,
        Some(CompressionType::LZ4_FRAME) => true,
        Some(_) => return None,
    };
    // Nothing of ours is missing, and all columns are as long as the batch.
    let is_whole = |node: &arrow_ipc::FieldNode| node.null_count() == 0 && node.length() == batch.length();
    if !batch.nodes()?.iter().all(is_whole) {
        return None;
    }
    let mut sum = 0_u64;
    for (number, buffer) in batch.buffers()?.iter().enumerate() {
        let (offset, length) = (u64::try_from(buffer.offset()).ok()?, u64::try_from(buffer.length()).ok()?);
        let from = start.checked_add(offset)?;
        let to = from.checked_add(length).filter(|to| *to <= end)?;
        let prefix =
            if is_folded && length >= PREFIX_BYTES { bytes(file, from, PREFIX_BYTES, end)? } else { Vec::new() };
        let before = sum;
        sum = match prefix.first_chunk::<8>().map(|prefix| i64::from_le_bytes(*prefix)) {
            None => sum.checked_add(length)?,
            Some(NOT_FOLDED) => sum.checked_add(length - PREFIX_BYTES)?,
            Some(0) => sum,
            Some(claimed) => {
                let claimed = u64::try_from(claimed).ok()?;
                let folded = bytes(file, from + PREFIX_BYTES, to - from - PREFIX_BYTES, end)?;
                let mut unfolded = lz4_flex::frame::FrameDecoder::new(&folded[..]).take(claimed.checked_add(1)?);
                let found = std::io::copy(&mut unfolded, &mut std::io::sink()).ok()?;
                sum.checked_add(claimed).filter(|_| found == claimed)?
            }
        };
        if places.contains(&number) && !(sum - before).is_multiple_of(size_of::<i32>() as u64) {
            return None;
        }
    }
    Some(sum)
}

fn bytes(file: &File, at: u64, length: u64, end: u64) -> Option<Vec<u8>> {
    at.checked_add(length).filter(|last| *last <= end)?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
}
