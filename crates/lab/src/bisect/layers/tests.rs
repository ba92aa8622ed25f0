use super::*;
use crate::bisect::closure::fixture::Pair;
use std::os::unix::fs::PermissionsExt;

fn lay(pair: &Pair, journal: &Journal) -> Layers {
    Layers::lay(&pair.differences(), &pair.good.ready, &pair.bad.ready, journal).expect("laid")
}

/// `/lib` is a link in the bad world only, as where /usr is merged.
fn merged() -> Pair {
    let mut pair = Pair::new();
    pair.bad.link("/lib/folder", "../usr/lib/folder");
    for (side, text) in [(&mut pair.good, "good"), (&mut pair.bad, "bad")] {
        side.write("/usr/lib/folder/beside", text);
        side.data("/lib/folder/table", text);
        side.write("/usr/share/doc/one/read-me", text);
        side.write("/usr/share/one/same", "same");
        side.package("one", text, &["/lib/folder/table", "/usr/share/doc/one/read-me", "/usr/share/one/same"]);
    }
    std::fs::set_permissions(pair.good.host("/lib/folder/table"), std::fs::Permissions::from_mode(0o750)).expect("set");
    pair
}

#[test]
fn files_lie_where_the_bad_world_has_them_and_nothing_else_is_laid() {
    let pair = merged();
    let journal = Journal::open().expect("a journal");
    let layers = lay(&pair, &journal);
    assert_eq!(layers.files(0), [PathBuf::from("/usr/lib/folder/table")]);
    let world = layers.world(&Set::from([0]), &pair.bad.ready, &World::default(), End::Client);
    let laid = world.root_of(End::Client).expect("a tree").layers[0].join("usr/lib/folder/table");
    assert_eq!(std::fs::read_to_string(&laid).expect("laid"), "good");
    assert_eq!(laid.metadata().expect("there").permissions().mode() & 0o777, 0o750);
    assert_eq!(layers.all_testable(), Set::from([0]));
}

#[test]
fn what_was_compiled_of_a_file_comes_along_and_is_not_older_than_that() {
    let mut pair = Pair::new();
    let (source, compiled) = ("/usr/lib/python/one.py", "/usr/lib/python/__pycache__/one.cpython-39.pyc");
    for (side, text) in [(&mut pair.good, "good"), (&mut pair.bad, "bad")] {
        side.data(source, text);
        side.data(compiled, text);
        side.package("one", text, &[source]);
    }
    let date = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    let file = std::fs::File::options().write(true).open(pair.good.host(source)).expect("there");
    file.set_modified(date).expect("dated");
    let journal = Journal::open().expect("a journal");
    let layers = lay(&pair, &journal);
    assert_eq!(layers.files(0), [PathBuf::from(compiled), PathBuf::from(source)]);
    let laid = layers.folder.join("0").join(source.trim_start_matches('/'));
    assert_eq!(laid.metadata().expect("laid").modified().expect("dated"), date);
}

#[test]
fn nothing_is_left_behind() {
    let journal = Journal::open().expect("a journal");
    let layers = lay(&merged(), &journal);
    let folder = layers.folder.clone();
    assert!(folder.starts_with(PLACE) && folder.is_dir() && journal.open_entries() == 1);
    drop(layers);
    assert!(!folder.exists() && journal.open_entries() == 0);
}

#[test]
fn a_link_is_not_laid_over_a_folder_that_it_would_hide() {
    let mut pair = Pair::new();
    pair.good.link("/usr/share/one/table", "../elsewhere");
    pair.good.data("/usr/share/elsewhere", "");
    pair.good.used.insert("/usr/share/one/table".into());
    pair.bad.data("/usr/share/one/table/inner", "needed");
    pair.good.package("one", "1", &["/usr/share/one/table"]);
    pair.bad.package("one", "2", &["/usr/share/one/table/inner"]);
    let layers = lay(&pair, &Journal::open().expect("a journal"));
    assert_eq!(layers.files(0), [] as [PathBuf; 0]);
}

#[test]
fn variables_are_as_in_the_good_world() {
    let mut pair = Pair::new();
    pair.bad.ready.environment.insert("MODE".into(), Some("slow".into()));
    pair.good.ready.environment.insert("MODE".into(), None);
    let layers = lay(&pair, &Journal::open().expect("a journal"));
    let value =
        |set: &Set| layers.world(set, &pair.bad.ready, &World::default(), End::Client).environment["MODE"].clone();
    assert_eq!((value(&Set::new()), value(&Set::from([0]))), (Some("slow".into()), None));
}

#[test]
fn a_library_of_a_folder_stands_in_front_of_all_others() {
    let mut pair = Pair::new();
    for (side, number) in [(&mut pair.good, 1), (&mut pair.bad, 2)] {
        side.library("libone.so.1.0", &format!("int one{number};"), &[], "");
        side.link("/usr/lib/libone.so.1", "libone.so.1.0");
        let folder = side.host("/usr/lib/x").parent().expect("a folder").to_path_buf();
        side.used = [folder.join("libone.so.1")].into();
        (side.ready.base, side.ready.libraries) = ("/".into(), Some(folder));
    }
    let layers = lay(&pair, &Journal::open().expect("a journal"));
    assert_eq!(layers.files(0), [Path::new(LIBRARIES).join("libone.so.1")]);
    let world = layers.world(&Set::from([0]), &pair.bad.ready, &World::default(), End::Client);
    let folder = pair.bad.ready.libraries.as_ref().expect("a folder").display().to_string();
    assert_eq!(world.environment[LIBRARY_PATH], Some(format!("{LIBRARIES}:{folder}")));
    let laid = world.root_of(End::Client).expect("a tree").layers[0].join(".whyslow-libraries/libone.so.1");
    assert!(laid.symlink_metadata().expect("laid").is_file());
}
