use super::*;

fn descriptor(digest: &str) -> Descriptor {
    Descriptor {
        suite: "bookworm".into(),
        mirror: "http://mirror".into(),
        packages: vec!["libfoo1".into()],
        digest: digest.into(),
        made: 7,
    }
}

fn part(store: &Store, name: &str) -> PathBuf {
    let part = store.folder("worlds").expect("made").join(format!("{name}{PART}"));
    std::fs::create_dir_all(part.join("tree")).expect("made");
    part
}

#[test]
fn only_whole_worlds_are_seen_and_each_has_a_name_of_its_own() {
    let root = tempfile::tempdir().expect("a folder");
    let store = Store::at(root.path()).expect("a store");
    part(&store, "half");
    assert_eq!(store.worlds().expect("read"), []);
    for expected in ["debian-x", "debian-x-2"] {
        let made = store.complete(&part(&store, "new"), "debian-x", descriptor("")).expect("complete");
        assert_eq!(made.name, expected);
    }
    let names = store.worlds().expect("read").into_iter().map(|world| world.name).collect::<Vec<_>>();
    assert_eq!(names, ["debian-x", "debian-x-2"]);
    store.remove("debian-x").expect("removed");
    assert_eq!(store.worlds().expect("read").len(), 1);
    assert!(store.remove("debian-x").is_err() && store.remove("../locks").is_err());
}

#[test]
fn a_world_whose_packages_were_changed_is_known_by_it() {
    let root = tempfile::tempdir().expect("a folder");
    let store = Store::at(root.path()).expect("a store");
    let part = part(&store, "new");
    let dpkg = part.join("tree/var/lib/dpkg");
    std::fs::create_dir_all(&dpkg).expect("made");
    std::fs::write(dpkg.join("status"), "Package: a\n").expect("written");
    let digest = Packages::digest(&part.join("tree")).expect("digest");
    let made = store.complete(&part, "debian-x", descriptor(&digest)).expect("complete");
    assert!(made.is_unchanged());
    std::fs::write(made.tree.join("var/lib/dpkg/status"), "Package: b\n").expect("written");
    assert!(!made.is_unchanged());
}

#[test]
fn the_second_maker_waits_and_says_so_until_it_is_interrupted() {
    let root = tempfile::tempdir().expect("a folder");
    let store = Store::at(root.path()).expect("a store");
    let held = store.lock("a", &|_| (), &mut |_| true).expect("held");
    let said = std::cell::RefCell::new(String::new());
    let say = |words: &str| words.clone_into(&mut said.borrow_mut());
    let mut waits = 0;
    let mut wait = |_| {
        waits += 1;
        waits == 3
    };
    assert!(matches!(store.lock("a", &say, &mut wait), Err(LabError::Interrupted)));
    assert!(waits == 3 && said.borrow().contains("another whyslow"));
    store.lock("b", &|_| (), &mut |_| true).expect("another thing is free");
    drop(held);
    store.lock("a", &|_| (), &mut |_| true).expect("free again");
}

#[test]
fn a_folder_that_others_can_write_is_no_cache() {
    let root = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o777)).expect("changed");
    assert!(Store::at(root.path()).is_err());
}
