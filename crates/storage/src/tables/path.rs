use crate::row::table;

table! {
    /// One path named by calls.
    pub struct Path in "paths" {
        /// Its id in calls.
        pub id: u32,
        /// The path as the program gave it.
        pub path: String as File,
    }
}
