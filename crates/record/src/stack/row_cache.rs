//! Decoded rows, remembered by place: programs are seen at the same places again and again, and having one decoded costs
//! about a thousand times what looking it up does.

use crate::resolver::Resolver;
use crate::resolver::row::Row;
use rustc_hash::FxHashMap;

/// Places remembered before the cache starts anew: about 8 MB. A large C++ server shows about 50,000.
const MOST_PLACES: usize = 1 << 18;

/// Decoded at once at most; a copied stack has some fifty addresses of code in it, of which ten are new.
const MOST_AT_ONCE: usize = 256;

/// Number of the row of places without unwind information.
const NONE: u32 = u32::MAX;

/// The cache, with whoever decodes.
pub(super) struct RowCache {
    resolver: Resolver,
    places: FxHashMap<(u32, u64), u32>,
    rows: Vec<Row>,
    /// Many places share a row.
    numbers: FxHashMap<Row, u32>,
}

impl RowCache {
    /// Nothing decoded yet.
    pub fn new(resolver: &Resolver) -> RowCache {
        let (places, numbers) = (FxHashMap::default(), FxHashMap::default());
        RowCache { resolver: resolver.clone(), places, rows: Vec::new(), numbers }
    }

    /// The row for an address of an image. Where it is not known, `others` says what will soon be asked for as well.
    pub fn row(&mut self, place: (u32, u64), others: impl FnOnce() -> Vec<(u32, u64)>) -> Option<&Row> {
        let row = match self.places.get(&place) {
            Some(row) => *row,
            None => self.decode(place, others()),
        };
        self.rows.get(row as usize)
    }

    fn decode(&mut self, place: (u32, u64), mut others: Vec<(u32, u64)>) -> u32 {
        if self.places.len() >= MOST_PLACES {
            *self = RowCache::new(&self.resolver);
        }
        others.retain(|other| *other != place && !self.places.contains_key(other));
        others.insert(0, place);
        others.truncate(MOST_AT_ONCE);
        let rows = self.resolver.rows(&others);
        self.places.insert(place, NONE);
        for (place, row) in others.into_iter().zip(rows) {
            let number = row.map_or(NONE, |row| {
                let next = self.rows.len() as u32;
                let rows = &mut self.rows;
                *self.numbers.entry(row).or_insert_with_key(|row| {
                    rows.push(row.clone());
                    next
                })
            });
            self.places.insert(place, number);
        }
        self.places.get(&place).copied().unwrap_or(NONE)
    }
}
