use super::*;
use crate::worlds::sandbox::tests::{EmptyMirror, open_cache};

#[test]
fn what_asks_the_mirror_for_lists_is_not_root() {
    let Some((cache, expected)) = open_cache() else { return };
    let store = Store::at(cache.path()).expect("a store");
    let mirror = EmptyMirror::start();
    let apt = Apt::at(&store, "bookworm", mirror.address.clone()).expect("apt");
    let said = std::cell::RefCell::new(String::new());
    let updated = apt.update(&|words| said.borrow_mut().push_str(words), &mut |turn| {
        std::thread::sleep(turn);
        false
    });
    assert!(updated.is_err(), "there are no lists");
    assert_eq!(mirror.asked_by(), vec![expected], "{said:?}");
    assert!(!said.borrow().contains("root"), "{said:?}");
}

#[test]
fn a_package_that_is_not_what_the_list_says_is_not_unpacked() {
    let part = tempfile::tempdir().expect("a folder");
    let downloads = part.path().join("downloads");
    std::fs::create_dir(&downloads).expect("made");
    let package = downloads.join("one_1_all.deb");
    let right = digest::hexadecimal(b"the package");
    let verified = || verified(part.path(), &right);
    assert!(verified().is_err(), "nothing is there");
    for (content, is_right) in [("another one", false), ("", false), ("the package, and more", false)] {
        std::fs::write(&package, content).expect("written");
        let said = verified().expect_err("refused").to_string();
        assert!(said.contains("one_1_all.deb does not match the signed list") && !is_right, "{said}");
        assert!(!part.path().join("package.deb").exists());
    }
    std::fs::write(&package, "the package").expect("written");
    assert_eq!(std::fs::read(verified().expect("it")).expect("read"), b"the package");
    // What the link leads to would be right.
    std::fs::rename(&package, part.path().join("elsewhere")).expect("moved");
    std::os::unix::fs::symlink(part.path().join("elsewhere"), &package).expect("linked");
    assert!(verified().is_err());
}
