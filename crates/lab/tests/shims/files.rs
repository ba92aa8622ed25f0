//! Shims that stand before files.

use crate::preload::Preloaded;
use lab::intervention_counters::ShimCounts;

/// Writes a file and asks in every way that it be on the disk; tells of each answer, and of the flags of what it opened.
const SYNCS: &str = r#"
import ctypes, fcntl, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
path = sys.argv[1]
with open(path, "w+b") as file:
    file.write(b"x" * 8192)
    file.flush()
    os.fsync(file.fileno())
    os.fdatasync(file.fileno())
    print(libc.syncfs(file.fileno()), libc.sync_file_range(file.fileno(), ctypes.c_long(0), ctypes.c_long(0), 2))
    with mmap.mmap(file.fileno(), 8192) as mapped:
        mapped[0] = 121
        mapped.flush()
for flag in os.O_SYNC, os.O_DSYNC:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | flag, 0o640)
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    print(flags & os.O_SYNC != 0 or flags & os.O_DSYNC != 0, flags & os.O_APPEND != 0, libc.fsync(fd))
    os.close(fd)
print(libc.fsync(999), ctypes.get_errno())
read, write = os.pipe()
print(libc.fsync(write), ctypes.get_errno())
print(os.stat(path).st_size, open(path, "rb").read(2))
fresh = os.open(path + ".fresh", os.O_WRONLY | os.O_CREAT | os.O_SYNC, 0o604)
print(oct(os.fstat(fresh).st_mode & 0o777))
"#;

fn syncs(parameter: &str) -> (String, ShimCounts) {
    let preloaded = Preloaded::new(&[("no-fsync", parameter)]);
    let file = preloaded.folder().join("file");
    let printed = preloaded.python(SYNCS, &[&file.display().to_string()]);
    (printed, preloaded.counts("no-fsync"))
}

#[test]
fn nothing_waits_for_the_disk_and_nothing_else_changes() {
    let (printed, counts) = syncs("on");
    let kept = "0 0\nFalse True 0\nFalse True 0\n-1 9\n-1 22\n8192 b'yx'\n0o604\n";
    assert_eq!(printed, kept);
    // fsync, fdatasync, syncfs, sync_file_range, msync, two flags, two syncs more, and the fresh file's flag.
    assert_eq!(counts.changed, 10);
}

#[test]
fn an_inert_shim_syncs_and_opens_as_asked() {
    let (printed, counts) = syncs("inert");
    assert_eq!(printed, "0 0\nTrue True 0\nTrue True 0\n-1 9\n-1 22\n8192 b'yx'\n0o604\n");
    assert_eq!((counts.loaded, counts.changed), (1, 0));
    assert_eq!(counts.seen, 12);
}

/// Reads a file past the page cache in every way that Python has, and throws it out of it; tells of flags and of what it read.
const PAST_THE_CACHE: &str = r#"
import fcntl, mmap, os, sys
path = sys.argv[1]
with open(path, "wb") as file:
    file.write(b"x" * 8192)
    file.flush()
    os.fsync(file.fileno())
fds = [os.open(path, os.O_RDONLY | os.O_DIRECT), os.open(path, os.O_RDONLY)]
fcntl.fcntl(fds[1], fcntl.F_SETFL, os.O_DIRECT | os.O_NONBLOCK)
page = mmap.mmap(-1, 4096)
for fd in fds:
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    print(flags & os.O_DIRECT != 0, flags & os.O_NONBLOCK != 0, os.preadv(fd, [page], 4096), page[:2])
os.posix_fadvise(fds[0], 0, 0, os.POSIX_FADV_DONTNEED)
os.posix_fadvise(fds[0], 0, 0, os.POSIX_FADV_SEQUENTIAL)
try:
    os.posix_fadvise(999, 0, 0, os.POSIX_FADV_DONTNEED)
except OSError as error:
    print(error.errno)
other = fcntl.fcntl(fds[0], fcntl.F_DUPFD, 50)
print(other >= 50, os.fstat(other).st_size)
"#;

fn past_the_cache(parameter: &str) -> (String, ShimCounts) {
    let preloaded = Preloaded::new(&[("cached-reads", parameter)]);
    let file = preloaded.folder().join("file");
    let printed = preloaded.python(PAST_THE_CACHE, &[&file.display().to_string()]);
    (printed, preloaded.counts("cached-reads"))
}

#[test]
fn what_is_read_may_stay_in_memory_and_nothing_else_changes() {
    let (printed, counts) = past_the_cache("on");
    assert_eq!(printed, "False False 4096 b'xx'\nFalse True 4096 b'xx'\n9\nTrue 8192\n");
    // Opened, set, and thrown out twice, of which one is refused as before.
    assert_eq!(counts.changed, 4);
}

#[test]
fn an_inert_shim_goes_past_the_cache() {
    let (printed, counts) = past_the_cache("inert");
    assert!(printed.ends_with("9\nTrue 8192\n"), "{printed}");
    assert_eq!((counts.loaded, counts.seen, counts.changed), (1, 4, 0));
}

#[test]
fn a_program_in_c_is_reached_by_the_names_of_large_files_and_of_checked_calls() {
    let program = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
int main(int count, char **arguments)
{
	const char *path = arguments[0];
	int fds[] = { open64(path, O_RDONLY | O_SYNC), openat(AT_FDCWD, path, O_RDONLY | O_SYNC),
		      openat64(AT_FDCWD, path, O_RDONLY | O_SYNC), __open_2(path, O_RDONLY | O_SYNC),
		      __open64_2(path, O_RDONLY | O_SYNC), __openat_2(AT_FDCWD, path, O_RDONLY | O_DSYNC),
		      __openat64_2(AT_FDCWD, path, O_RDONLY | O_DSYNC), open(path, O_RDONLY | O_SYNC) };
	for (int i = 0; i < 8; i++)
		if (fds[i] < 0 || fcntl(fds[i], F_GETFL) & O_SYNC)
			return 1 + i;
	sync();
	puts("opened");
}"#;
    let preloaded = Preloaded::new(&[("nothing", "on"), ("no-fsync", "on")]);
    assert_eq!(preloaded.c(program, &[]), "opened\n");
    assert_eq!(preloaded.counts("no-fsync").changed, 9);
}
