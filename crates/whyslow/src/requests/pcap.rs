//! What `pcap` is asked.

use super::case_folder_without_names;
use crate::arguments::PcapArguments;
use fail::Failure;
use studies::pcap::Request;

/// Finds the folder of the case.
pub fn request(typed: PcapArguments) -> Result<Request, Failure> {
    let names = typed.keep_names.into();
    let named_after = [typed.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()];
    Ok(Request {
        folder: case_folder_without_names(typed.folder.as_deref(), &named_after, names)?,
        names,
        file: typed.file,
        reading: diagnose::Options { all: typed.answer.all },
    })
}
