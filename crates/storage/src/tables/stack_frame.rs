use crate::row::table;

table! {
    /// One frame of one stack.
    pub struct StackFrame in "stacks" {
        /// The stack, by its id in calls and samples.
        pub stack: u32,
        /// 0 for the innermost frame.
        pub depth: u16,
        /// The place in the code.
        pub location: u32,
        /// Whether unwinding reached the thread's first function; the same in all frames of a stack.
        pub complete: bool,
    }
}
