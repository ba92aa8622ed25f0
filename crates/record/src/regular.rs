//! Opening what a watched program names: a path of a foreign process may have become a pipe or a device by now.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file, and waits for nobody.
pub fn open_regular(path: impl AsRef<Path>) -> Option<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// The same for an executable that is read as a whole, section by section: not where its length, which need not be on any
/// disk, is that of no program.
pub fn open_image(path: impl AsRef<Path>) -> Option<File> {
    /// The largest interpreters have some ten megabytes, with debug information two hundred.
    const LARGEST_BYTES: u64 = 256 << 20;
    open_regular(path).filter(|file| file.metadata().is_ok_and(|found| found.len() <= LARGEST_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_devices_folders_and_terabytes_of_nothing_are_not_opened() {
        let home = tempfile::tempdir().expect("a folder");
        let path = |name: &str| home.path().join(name);
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        File::create(path("sparse")).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
        std::fs::write(path("file"), "").expect("written");
        assert!(open_regular(path("pipe")).is_none() && open_regular("/dev/zero").is_none());
        assert!(open_regular(home.path()).is_none());
        assert!(open_regular(path("sparse")).is_some() && open_image(path("sparse")).is_none());
        assert!(open_image(path("file")).is_some());
    }
}
