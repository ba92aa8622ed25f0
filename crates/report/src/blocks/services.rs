//! What services did over time.

pub(crate) mod drawn;
pub(crate) mod lead;
pub(crate) mod table;
