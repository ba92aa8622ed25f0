//! Programs that are gone, and the tree of files that they saw with them, before anybody looks.

use super::super::{CodeFile, Stacks};
use crate::resolver::Resolver;
use crate::{Program, Root};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// A file of the tree alone.
const LIBRARY: &str = "/opt/library.so";

#[test]
fn the_code_of_a_program_with_a_tree_of_its_own_is_found_though_it_is_gone() {
    if !testing::is_root() {
        return;
    }
    // The kernel refuses layers that lie in each other.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let [layer, place] = ["layer", "place"].map(|name| folder.path().join(name));
    fs::create_dir_all(layer.join("opt")).unwrap();
    fs::create_dir(&place).unwrap();
    fs::copy("/proc/self/exe", layer.join(&LIBRARY[1..])).unwrap();
    let root = Root { layers: vec![layer, "/".into()], shared: vec!["/proc".into()], place };
    let program =
        Program { arguments: ["sleep", "60"].map(Into::into).to_vec(), root: Some(root), ..Program::default() };

    let running = program.hold().unwrap();
    let pid = running.pid();
    let (mut stacks, mut forgetful) = (Stacks::new(&Resolver::new()), Stacks::new(&Resolver::new()));
    stacks.hold_root(pid);
    let inside = fs::metadata(format!("/proc/{pid}/root{LIBRARY}")).unwrap();
    drop(running);
    assert!(!fs::exists(format!("/proc/{pid}")).unwrap());

    let device = libc::major(inside.dev()) << 20 | libc::minor(inside.dev());
    let file = CodeFile { device, inode: inside.ino(), path: LIBRARY.to_string() };
    for stacks in [&mut stacks, &mut forgetful] {
        stacks.mapped(pid, &file, 0x7f00_0000_0000..0x7f00_0001_0000, 0);
    }
    assert_eq!(stacks.mapped_paths(pid), [(LIBRARY.to_string(), 0x7f00_0000_0000, 0)]);
    assert_eq!(forgetful.mapped_paths(pid), [], "nothing else holds the tree");
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(folder.path().to_str().unwrap()), "{mounts}");
}
