use crate::row::table;

table! {
    /// One path that calls name.
    pub struct Path in "paths" {
        /// As calls name it.
        pub id: u32,
        /// The path as the program gave it.
        pub path: String,
    }
}
