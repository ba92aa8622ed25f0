use super::*;

fn ready(name: &str) -> Result<Ready, LabError> {
    let cache = tempfile::tempdir().expect("a folder");
    let store = Store::at(cache.path()).expect("a store");
    let wanted = Wanted { command: &[], packages: &[], folder: Path::new("/tmp"), build: None, user: None };
    prepare(&name.parse().expect("a name"), &wanted, &store, &|_| (), &mut |_| false)
}

#[test]
fn variables_are_set_and_removed_and_comments_are_none() {
    let text = "# how it was\nA=1\n  B=a b # c\n\nC=\nD\nunset E\nexport F=x=y\n";
    let variables = variables(text).expect("variables");
    let value = |name: &str| variables.get(name).cloned().expect(name);
    assert_eq!(value("A").as_deref(), Some("1"));
    assert_eq!(value("B").as_deref(), Some("a b # c"));
    assert_eq!(value("C").as_deref(), Some(""));
    assert_eq!((value("D"), value("E")), (None, None));
    assert_eq!(value("F").as_deref(), Some("x=y"));
    assert_eq!(variables.len(), 6);
    let refused = super::variables("A=1\nset B 2").expect_err("refused");
    assert_eq!(refused, "line 2: neither NAME=VALUE nor NAME");
}

#[test]
fn a_folder_without_a_tree_and_one_without_libraries_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display();
    assert!(ready(&format!("dir:{path}")).is_err_and(|error| error.to_string().contains("not a root file system")));
    assert!(ready(&format!("libs:{path}")).is_err_and(|error| error.to_string().contains("no library")));
    let odd = folder.path().join("a:b");
    std::fs::create_dir(&odd).expect("made");
    std::fs::write(odd.join("libx.so"), "").expect("written");
    assert!(ready(&format!("libs:{}", odd.display())).is_err_and(|error| error.to_string().contains("colon")));
    assert!(ready(&format!("env:{path}/none")).is_err());
    std::fs::write(folder.path().join("libx.so.1"), "").expect("written");
    let libraries = ready(&format!("libs:{path}")).expect("ready");
    assert_eq!((libraries.base, libraries.libraries), (PathBuf::from("/"), folder.path().canonicalize().ok()));
    std::fs::create_dir(folder.path().join("usr")).expect("made");
    assert_eq!(ready(&format!("dir:{path}")).expect("ready").base, folder.path().canonicalize().expect("a path"));
}

#[test]
fn a_tree_is_called_by_its_release_and_number_of_packages() {
    let base = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(base.path().join("etc")).expect("made");
    std::fs::create_dir_all(base.path().join("var/lib/dpkg")).expect("made");
    assert_eq!(title(base.path()), "a tree of no named system");
    let release =
        "PRETTY_NAME=\"Debian GNU/Linux 11 (bullseye)\"\nVERSION_ID=\"11\"\nVERSION_CODENAME=bullseye\nID=debian\n";
    std::fs::write(base.path().join("etc/os-release"), release).expect("written");
    assert_eq!(title(base.path()), "Debian 11 (bullseye)");
    let status = "Package: a\nStatus: install ok installed\nVersion: 1\n";
    std::fs::write(base.path().join("var/lib/dpkg/status"), status).expect("written");
    assert_eq!(title(base.path()), "Debian 11 (bullseye), 1 packages");
}

#[test]
fn a_release_whose_name_is_none_is_refused_before_anything_is_made() {
    let refused = ready("debian:book worm").expect_err("refused");
    assert!(matches!(&refused, LabError::NoWorld { world, .. } if world == "debian:book worm"), "{refused:?}");
}
