//! Where CPython keeps what, by version.
//!
//! The numbers for 3.9 to 3.12 are `offsetof` values, printed by a C program compiled against the internal headers of
//! 3.9.18, 3.10.13, 3.11.7 and 3.12.1 (64-bit, default build); a minor version keeps its layout from its first release on.
//! From 3.13 the interpreter publishes its own in `_Py_DebugOffsets`, at the start of `_PyRuntime`.

/// Where the frames of a process are; all but `runtime` are byte offsets.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Address of `_PyRuntime` in the process.
    pub runtime: u64,
    /// Of the first interpreter, in `_PyRuntimeState`.
    pub interpreters_head: u32,
    /// Of the first thread, in `PyInterpreterState`.
    pub threads_head: u32,
    /// Of the next thread, in `PyThreadState`.
    pub thread_next: u32,
    /// Of what `pthread_self()` returns in that thread, which is its fs base, in `PyThreadState`.
    pub thread_id: u32,
    /// Of the innermost frame (or of the `_PyCFrame` that has it), in `PyThreadState`.
    pub thread_frame: u32,
    /// Of the innermost frame in `_PyCFrame`.
    pub cframe_current_frame: u32,
    /// 1 where the frame is reached through a `_PyCFrame` (3.11 and 3.12), else 0.
    pub frame_through_cframe: u32,
    /// Of the code object, in a frame. Its three lowest bits are tags in 3.14.
    pub frame_code: u32,
    /// Of the instruction, in a frame: an address, or an index.
    pub frame_instruction: u32,
    /// 1 where the instruction is a 32-bit index (3.9 and 3.10; -1 before the first), else 0.
    pub instruction_is_index: u32,
    /// Of the calling frame, in a frame.
    pub frame_previous: u32,
}

impl Offsets {
    /// As the kernel side has them (`struct python_offsets`).
    pub(in crate::scripts) fn words(&self) -> [u32; 11] {
        [
            self.interpreters_head,
            self.threads_head,
            self.thread_next,
            self.thread_id,
            self.thread_frame,
            self.cframe_current_frame,
            self.frame_through_cframe,
            self.frame_code,
            self.frame_instruction,
            self.instruction_is_index,
            self.frame_previous,
        ]
    }
}

/// Where the parts of code objects and of what they refer to are, in bytes.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct CodeLayout {
    /// `co_filename`.
    pub filename: u32,
    /// `co_qualname`; `co_name` before 3.11, which has no other.
    pub function: u32,
    /// `co_firstlineno`.
    pub first_line: u32,
    /// `co_linetable`; `co_lnotab` in 3.9.
    pub line_table: u32,
    /// `co_code_adaptive`: the first instruction (3.11 on).
    pub instructions: u32,
    /// Size of `PyASCIIObject`: the characters of an ASCII string follow it.
    pub ascii_size: u32,
    /// Size of `PyCompactUnicodeObject`: the characters of other strings follow it.
    pub compact_size: u32,
}

/// A CPython that was found in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// Major and minor version.
    pub version: (u8, u8),
    /// Where its frames are.
    pub offsets: Offsets,
    /// Where the parts of its code objects are.
    pub code: CodeLayout,
}

/// Every object begins with its reference count and its type (default build, all versions).
pub(super) const OBJECT_TYPE: u64 = 8;
/// `tp_name` in `PyTypeObject` (all versions).
pub(super) const TYPE_NAME: u64 = 24;
/// `ob_size` of objects of variable size, such as bytes and (3.11 on) code objects.
pub(super) const OBJECT_SIZE: u64 = 16;
/// `ob_sval` in `PyBytesObject` (all versions).
pub(super) const BYTES_VALUE: u64 = 32;
/// `length` in `PyASCIIObject` (all versions).
pub(super) const TEXT_LENGTH: usize = 16;
/// `state` in `PyASCIIObject` (all versions).
pub(super) const TEXT_STATE: usize = 32;

/// The offsets of a version before 3.13.
pub(in crate::scripts) fn known(version: (u8, u8), runtime: u64) -> Option<Interpreter> {
    let offsets = Offsets { runtime, thread_next: 8, ..Offsets::default() };
    let (offsets, code) = match version {
        (3, 9) => (frame_objects(offsets, 104), CodeLayout { instructions: 0, ..old_code(48, 72) }),
        (3, 10) => (frame_objects(offsets, 96), old_code(48, 72)),
        (3, 11) => {
            let found = Offsets { threads_head: 16, thread_id: 152, cframe_current_frame: 8, ..offsets };
            (cframes(found, 32, 48), new_code(72, 184, 48, 72))
        }
        (3, 12) => {
            let found = Offsets { threads_head: 72, thread_id: 136, cframe_current_frame: 0, ..offsets };
            (cframes(found, 0, 8), new_code(68, 192, 40, 56))
        }
        _ => return None,
    };
    Some(Interpreter { version, offsets, code })
}

