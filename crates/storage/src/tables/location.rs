use crate::row::table;

table! {
    /// One place in the code.
    pub struct Location in "locations" {
        /// Its id in stacks.
        pub id: u32,
        /// What kind of code it is; see `kind`.
        pub kind: u8,
        /// Path of the executable, library or script; `[kernel]`, `[vdso]`, `[java]`, `[jit]` or `[unknown]`.
        pub module: String as File,
        /// The function's demangled name; empty if it is not known for certain.
        pub function: String as Function,
        /// Offset in the module's file image of the function's first instruction (from unwind data): a stable
        /// identity if there is no name. 0 if unknown.
        pub function_offset: u64,
        /// Offset in the module's file image of the instruction.
        pub offset: u64,
        /// Source file; empty if unknown.
        pub file: String as File,
        /// Line in it; 0 if unknown.
        pub line: u32,
        /// Whether the module is a C library or dynamic loader, whose time belongs to its caller.
        pub is_libc: bool,
        /// Whether the function keeps its arguments in memory and loads them from there, as compilers write C and C++ without
        /// optimization.
        pub stores_arguments: bool = false,
    }
}

/// What kind of code a location is in.
pub mod kind {
    /// Compiled code of a file.
    pub const NATIVE: u8 = 0;
    /// The kernel.
    pub const KERNEL: u8 = 1;
    /// A line of a script.
    pub const SCRIPT: u8 = 2;
    /// Code generated at run time, without a file.
    pub const GENERATED: u8 = 3;
    /// An address in no known mapping.
    pub const UNKNOWN: u8 = 4;
}

/// What modules are called that are no files, where somebody has to know them.
pub mod module {
    /// Methods of Java programs, compiled or not: their names begin with their packages, and so do their files.
    pub const JAVA: &str = "[java]";
}
