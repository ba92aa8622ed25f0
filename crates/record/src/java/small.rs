//! A layout of structures that are as small as can be.

use super::layout::{CodeLayout, CompiledLayout, Layout, MethodLayout, Place, ScopesLayout};
use super::tables::At;
use crate::resolver::Numbers;

fn at(offset: usize, bytes: usize) -> At {
    At { offset, bytes }
}

impl Layout {
    /// One that fits into a page, for tests and fuzzers.
    pub fn small() -> Layout {
        let distance = |offset| Place::Distance(at(offset, 4));
        Layout {
            numbers: Numbers::WithZero,
            code: CodeLayout {
                heaps: 0x1000,
                list_length: at(0, 4),
                list_data: at(8, 8),
                memory: 0,
                segments: 24,
                segment_shift: at(48, 4),
                space_low: at(0, 8),
                space_first: at(8, 8),
                space_end: at(16, 8),
                block_bytes: 16,
                block_used: at(8, 1),
                blob_bytes: 24,
                blob_name: at(0, 8),
                blob_size: at(8, 4),
                frame_complete: at(12, 4),
                frame_words: at(16, 4),
                code_begin: distance(20),
            },
            compiled: CompiledLayout {
                bytes: 64,
                method: at(24, 8),
                number: at(32, 4),
                scopes: Some(ScopesLayout {
                    places: distance(36),
                    places_end: distance(40),
                    scopes: Place::Pointer(at(48, 8)),
                    methods: distance(44),
                }),
            },
            method: MethodLayout {
                constant: at(8, 8),
                constant_bytes: 24,
                constant_words: at(8, 4),
                pool: at(0, 8),
                flags: at(12, 2),
                has_lines: 1,
                code_bytes: at(14, 2),
                name: at(16, 2),
                pool_bytes: 16,
                pool_length: at(8, 4),
                holder: at(0, 8),
                class_bytes: 16,
                class_pool: at(0, 8),
                class_name: at(8, 8),
                source_in_pool: Some(at(12, 2)),
                source_in_class: None,
                symbol_length: at(0, 2),
                symbol_text: 2,
            },
        }
    }
}
