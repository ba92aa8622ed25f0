//! Where the parts of a HotSpot are, as its own tables say. A version whose tables lack one of them is not read.

use super::tables::{At, Tables};
use crate::resolver::Numbers;
use crate::scripts::memory::Memory;
use std::ops::RangeInclusive;

/// The versions of the JDK whose interpreter keeps its frames as `walk` expects, and whose scopes are written so; the tables
/// say neither. Tried: 11, 17, 21 and 25.
const VERSIONS: RangeInclusive<u64> = 11..=25;

/// From this version on numbers are written without bytes of zero (JDK-8293122).
const WITHOUT_ZERO: u64 = 20;

/// All that is looked at.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub numbers: Numbers,
    pub code: CodeLayout,
    pub compiled: CompiledLayout,
    pub method: MethodLayout,
}

/// The heaps of code and what is in them.
#[derive(Clone, Debug)]
pub(super) struct CodeLayout {
    /// The variable that points at the list of heaps.
    pub heaps: u64,
    pub list_length: At,
    pub list_data: At,
    /// A heap: its memory and its map of segments, both of which are spaces, and the segments' size.
    pub memory: usize,
    pub segments: usize,
    pub segment_shift: At,
    pub space_low: At,
    pub space_first: At,
    pub space_end: At,
    /// What stands before each blob.
    pub block_bytes: usize,
    pub block_used: At,
    pub blob_bytes: usize,
    pub blob_name: At,
    pub blob_size: At,
    pub frame_complete: At,
    pub frame_words: At,
    pub code_begin: Place,
}

/// Where something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A field has the address.
    Pointer(At),
    /// A field has the distance from the structure's beginning.
    Distance(At),
    /// From what one field points at, by the distance that another has.
    Within(At, At),
    /// The same, the distance being rounded up to words.
    BehindWords(At, At),
}

impl Place {
    /// The address, in a structure that was read at `start`.
    pub fn of(self, start: u64, structure: &[u8]) -> Option<u64> {
        let words = |bytes: u64| bytes.checked_next_multiple_of(8);
        match self {
            Place::Pointer(at) => at.of(structure),
            Place::Distance(at) => start.checked_add(at.of(structure)?),
            Place::Within(at, by) => at.of(structure)?.checked_add(by.of(structure)?),
            Place::BehindWords(at, by) => at.of(structure)?.checked_add(words(by.of(structure)?)?),
        }
    }
}

/// A compiled method.
#[derive(Clone, Debug)]
pub(super) struct CompiledLayout {
    pub bytes: usize,
    pub method: At,
    pub number: At,
    /// What says which bytecodes are where; none where that is kept in a way that is not known.
    pub scopes: Option<ScopesLayout>,
}

/// The descriptions of places, their scopes, and the methods that these name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScopesLayout {
    pub places: Place,
    pub places_end: Place,
    pub scopes: Place,
    pub methods: Place,
}

/// A method and what it leads to.
#[derive(Clone, Debug)]
pub(super) struct MethodLayout {
    pub constant: At,
    pub constant_bytes: usize,
    pub constant_words: At,
    pub pool: At,
    pub flags: At,
    pub has_lines: u64,
    pub code_bytes: At,
    pub name: At,
    pub pool_bytes: usize,
    pub pool_length: At,
    pub holder: At,
    pub class_bytes: usize,
    pub class_pool: At,
    pub class_name: At,
    pub source_in_pool: Option<At>,
    pub source_in_class: Option<At>,
    pub symbol_length: At,
    pub symbol_text: usize,
}

impl Layout {
    /// By the variables that [`Tables::read`] takes.
    pub fn read(memory: Memory<'_>, variables: [[u64; 3]; 2]) -> Option<Layout> {
        let tables = Tables::read(memory, variables)?;
        let version = tables.variable("Abstract_VM_Version", "_vm_major_version")?;
        let version = u64::from(memory.front(version).map(u32::from_le_bytes)?);
        if !VERSIONS.contains(&version) {
            return None;
        }
        let numbers = if version < WITHOUT_ZERO { Numbers::WithZero } else { Numbers::WithoutZero };
        Some(Layout { numbers, code: code(&tables)?, compiled: compiled(&tables)?, method: method(&tables)? })
    }
}

