//! Files in which distributions keep the debug information of their programs (`libc6-dbg`, `-dbgsym`): found as debuggers do,
//! and handed to the resolver.

use crate::regular::open_regular;
use crate::resolver::{Link, Resolver};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Where they are.
const FOLDER: &str = "/usr/lib/debug";

/// Hands over the debug information of an image that has it in another file.
pub(super) fn give(resolver: &Resolver, image: u32, path: &str, link: &Link) {
    let beside = Path::new(path).parent().unwrap_or(Path::new("/"));
    let below = Path::new(FOLDER).join(beside.strip_prefix("/").unwrap_or(beside));
    let Some(file) = find(link, &[beside, &beside.join(".debug"), &below, Path::new(FOLDER)]) else { return };
    if let Some(shared) = resolver.give_debug(image, file)
        && let Some(file) = find(&shared, &[Path::new(FOLDER)])
    {
        resolver.give_shared(image, file);
    }
}

/// The file of a build, else one of that name in the folders. The resolver looks whether it belongs to the image.
fn find(link: &Link, folders: &[&Path]) -> Option<File> {
    let by_name = || {
        let name = Path::new(&link.name).file_name()?;
        folders.iter().find_map(|folder| open_regular(folder.join(name)))
    };
    of_build(&link.build).and_then(open_regular).or_else(by_name)
}

fn of_build(build: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let mut place = format!("{FOLDER}/.build-id/{first:02x}/");
    for byte in rest {
        // A string takes everything.
        let _ = write!(place, "{byte:02x}");
    }
    Some(PathBuf::from(place + ".debug"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_found_by_its_first_byte_and_the_others() {
        let place = of_build(&[0xbb, 0x04, 0x1e]);
        assert_eq!(place.as_deref(), Some(Path::new("/usr/lib/debug/.build-id/bb/041e.debug")));
        assert_eq!(of_build(&[0xbb]), None);
    }
}
