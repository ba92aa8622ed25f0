use super::*;
use std::os::unix::fs::PermissionsExt;

/// Packages of a host on which `sh` belongs to one that recommends certificates through another.
fn host(folder: &Path, owned: &Path) -> Packages {
    let info = folder.join("var/lib/dpkg/info");
    std::fs::create_dir_all(&info).expect("made");
    let status = "Package: shell\nStatus: install ok installed\nVersion: 1\nDepends: libtls\n\n\
        Package: libtls\nStatus: install ok installed\nVersion: 1\nRecommends: ca-certificates\n";
    std::fs::write(folder.join("var/lib/dpkg/status"), status).expect("written");
    std::fs::write(info.join("shell.list"), format!("/.\n{}\n", owned.display())).expect("written");
    Packages::read(folder).expect("read")
}

fn packages(needs: &[Need]) -> Vec<&str> {
    needs.iter().map(|need| need.package.as_str()).collect()
}

#[test]
fn a_script_needs_its_interpreters_package_and_what_that_recommends_of_certificates() {
    let place = tempfile::tempdir().expect("a folder");
    let interpreter = place.path().join("shell");
    let script = place.path().join("script");
    std::fs::write(&interpreter, "").expect("written");
    std::fs::write(&script, format!("#!{} -e\n", interpreter.display())).expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("changed");
    let host = host(&place.path().join("host"), &interpreter);
    let found = needs(&["./script".into()], place.path(), &["extra".into()], &host);
    assert_eq!(packages(&found), ["ca-certificates", "extra", "shell"]);
    assert!(found[2].role.contains("the interpreter of"), "{found:?}");
    assert_eq!(packages(&needs(&[], place.path(), &["extra".into()], &host)), ["extra"]);
}

#[test]
fn a_linked_program_names_the_libraries_that_it_is_linked_to_itself() {
    let own = std::env::current_exe().expect("a program");
    let libraries = libraries(&own);
    let libc = libraries.iter().find(|(name, _)| name.starts_with("libc.so")).expect("libc");
    assert!(libc.1.as_ref().is_some_and(|place| place.is_file()), "{libraries:?}");
    assert!(super::libraries(Path::new("/etc/passwd")).is_empty());
}

#[test]
fn an_environments_program_is_the_interpreter() {
    let place = tempfile::tempdir().expect("a folder");
    let script = place.path().join("script");
    std::fs::write(&script, "#!/usr/bin/env -S sh -e\n").expect("written");
    assert!(interpreter(&script).is_some_and(|path| path.ends_with("sh")));
}

#[test]
fn what_a_shells_script_names_is_needed() {
    let place = tempfile::tempdir().expect("a folder");
    let program = place.path().join("client");
    std::fs::write(&program, "").expect("written");
    let host = host(&place.path().join("host"), &program);
    for (script, is_needed) in [("for i in 1 2; do ./client|tail -1; done", true), ("echo client", false)] {
        let found = needs(&["sh", "-c", script].map(String::from), place.path(), &[], &host);
        assert_eq!(packages(&found).contains(&"shell"), is_needed, "{script}: {found:?}");
    }
}