fn code(tables: &Tables) -> Option<CodeLayout> {
    let at = |kind, name| tables.field(kind, name);
    let lengths = || at("GrowableArrayBase", "_len").or_else(|| at("GenericGrowableArray", "_len"));
    let pointer = || at("CodeBlob", "_code_begin").map(Place::Pointer);
    Some(CodeLayout {
        heaps: tables.variable("CodeCache", "_heaps")?,
        list_length: lengths()?,
        list_data: at("GrowableArray<int>", "_data")?,
        memory: at("CodeHeap", "_memory")?.offset,
        segments: at("CodeHeap", "_segmap")?.offset,
        segment_shift: at("CodeHeap", "_log2_segment_size")?,
        space_low: at("VirtualSpace", "_low")?,
        space_first: at("VirtualSpace", "_low_boundary")?,
        space_end: at("VirtualSpace", "_high_boundary")?,
        block_bytes: tables.size("HeapBlock")?,
        block_used: at("HeapBlock::Header", "_used")?,
        blob_bytes: tables.size("CodeBlob")?,
        blob_name: at("CodeBlob", "_name")?,
        blob_size: at("CodeBlob", "_size")?,
        frame_complete: at("CodeBlob", "_frame_complete_offset")?,
        frame_words: at("CodeBlob", "_frame_size")?,
        code_begin: pointer().or_else(|| at("CodeBlob", "_code_offset").map(Place::Distance))?,
    })
}

fn compiled(tables: &Tables) -> Option<CompiledLayout> {
    let of_method = |name| tables.field("nmethod", name);
    let before_22 = |name| tables.field("CompiledMethod", name);
    let in_method = || {
        Some(ScopesLayout {
            places: Place::Distance(of_method("_scopes_pcs_offset")?),
            places_end: Place::Distance(of_method("_dependencies_offset")?),
            scopes: Place::Pointer(before_22("_scopes_data_begin")?),
            methods: Place::Distance(of_method("_metadata_offset")?),
        })
    };
    let beside = || {
        let data = of_method("_immutable_data")?;
        let within = |name| Some(Place::Within(data, of_method(name)?));
        let pair = tables.field("CodeBlob", "_mutable_data").zip(tables.field("CodeBlob", "_relocation_size"))?;
        Some(ScopesLayout {
            places: within("_scopes_pcs_offset")?,
            places_end: within("_scopes_data_offset")?,
            scopes: within("_scopes_data_offset")?,
            methods: Place::BehindWords(pair.0, pair.1),
        })
    };
    Some(CompiledLayout {
        bytes: tables.size("nmethod")?,
        method: before_22("_method").or_else(|| of_method("_method"))?,
        number: of_method("_compile_id")?,
        scopes: in_method().or_else(beside),
    })
}

fn method(tables: &Tables) -> Option<MethodLayout> {
    let at = |kind, name| tables.field(kind, name);
    let constant = |name| at("ConstMethod", name);
    let has_lines = tables.constant("ConstMethod::_has_linenumber_table");
    let has_lines = has_lines.or_else(|| tables.constant("ConstMethodFlags::_misc_has_linenumber_table"));
    Some(MethodLayout {
        constant: at("Method", "_constMethod")?,
        constant_bytes: tables.size("ConstMethod")?,
        constant_words: constant("_constMethod_size")?,
        pool: constant("_constants")?,
        flags: constant("_flags").or_else(|| constant("_flags._flags"))?,
        has_lines: u64::from(has_lines?),
        code_bytes: constant("_code_size")?,
        name: constant("_name_index")?,
        pool_bytes: tables.size("ConstantPool")?,
        pool_length: at("ConstantPool", "_length")?,
        holder: at("ConstantPool", "_pool_holder")?,
        class_bytes: tables.size("InstanceKlass")?,
        class_pool: at("InstanceKlass", "_constants")?,
        class_name: at("Klass", "_name")?,
        source_in_pool: at("ConstantPool", "_source_file_name_index"),
        source_in_class: at("InstanceKlass", "_source_file_name_index"),
        symbol_length: at("Symbol", "_length")?,
        symbol_text: at("Symbol", "_body")?.offset,
    })
}
