//! Packages fetched and installed from Debian's mirror. Not run by themselves: they need the network
//! (`cargo test --release -p whyslow-lab --test worlds -- --ignored`).

use lab::Journal;
use lab::worlds::{Packages, Store, Wanted, WorldName, fetch, install_over, prepare, versions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

fn wait(longest: Duration) -> bool {
    std::thread::sleep(longest);
    false
}

/// A folder for a cache that apt's own user can come to.
fn open_cache() -> tempfile::TempDir {
    let cache = tempfile::tempdir_in("/var/tmp").expect("a folder");
    std::fs::set_permissions(cache.path(), std::fs::Permissions::from_mode(0o755)).expect("ours");
    cache
}

/// Shows what is said, and that packages are not fetched by root.
fn say(words: &str) {
    eprintln!("{words}");
    assert!(!words.contains("fetched by root"), "{words}");
}

#[test]
#[ignore = "needs the mirror"]
fn a_package_of_another_release_is_unpacked_into_a_folder_and_found_again() {
    let cache = open_cache();
    let store = Store::at(cache.path()).expect("a store");
    let names = ["libssl1.1".to_string(), "libcurl4".to_string()];
    let fetched = fetch(&store, "bullseye", &names, &say, &mut wait).expect("fetched");
    assert_eq!((fetched[0].name.as_str(), fetched[1].source.as_str()), ("libssl1.1", "curl"));
    assert!(fetched[0].folder.join("usr/lib/x86_64-linux-gnu/libssl.so.1.1").is_file());
    assert_eq!(fetch(&store, "bullseye", &names, &say, &mut wait).expect("kept"), fetched);
    assert!(!versions(&store, "bookworm-backports", "curl").is_empty());
    assert!(versions(&store, "bullseye", "no-such-package").is_empty());
    let refused = fetch(&store, "bullseye", &["no-such-package".into()], &say, &mut wait).expect_err("refused");
    assert!(refused.to_string().contains("none of that name"), "{refused}");
    assert!(fetch(&store, "no-such-suite", &names, &say, &mut wait).is_err());
}

#[test]
#[ignore = "needs the mirror, and root"]
fn apt_installs_an_older_package_over_a_world_and_leaves_nothing() {
    let cache = open_cache();
    let store = Store::at(cache.path()).expect("a store");
    let packages = ["libcurl4".to_string()];
    let wanted = Wanted { command: &[], packages: &packages, folder: Path::new("/tmp"), build: None, user: None };
    let base = prepare(&WorldName::Debian("bookworm".into()), &wanted, &store, &say, &mut wait).expect("ready");
    let version = versions(&store, "bullseye", "libcurl4").remove(0);
    let journal = Journal::open().expect("a journal");
    let older = [("libcurl4".to_string(), version.clone())];
    let begun = std::time::Instant::now();
    let installed = install_over(&base.base, "bullseye", &older, &store, &journal, &say, &mut wait).expect("installed");
    eprintln!("{:?}: {installed:?}", begun.elapsed());
    assert!(installed.layer.join("usr/lib/x86_64-linux-gnu").is_dir());
    let status = Packages::named(&installed.layer).expect("read");
    assert_eq!(status.get("libcurl4").map(|package| package.version.as_str()), Some(version.as_str()));
    assert!(installed.layer.join("usr/sbin/policy-rc.d").symlink_metadata().is_err());
    let layer = installed.layer.clone();
    drop(installed);
    assert!(!layer.exists() && journal.open_entries() == 0);
}
