//! Puts the tables into a page, between two markers; the rest of the page is written by hand.

use std::path::Path;
use std::{fs, io};

const BEGIN: &str = "<!-- calibration: begin, written by make calibrate -->\n";
const END: &str = "<!-- calibration: end -->\n";

/// Replaces what is between the markers of `page`.
pub fn put(page: &Path, tables: &str) -> io::Result<()> {
    let text = fs::read_to_string(page)?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        return Err(io::Error::other(format!("{} has no calibration markers", page.display())));
    };
    fs::write(page, format!("{before}{BEGIN}\n{tables}\n{END}{after}"))
}
