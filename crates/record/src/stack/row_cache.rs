//! Decoded rows, remembered by place: programs are seen at the same places again and again, and decoding one costs
//! about a hundred times what looking it up does.

use gimli::UnwindContext;
use rustc_hash::FxHashMap;

use super::image::Image;
use super::row::{Expressions, Row};

/// Places remembered before the cache starts anew: about 8 MB. A large C++ server shows about 50,000.
const MOST_PLACES: usize = 1 << 18;

/// Number of the row of places without unwind information.
const NONE: u32 = u32::MAX;

/// The cache, with what decoding needs.
#[derive(Default)]
pub(super) struct RowCache {
    places: FxHashMap<(u32, u64), u32>,
    rows: Vec<Row>,
    /// Many places share a row.
    numbers: FxHashMap<Row, u32>,
    expressions: Expressions,
    context: Box<UnwindContext<usize>>,
}

impl RowCache {
    /// The row for an address of an image, with the expressions it may refer to.
    pub fn row(&mut self, number: u32, image: &Image, address: u64) -> Option<(&Row, &Expressions)> {
        let row = match self.places.get(&(number, address)) {
            Some(row) => *row,
            None => self.decode(number, image, address),
        };
        Some((self.rows.get(row as usize)?, &self.expressions))
    }

    fn decode(&mut self, number: u32, image: &Image, address: u64) -> u32 {
        if self.places.len() >= MOST_PLACES {
            *self = RowCache::default();
        }
        let row = match image.row(address, &mut self.context, &mut self.expressions) {
            None => NONE,
            Some(row) => {
                let next = self.rows.len() as u32;
                let rows = &mut self.rows;
                *self.numbers.entry(row).or_insert_with_key(|row| {
                    rows.push(row.clone());
                    next
                })
            }
        };
        self.places.insert((number, address), row);
        row
    }
}
