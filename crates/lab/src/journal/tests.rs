use super::*;
use crate::repair::{Repair, Repaired, repair_folder};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn folder_of(path: &Path) -> Undo {
    Undo::Folder { path: path.to_path_buf(), owner: None }
}

/// A folder that whoever repairs takes for one of ours.
fn left_behind(place: &Path, name: &str) -> PathBuf {
    let folder = place.join(name);
    std::fs::create_dir(&folder).expect("made");
    std::fs::write(folder.join("file"), "left").expect("written");
    folder
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("a folder").count()
}

fn repaired(folder: &Path) -> Repaired {
    let mut repaired = Repaired::default();
    repair_folder(folder, Repair::Left, &mut repaired).expect("repaired");
    repaired
}

/// The same once the owner is seen to be gone: what another test has forked holds the lock until it has called exec.
fn repaired_later(folder: &Path) -> Repaired {
    let begun = Instant::now();
    loop {
        let repaired = repaired(folder);
        if repaired != Repaired::default() || begun.elapsed() > Duration::from_secs(5) {
            return repaired;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_file_is_there_from_the_first_entry_until_the_last_is_ticked_off() {
    let place = tempfile::tempdir().expect("a folder");
    let journal = Journal::in_folder(place.path().to_path_buf());
    assert_eq!(files(place.path()), 0);
    let entries = journal.note(&[folder_of("/a".as_ref()), folder_of("/b".as_ref())]).expect("noted");
    assert_eq!(files(place.path()), 1);
    journal.tick_off(entries[0]);
    assert_eq!(files(place.path()), 1);
    journal.tick_off(entries[1]);
    assert_eq!(files(place.path()), 0);
    let again = journal.note(&[folder_of("/c".as_ref())]).expect("noted again");
    assert_eq!(files(place.path()), 1);
    journal.tick_off(again[0]);
    assert_eq!(files(place.path()), 0);
}

#[test]
fn an_entry_is_undone_when_its_owner_is_gone_and_not_before() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = left_behind(place.path(), "whyslow-1-0");
    let journals = place.path().join("journals");
    std::fs::create_dir(&journals).expect("made");
    let journal = Journal::in_folder(journals.clone());
    journal.note(&[folder_of(&folder)]).expect("noted");
    let begun = Instant::now();
    assert_eq!(repaired(&journals), Repaired::default());
    assert!(begun.elapsed() < Duration::from_millis(500), "a living owner is not waited for");
    assert!(folder.exists());
    drop(journal);
    let repaired_lines = repaired_later(&journals).done;
    assert_eq!(repaired_lines, [format!("removed the folder {}", folder.display())]);
    assert!(!folder.exists());
    assert_eq!(files(&journals), 0);
    assert_eq!(repaired(&journals), Repaired::default());
}

#[test]
fn a_line_cut_off_by_a_crash_is_skipped_and_the_others_count() {
    let place = tempfile::tempdir().expect("a folder");
    let (kept, gone) = (left_behind(place.path(), "whyslow-1-0"), left_behind(place.path(), "whyslow-1-1"));
    let noted = |entry, path: &Path| as_text(&Line::Noted { entry, undo: folder_of(path) });
    let ticked = as_text(&Line::Undone { entry: 0 });
    let text = format!("{}{}\u{0}garbage\n{ticked}{{\"noted\":{{\"ent", noted(0, &kept), noted(1, &gone));
    let journals = place.path().join("journals");
    std::fs::create_dir(&journals).expect("made");
    std::fs::write(journals.join("1-2.jsonl"), text).expect("written");
    assert_eq!(repaired(&journals).done.len(), 1);
    assert!(kept.exists() && !gone.exists());
    assert_eq!(files(&journals), 0);
}

#[test]
fn what_is_not_ours_is_never_removed_whatever_a_journal_says() {
    let place = tempfile::tempdir().expect("a folder");
    let foreign = left_behind(place.path(), "home");
    let link = place.path().join("whyslow-link");
    std::os::unix::fs::symlink(&foreign, &link).expect("linked");
    let journals = place.path().join("journals");
    std::fs::create_dir(&journals).expect("made");
    let journal = Journal::in_folder(journals.clone());
    let group = Undo::Group { folder: foreign.clone(), members: Members::Ours };
    journal.note(&[folder_of(&foreign), folder_of(&link), group]).expect("noted");
    drop(journal);
    let repaired = repaired_later(&journals);
    assert_eq!((repaired.done.len(), repaired.left.len()), (0, 3), "{repaired:?}");
    assert!(foreign.join("file").exists() && link.exists());
    assert_eq!(files(&journals), 1, "the journal stays for a human to look at");
}

#[test]
fn the_lock_goes_with_its_owner_however_it_ends() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("1-2.jsonl");
    let folder = left_behind(place.path(), "whyslow-1-0");
    std::fs::write(&path, as_text(&Line::Noted { entry: 0, undo: folder_of(&folder) })).expect("written");
    let script = format!("exec 9<{}; flock 9; echo locked; exec sleep 60", path.display());
    let mut owner = Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().expect("sh");
    let mut said = [0; 7];
    std::io::Read::read_exact(&mut owner.stdout.take().expect("a pipe"), &mut said).expect("locked");
    let before = repaired(place.path());
    owner.kill().and_then(|()| owner.wait()).expect("killed");
    assert_eq!(before, Repaired::default());
    assert_eq!(repaired(place.path()).done.len(), 1);
}

#[test]
fn what_somebody_else_could_have_written_is_no_journal() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, journals) = (left_behind(place.path(), "whyslow-1-0"), place.path().join("journals"));
    std::fs::create_dir(&journals).expect("made");
    let text = as_text(&Line::Noted { entry: 0, undo: folder_of(&folder) });
    let (elsewhere, forged) = (place.path().join("elsewhere"), journals.join("1-2.jsonl"));
    std::fs::write(&elsewhere, &text).expect("written");
    let ignored = |what: &str| {
        assert_eq!(repaired(&journals), Repaired::default(), "{what}");
        assert!(folder.exists() && forged.symlink_metadata().is_ok(), "{what}");
        std::fs::remove_file(&forged).expect("removed");
    };
    std::os::unix::fs::symlink(&elsewhere, &forged).expect("linked");
    ignored("a link");
    nix::unistd::mkfifo(&forged, nix::sys::stat::Mode::from_bits_truncate(0o600)).expect("made");
    ignored("a pipe");
    std::fs::write(&forged, &text).expect("written");
    std::fs::set_permissions(&forged, std::fs::Permissions::from_mode(0o666)).expect("ours");
    ignored("a file that all can write");
    std::fs::write(&forged, &text).expect("written");
    if nix::unistd::geteuid().is_root() {
        std::os::unix::fs::chown(&forged, Some(7), Some(7)).expect("root's right");
        ignored("another's file");
        std::fs::write(&forged, &text).expect("written");
    }
    // The same, ours.
    assert_eq!(repaired(&journals).done.len(), 1);
    assert!(!folder.exists());
}
