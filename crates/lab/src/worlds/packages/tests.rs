use super::*;
use std::os::unix::fs::symlink;

const TWO: &str = "Package: libfoo1\nStatus: install ok installed\nArchitecture: amd64\nSource: foo (1.2)\nVersion: 1.2-3\n\
    Pre-Depends: libc6 (>= 2.2)\nDepends: libbar | libbaz:any (>> 1), data\nRecommends: ca-certificates\nProvides: libfoo (= 1.2)\n\n\
    Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n\n\
    Package: data\nStatus: install ok installed\nArchitecture: all\nVersion: 7\n";

fn tree() -> tempfile::TempDir {
    let base = tempfile::tempdir().expect("a folder");
    let info = base.path().join(LISTS);
    std::fs::create_dir_all(&info).expect("made");
    std::fs::create_dir_all(base.path().join("usr/lib")).expect("made");
    symlink("usr/lib", base.path().join("lib")).expect("linked");
    std::fs::write(base.path().join(STATUS), TWO).expect("written");
    let list = "/.\n/lib\n/lib/libfoo.so.1\n/lib/libfoo.so.1.2\n/usr\n/usr/share\n/usr/share/foo";
    std::fs::write(info.join("libfoo1:amd64.list"), list).expect("written");
    std::fs::write(info.join("data.list"), "/.\n/etc\n/etc/data").expect("written");
    base
}

#[test]
fn packages_are_read_with_what_they_say_of_themselves() {
    let base = tree();
    let packages = Packages::read(base.path()).expect("read");
    assert_eq!(packages.len(), 2, "what was removed does not count");
    let foo = packages.get("libfoo1").expect("there");
    assert_eq!((foo.source.as_str(), foo.version.as_str()), ("foo", "1.2-3"));
    assert_eq!(foo.depends, ["libc6", "libbar", "libbaz", "data"]);
    assert_eq!(packages.answering("libfoo"), Some(foo));
    assert_eq!(packages.get("data").map(|data| data.source.as_str()), Some("data"));
}

#[test]
fn a_file_is_owned_by_either_of_its_names_and_through_links() {
    let base = tree();
    symlink("/etc/alternatives/foo", base.path().join("usr/lib/foo.so")).expect("linked");
    std::fs::create_dir_all(base.path().join("etc/alternatives")).expect("made");
    symlink("/lib/libfoo.so.1", base.path().join("etc/alternatives/foo")).expect("linked");
    let packages = Packages::read(base.path()).expect("read");
    for path in ["/lib/libfoo.so.1.2", "/usr/lib/libfoo.so.1.2", "/usr/lib/foo.so", "/lib/foo.so"] {
        assert_eq!(packages.owner(Path::new(path)).map(|owner| owner.name.as_str()), Some("libfoo1"), "{path}");
    }
    assert_eq!(packages.owner(Path::new("/usr/lib/libother.so")), None);
    assert_eq!(packages.owner(Path::new("/usr/lib")), None, "a folder belongs to nobody");
}

#[test]
fn the_files_of_a_package_are_listed_without_folders() {
    let base = tree();
    let packages = Packages::read(base.path()).expect("read");
    let expected = ["/lib/libfoo.so.1", "/lib/libfoo.so.1.2", "/usr/share/foo"].map(PathBuf::from);
    assert_eq!(packages.files("libfoo1"), expected);
}

#[test]
fn a_tree_without_dpkg_has_no_packages() {
    let base = tempfile::tempdir().expect("a folder");
    assert!(Packages::read(base.path()).expect("read").is_empty());
}
