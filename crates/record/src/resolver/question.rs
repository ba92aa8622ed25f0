//! What is asked of the resolver and what it answers: plain values, which whoever reads them checks as it would a stranger's.

use super::v8::V8;
use serde::{Deserialize, Serialize};

/// A question; where it is about a file, that comes along.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Question {
    /// The file that comes along is this image from now on: [`Facts`], where it is one.
    Load { image: u32 },
    /// How to get from addresses of images to their callers: for each a row, where there is one.
    Rows { places: Vec<(u32, u64)> },
    /// The file that comes along has an image's debug information: the [`Link`] to a part that it shares with others.
    Debug { image: u32 },
    /// The file that comes along is that part.
    Shared { image: u32 },
    /// What places in one image are: a [`Named`] each.
    Names { image: u32, places: Vec<Place> },
    /// The file that comes along is a map of generated code: start and name of the function at each address.
    Generated { addresses: Vec<u64> },
    /// Which runtime is in the file that comes along.
    Embedded,
    /// Which interpreter of scripts is in the file that comes along, and where.
    Interpreter,
    /// Which instructions a table of an interpreter's has on which lines.
    Lines { form: Form, first_line: u32, table: Vec<u8> },
}

/// What is known of an image once it was read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Where it begins; 0 for a library.
    pub entry: u64,
    /// What of it is loaded.
    pub segments: Segments,
    /// Whether it is a C library or dynamic loader.
    pub is_c_library: bool,
    /// The loader that it names.
    pub loader: Option<String>,
    /// Where its debug information is, if that is in another file.
    pub debug: Option<Link>,
}

/// How far from the entry point a program's hand-written first function reaches, where unwind data does not say.
const ENTRY_BYTES: u64 = 64;

impl Facts {
    /// Whether an address is in the code at the entry point, which nobody calls.
    pub fn is_entry(&self, address: u64) -> bool {
        self.entry != 0 && address.checked_sub(self.entry).is_some_and(|distance| distance < ENTRY_BYTES)
    }
}

/// Names another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Link {
    /// The name that it is given.
    pub name: String,
    /// The build that it belongs to, or is.
    pub build: Vec<u8>,
}

/// A part of a file that the loader maps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Segment {
    pub address: u64,
    pub file_offset: u64,
    pub file_bytes: u64,
    pub executable: bool,
}

/// All of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Segments(pub Vec<Segment>);

impl Segments {
    /// Those that hold code.
    pub fn of_code(&self) -> impl Iterator<Item = &Segment> {
        self.0.iter().filter(|segment| segment.executable)
    }

    /// Where in the file the bytes are that the loader puts at an address, and how many of `length` there are.
    pub fn in_file(&self, address: u64, length: u64) -> Option<(u64, u64)> {
        let holds = |segment: &&Segment| address >= segment.address && address - segment.address < segment.file_bytes;
        let segment = self.0.iter().find(holds)?;
        let within = address - segment.address;
        Some((segment.file_offset.checked_add(within)?, (segment.file_bytes - within).min(length)))
    }

    /// What to take off a process's address to get an address in the image, for a mapping of it.
    pub fn bias(&self, start: u64, file_offset: u64) -> Option<u64> {
        const PAGE: u64 = 4096;
        let holds = |segment: &&Segment| {
            let first = segment.file_offset & !(PAGE - 1);
            file_offset >= first && file_offset < segment.file_offset.saturating_add(segment.file_bytes)
        };
        // Two segments may share a page of the file; code is in the executable one.
        let segment = self.of_code().find(holds).or_else(|| self.0.iter().find(holds))?;
        let start_of_file = start.wrapping_sub(file_offset);
        Some(start_of_file.wrapping_sub(segment.address.wrapping_sub(segment.file_offset)))
    }
}

/// A place in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    pub address: u64,
    /// Image and return address of the call that led there.
    pub caller: Option<(u32, u64)>,
}

/// What a place is; empty and 0 where that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    pub function: String,
    /// Address of the function's first instruction.
    pub function_offset: u64,
    pub file: String,
    pub line: u32,
    /// Whether the function keeps its arguments in memory, as code does that was compiled without optimization.
    pub stores_arguments: bool,
}

/// The forms of interpreters' tables of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Form {
    /// CPython 3.9's `co_lnotab`.
    Increments,
    /// 3.10's `co_linetable` (PEP 626).
    Ranges,
    /// The location table of 3.11 and later.
    Locations,
    /// CRuby's: so many entries of so many bytes, the line first, and behind them where each begins, as ranks of positions in a
    /// sequence of so many words.
    Ranks { entries: u32, entry_bytes: u32, words: u32 },
    /// HotSpot's compressed table of a method with so many bytes of code.
    Compressed { code_bytes: u32, numbers: Numbers },
}

/// How HotSpot writes numbers of up to 32 bits into streams of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Numbers {
    /// Until JDK 19: any byte may begin one.
    WithZero,
    /// From JDK 20 on: each byte counts from 1.
    WithoutZero,
}

/// A runtime that is part of an executable or library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Embedded {
    #[default]
    None,
    Go,
    Node,
}

/// What an executable or library says about the interpreter in it. Addresses are as linked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ScriptImage {
    /// The address of the first byte of the file.
    pub first_address: u64,
    /// What it is of.
    pub of: ScriptImageOf,
}

/// By what it is found, and what version it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum ScriptImageOf {
    /// CPython.
    Python {
        /// `_PyRuntime`.
        runtime: u64,
        /// `Py_Version` (3.11 on).
        version_symbol: Option<u64>,
        /// The version that its cache tag names, looked for only where the symbol is missing.
        version_tag: Option<(u8, u8)>,
    },
    /// PHP.
    Php {
        /// `executor_globals`, which builds with threads do not have.
        globals: Option<u64>,
        /// The number of its interface for extensions (`ZEND_MODULE_API_NO`), a date; none where that is not of a plain build.
        interface: Option<u32>,
    },
    /// Perl.
    Perl {
        /// `PL_thr_key`, which builds without threads do not have.
        key: Option<u64>,
        version: (u8, u8),
    },
    /// CRuby.
    Ruby {
        /// `ruby_current_vm_ptr`, or the variable that is taken for it.
        machine: Option<u64>,
        version: (u8, u8),
    },
    /// V8, as Node brings it along.
    V8(V8),
    /// No interpreter, but glibc, which says where it keeps a thread's values by key (`_thread_db_pthread_specific`).
    ThreadValues { description: u64 },
    /// HotSpot, which says where it keeps what debuggers look for: the variables that point at its tables of fields, of types
    /// and of constants (`gHotSpotVMStructs`, `gHotSpotVMTypes`, `gHotSpotVMIntConstants`), and those that hold the size of their
    /// entries.
    HotSpot { tables: [u64; 3], strides: [u64; 3] },
}
