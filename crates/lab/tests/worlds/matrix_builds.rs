//! Versions of a small library, fetched from a registry on disk and built: no network is needed, but a compiler.

use lab::matrix::{Item, Registry, Sources, Workshop, chain};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How the library is built: the second version's file does not compile.
const SOURCE: &str = "name = 'tiny'\nabout = 'a library'\ncrate = 'tiny-sys'\nfolder = 'tiny'\n\
    libraries = ['lib/libtiny.so']\n[[steps]]\nname = 'build'\n\
    run = 'cc -shared -fPIC -Wl,-soname,libtiny.so.{major} {source}/tiny.c -o libtiny.so'\n\
    [[steps]]\nname = 'install'\nrun = 'mkdir -p {stage}{prefix}/lib && cp libtiny.so {stage}{prefix}/lib/'\n";

fn run(program: &str, arguments: &[&str], folder: &Path) -> String {
    let done = Command::new(program).args(arguments).current_dir(folder).output().expect("run");
    assert!(done.status.success(), "{program}: {done:?}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Puts a package into the registry: its line of the index.
fn publish(mirror: &Path, version: &str, code: &str) -> String {
    let name = format!("tiny-sys-{version}");
    std::fs::create_dir_all(mirror.join(&name).join("tiny")).expect("made");
    let plain = mirror.join("files/tiny-sys").join(version);
    std::fs::create_dir_all(&plain).expect("made");
    std::fs::write(mirror.join(&name).join("tiny/tiny.c"), code).expect("written");
    let file = plain.join("download");
    run("tar", &["-czf", &file.display().to_string(), &name], mirror);
    let sum = run("sha256sum", &[&file.display().to_string()], mirror);
    let sum = sum.split(' ').next().unwrap_or_default();
    format!("{{\"name\":\"tiny-sys\",\"vers\":\"{version}\",\"cksum\":\"{sum}\",\"yanked\":false}}\n")
}

#[test]
fn versions_are_built_side_by_side_and_one_that_fails_keeps_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let mirror = folder.path().join("mirror");
    std::fs::create_dir_all(mirror.join("ti/ny")).expect("made");
    let index = publish(&mirror, "1.0.0+1.2", "int tiny(void) { return 1; }")
        + &publish(&mirror, "2.0.0+2.0", "int tiny(void) { return }")
        + &publish(&mirror, "3.0.0+3.1", "int tiny(void) { return 3; }");
    std::fs::write(mirror.join("ti/ny/tiny-sys"), index).expect("written");
    let address = format!("file://{}", mirror.display());
    std::fs::write(mirror.join("config.json"), format!("{{\"dl\":\"{address}/files\"}}")).expect("written");
    let cache = folder.path().join("cache");
    let workshop = Workshop::at(&cache, Registry::at(&address, cache.join("crates")));
    let sources = Sources::with(&[SOURCE.to_string()]).expect("sources");
    let source = sources.named("tiny").expect("it");
    let mut wait = |longest: Duration| {
        std::thread::sleep(longest.min(Duration::from_millis(10)));
        false
    };
    let releases = workshop.releases(source, &mut wait).expect("releases");
    let items = releases.into_iter().map(|release| Item { source: source.clone(), release });
    let chains = items.map(|item| chain(vec![item]).expect("a chain")).collect::<Vec<_>>();
    let built = workshop.build(&chains, &mut wait, &|_| {}).expect("built");
    let [first, second, third] = built.as_slice() else { panic!("{built:?}") };
    assert!(first.is_ok(), "{first:?}");
    let sonames = |one: &Result<lab::matrix::Built, _>| one.as_ref().map(|one| one.prefixes[0].sonames()).ok();
    assert_eq!(sonames(first), Some(vec!["libtiny.so.1".to_string()]));
    assert_eq!(sonames(third), Some(vec!["libtiny.so.3".to_string()]));
    let problem = second.as_ref().expect_err("it does not compile");
    assert!(problem.log.is_file() && problem.last_lines.iter().any(|line| line.contains("tiny.c")), "{problem:?}");
    // What is there is used again, also where the registry is gone; nothing half-made is left beside it.
    std::fs::remove_dir_all(&mirror).expect("removed");
    let again = workshop.build(&chains[..1], &mut wait, &|_| {}).expect("built");
    assert!(again[0].as_ref().is_ok_and(|one| one.took.is_zero()));
    let entries = std::fs::read_dir(cache.join("builds")).expect("read").filter_map(Result::ok);
    assert!(entries.into_iter().all(|entry| !entry.file_name().to_string_lossy().ends_with(".part")));
}

#[test]
fn a_version_that_was_published_again_with_other_files_is_not_built() {
    let folder = tempfile::tempdir().expect("a folder");
    let mirror = folder.path().join("mirror");
    std::fs::create_dir_all(mirror.join("ti/ny")).expect("made");
    let address = format!("file://{}", mirror.display());
    std::fs::write(mirror.join("config.json"), format!("{{\"dl\":\"{address}/files\"}}")).expect("written");
    let sources = Sources::with(&[SOURCE.to_string()]).expect("sources");
    let source = sources.named("tiny").expect("it");
    let cache = folder.path().join("cache");
    let workshop = Workshop::at(&cache, Registry::at(&address, cache.join("crates")));
    let build = |code: &str| {
        let line = publish(&mirror, "1.0.0+1.2", code);
        std::fs::write(mirror.join("ti/ny/tiny-sys"), line).expect("written");
        let release = workshop.releases(source, &mut |_| false).expect("releases").remove(0);
        let chain = chain(vec![Item { source: source.clone(), release }]).expect("a chain");
        let mut wait = |longest: Duration| {
            std::thread::sleep(longest.min(Duration::from_millis(10)));
            false
        };
        workshop.build(&[chain], &mut wait, &|_| {}).expect("built").remove(0)
    };
    assert!(build("int tiny(void) { return 1; }").is_ok());
    let problem = build("int tiny(void) { return 2; }").expect_err("it is another");
    assert!(problem.why.contains("tiny-sys-1.0.0+1.2.crate") && problem.why.contains("replaced"), "{problem:?}");
    let entries = std::fs::read_dir(cache.join("builds")).expect("read").filter_map(Result::ok);
    let built = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).count();
    assert_eq!(built, 1, "nothing was built of it");
}

#[test]
fn a_registry_that_cannot_be_reached_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = format!("file://{}", folder.path().join("nowhere").display());
    let workshop = Workshop::at(folder.path(), Registry::at(&address, folder.path().join("crates")));
    let sources = Sources::with(&[SOURCE.to_string()]).expect("sources");
    let source = sources.named("tiny").expect("it");
    assert!(workshop.releases(source, &mut |_| false).is_err());
}
