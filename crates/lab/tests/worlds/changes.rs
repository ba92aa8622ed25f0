//! Worlds from the outside: what runs in one changes nothing of the host.

use lab::worlds::{Ready, Store, Wanted, WorldName, prepare};
use record::{Output, ParentDeathSignal, Program};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A number that any change of a folder's listing changes: names, sizes and times of change, all the way down.
fn listing(folder: &Path, hasher: &mut DefaultHasher) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths = entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    paths.sort();
    for path in paths {
        let Ok(found) = path.symlink_metadata() else { continue };
        (&path, found.len(), found.mtime(), found.mtime_nsec(), found.mode(), found.uid()).hash(hasher);
        if found.is_dir() {
            listing(&path, hasher);
        }
    }
}

/// Of what must not change on the host: dpkg's state, its programs, and its libraries.
fn host() -> u64 {
    let mut hasher = DefaultHasher::new();
    std::fs::read("/var/lib/dpkg/status").unwrap_or_default().hash(&mut hasher);
    let library_folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib", "/usr/bin", "/etc/ssl"];
    for folder in library_folders {
        listing(Path::new(folder), &mut hasher);
    }
    hasher.finish()
}

/// A tree with a shell in it: the host's programs and libraries, linked to by their folders' names.
fn tree(folder: &Path) -> PathBuf {
    let tree = folder.join("tree");
    let copy = |path: &str| {
        let target = tree.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("made");
        std::fs::copy(path, target).expect("copied");
    };
    for program in ["/bin/sh", "/bin/rm", "/bin/touch"] {
        copy(program);
        let linked = std::process::Command::new("ldd").arg(program).output().expect("ldd").stdout;
        let linked = String::from_utf8(linked).expect("text");
        linked.split_whitespace().filter(|word| word.starts_with('/')).for_each(copy);
    }
    for name in ["bin", "lib", "lib64"] {
        if !tree.join(name).exists() {
            symlink(format!("usr/{name}"), tree.join(name)).expect("linked");
        }
    }
    std::fs::create_dir_all(tree.join("etc")).expect("made");
    std::fs::write(tree.join("lib/mine"), "the tree's own").expect("written");
    tree
}

fn run(ready: &Ready, script: &str, output: &Path) -> Option<i32> {
    let program = Program {
        arguments: ["/bin/sh", "-c", script].map(String::from).to_vec(),
        root: Some(ready.root(&[])),
        output: Output::File(output.to_path_buf()),
        environment: vec![("PATH".into(), Some("/bin:/usr/bin".into()))],
        folder: Some("/".into()),
        parent_death_signal: ParentDeathSignal::Terminate,
        ..Program::default()
    };
    let mut running = program.hold().expect("held").release().expect("released");
    loop {
        if let Some(ended) = running.poll().expect("polled") {
            return ended.exit;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_runs_in_a_world_changes_neither_the_host_nor_the_world() {
    if !testing::is_root() {
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let tree = tree(folder.path());
    let store = Store::at(&folder.path().join("cache")).expect("a store");
    let wanted = Wanted { command: &[], packages: &[], folder: Path::new("/"), build: None, user: None };
    let before = host();
    for name in [WorldName::Folder(tree.clone()), WorldName::Host] {
        let ready = prepare(&name, &wanted, &store, &|_| (), &mut |_| false).expect("ready");
        let script = "touch /lib/new && rm -f /lib/mine && echo x > /etc/whyslow-test && echo y > /tmp/whyslow-$$ && rm /tmp/whyslow-$$";
        let script = format!("{script} && echo written");
        let output = folder.path().join("output");
        assert_eq!(run(&ready, &script, &output), Some(0), "{name}");
        assert_eq!(std::fs::read_to_string(&output).expect("read"), "written\n");
        assert_eq!(std::fs::read_dir(&ready.place).expect("a folder").count(), 0, "the place stays empty");
        assert!(!Path::new("/etc/whyslow-test").exists() && !tree.join("etc/whyslow-test").exists());
        assert!(tree.join("lib/mine").exists() && !tree.join("lib/new").exists());
    }
    assert_eq!(host(), before);
}