/// 3.9 and 3.10: frames are objects, and hold an index.
fn frame_objects(offsets: Offsets, last_index: u32) -> Offsets {
    Offsets {
        interpreters_head: 32,
        threads_head: 8,
        thread_id: 176,
        thread_frame: 24,
        frame_code: 32,
        frame_instruction: last_index,
        instruction_is_index: 1,
        frame_previous: 24,
        ..offsets
    }
}

/// 3.11 and 3.12: frames are reached through a `_PyCFrame`, and hold the previous instruction's address.
fn cframes(offsets: Offsets, code: u32, previous: u32) -> Offsets {
    Offsets {
        interpreters_head: 40,
        thread_frame: 56,
        frame_through_cframe: 1,
        frame_code: code,
        frame_instruction: 56,
        frame_previous: previous,
        ..offsets
    }
}

fn old_code(ascii_size: u32, compact_size: u32) -> CodeLayout {
    CodeLayout {
        filename: 104,
        function: 112,
        first_line: 40,
        line_table: 120,
        instructions: 0,
        ascii_size,
        compact_size,
    }
}

fn new_code(first_line: u32, instructions: u32, ascii_size: u32, compact_size: u32) -> CodeLayout {
    CodeLayout { filename: 112, function: 128, first_line, line_table: 136, instructions, ascii_size, compact_size }
}

/// `_Py_DebugOffsets` begins with this.
const COOKIE: &[u8] = b"xdebugpy";

/// So much of `_Py_DebugOffsets` is read: what is used of it lies before.
pub(in crate::scripts) const PUBLISHED_LENGTH: usize = 432;

/// Where in `_Py_DebugOffsets` the offsets stand. It grew in the middle from 3.13 to 3.14.
struct Published {
    thread_next: usize,
    previous: usize,
    filename: usize,
    instructions: usize,
}

/// 3.13.0's, by `offsetof`.
const PUBLISHED_3_13: Published = Published { thread_next: 168, previous: 232, filename: 280, instructions: 344 };

/// 3.14's, counted in `pycore_debug_offsets.h`: `interpreter_state` has three fields more, `interpreter_frame` two.
const PUBLISHED_3_14: Published = Published { thread_next: 192, previous: 256, filename: 320, instructions: 384 };

/// The offsets that 3.13 and 3.14 publish; `bytes` is the beginning of `_PyRuntime`.
pub(in crate::scripts) fn published(bytes: &[u8], runtime: u64) -> Option<Interpreter> {
    let at = |position: usize| Some(u64::from_le_bytes(*bytes.get(position..)?.first_chunk::<8>()?));
    let offset =
        |position: usize| at(position).and_then(|value| u32::try_from(value).ok()).filter(|value| *value < 1 << 24);
    if !bytes.starts_with(COOKIE) || at(16)? != 0 {
        return None;
    }
    // PY_VERSION_HEX: major, minor, micro and level, a byte each.
    let version = ((at(8)? >> 24) as u8, (at(8)? >> 16) as u8);
    let table = match version {
        (3, 13) => PUBLISHED_3_13,
        (3, 14) => PUBLISHED_3_14,
        _ => return None,
    };
    let offsets = Offsets {
        runtime,
        interpreters_head: offset(40)?,
        threads_head: offset(72)?,
        thread_next: offset(table.thread_next)?,
        thread_frame: offset(table.thread_next + 16)?,
        thread_id: offset(table.thread_next + 24)?,
        frame_previous: offset(table.previous)?,
        frame_code: offset(table.previous + 8)?,
        frame_instruction: offset(table.previous + 16)?,
        ..Offsets::default()
    };
    let code = CodeLayout {
        filename: offset(table.filename)?,
        function: offset(table.filename + 16)?,
        line_table: offset(table.filename + 24)?,
        first_line: offset(table.filename + 32)?,
        instructions: offset(table.instructions)?,
        ascii_size: 40,
        compact_size: 56,
    };
    Some(Interpreter { version, offsets, code })
}
