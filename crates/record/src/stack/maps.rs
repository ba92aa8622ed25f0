//! `/proc/PID/maps`, read into rows. Parsing does no I/O and takes any bytes: a line it cannot read is left out.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// One line of `/proc/PID/maps`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MapLine {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Whether code in it can run.
    pub executable: bool,
    /// Offset in the file of `start`.
    pub file_offset: u64,
    /// Device (major and minor) and inode of the file; zeros where there is none.
    pub file: FileKey,
    /// Path without the kernel's mark for deleted files; `[name]` for special mappings, empty for anonymous memory.
    pub path: String,
    /// Whether the file had lost its name when the line was written.
    pub deleted: bool,
}

/// What names a file for as long as somebody holds it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FileKey {
    pub device: u64,
    pub inode: u64,
}

impl FileKey {
    /// That of a file.
    pub fn of(metadata: &Metadata) -> FileKey {
        let device = metadata.dev();
        FileKey { device: u64::from(libc::major(device)) << 32 | u64::from(libc::minor(device)), inode: metadata.ino() }
    }
}

/// What is behind a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// A file with a path.
    File,
    /// The kernel's shared object of fast system calls.
    Vdso,
    /// Memory that the process filled itself.
    Memory,
    /// Something else of the kernel's, for example `[vsyscall]`.
    Other,
}

impl MapLine {
    /// What kind of thing is mapped.
    pub fn backing(&self) -> Backing {
        match self.path.as_str() {
            "[vdso]" => Backing::Vdso,
            "[heap]" | "[stack]" | "" => Backing::Memory,
            path if path.starts_with("[anon") => Backing::Memory,
            path if path.starts_with('[') => Backing::Other,
            // Shared memory without a name in any file system; a just-in-time compiler may put its code there.
            path if ["/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"].iter().any(|name| path.starts_with(name)) => {
                Backing::Memory
            }
            path if path.starts_with('/') => Backing::File,
            _ => Backing::Other,
        }
    }
}

/// Reads the whole file's text.
pub(super) fn parse(text: &[u8]) -> Vec<MapLine> {
    text.split(|byte| *byte == b'\n').filter_map(|line| parse_line(&String::from_utf8_lossy(line))).collect()
}

fn parse_line(line: &str) -> Option<MapLine> {
    // `start-end perms offset major:minor inode   path`, the path being the rest of the line, blanks included.
    let (range, rest) = line.split_once(' ')?;
    let (permissions, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (device, rest) = rest.split_once(' ')?;
    let (inode, path) = rest.split_once(' ').unwrap_or((rest, ""));
    let (start, end) = range.split_once('-')?;
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    let (major, minor) = device.split_once(':')?;
    let path = path.trim_start();
    let (path, deleted) = path.strip_suffix(" (deleted)").map_or((path, false), |path| (path, true));
    (start < end).then_some(MapLine {
        start,
        end,
        executable: permissions.as_bytes().get(2) == Some(&b'x'),
        file_offset: hexadecimal(offset)?,
        file: FileKey { device: hexadecimal(major)? << 32 | hexadecimal(minor)?, inode: inode.parse().ok()? },
        path: path.replace("\\012", "\n"),
        deleted,
    })
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::Backing::{File, Memory, Other, Vdso};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_with_a_path_that_holds_blanks_is_read() {
        let text = b"7f1000-7f2000 r-xp 00001000 fd:01 42                         /a b/c.so (deleted)\n";
        let lines = parse(text);
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].start, lines[0].end, lines[0].file_offset), (0x7f_1000, 0x7f_2000, 0x1000));
        assert_eq!(lines[0].file, FileKey { device: 0xfd << 32 | 1, inode: 42 });
        assert_eq!((lines[0].path.as_str(), lines[0].deleted, lines[0].executable), ("/a b/c.so", true, true));
        assert_eq!(lines[0].backing(), Backing::File);
    }

    #[test]
    fn special_mappings_are_distinguished() {
        let kinds = ["[vdso]", "", "[anon:v8]", "/memfd:jit", "[vsyscall]", "/bin/x"].map(|path| {
            let text = format!("1000-2000 r-xp 00000000 00:00 0 {path}");
            parse(text.as_bytes())[0].backing()
        });
        assert_eq!(kinds, [Vdso, Memory, Memory, Memory, Other, File]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            parse(&bytes);
        }

        #[test]
        fn nearly_right_lines_are_taken(line in "[0-9a-f]{1,18}-[0-9a-f]{1,18} [rwxp-]{0,4} [0-9a-f]{0,20} [0-9a-f]{1,20}:[0-9]{1,4} [0-9]{0,25}.{0,20}") {
            for row in parse(line.as_bytes()) {
                prop_assert!(row.start < row.end);
            }
        }
    }
}
