use super::*;
use std::collections::BTreeMap;
use std::fs;

/// A repository with a file that each commit writes its name to, and a folder for what is built.
struct Made {
    folder: tempfile::TempDir,
    repository: Repository,
}

impl Made {
    fn new(build: &str) -> Made {
        let folder = tempfile::tempdir().expect("a folder");
        let own = folder.path().join("repository");
        fs::create_dir(&own).expect("a folder");
        let cache = folder.path().join("cache");
        let repository = Repository { folder: own, build: build.to_string(), cache, user: None, command: Vec::new() };
        let made = Made { folder, repository };
        made.git(&["init", "--quiet", "--initial-branch=main"]);
        made.commit("first");
        made
    }

    fn git(&self, words: &[&str]) -> String {
        let own = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let output = self.repository.run(&self.repository.folder, &[&own, words].concat()).expect("git");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    }

    /// Its hash.
    fn commit(&self, name: &str) -> String {
        fs::write(self.repository.folder.join("name"), name).expect("written");
        self.git(&["add", "name"]);
        self.git(&["commit", "--quiet", "-m", name]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn ready(&self, revision: &str) -> Result<Ready, LabError> {
        self.repository.ready(revision, &[], &self.folder.path().join("place"), &|| false)
    }

    fn subjects(&self, good: &str, bad: &str) -> Vec<String> {
        let commits = self.repository.commits(good, bad).expect("a line");
        commits.into_iter().map(|commit| commit.subject).collect()
    }

    /// Every file of the user's repository with its content, and what git says of it.
    fn state(&self) -> (BTreeMap<PathBuf, Vec<u8>>, String) {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.repository.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), fs::read(path).expect("read"));
                }
            }
        }
        (files, self.git(&["worktree", "list"]))
    }
}

#[test]
fn a_program_of_the_users_own_checkout_is_refused_and_what_each_commit_has_is_not() {
    let mut made = Made::new("cp name built");
    fs::create_dir(made.repository.folder.join("below")).expect("a folder");
    fs::write(made.repository.folder.join("below/kept"), "").expect("written");
    made.git(&["add", "below"]);
    made.commit("second");
    let own = made.repository.folder.clone();
    let refusal = |made: &Made| made.ready("HEAD").expect_err("the same in all").to_string();
    for name in ["built", "name"] {
        made.repository.command = vec!["sh".into(), own.join(name).display().to_string()];
        let refused = refusal(&made);
        assert!(
            refused.contains("your own file") && refused.contains(&own.join(name).display().to_string()),
            "{refused}"
        );
    }
    made.repository.folder = own.join("below");
    assert!(
        format!("{:?}", made.ready("HEAD"))
            .contains(&format!("go to {} and name it from there: ./name", own.display()))
    );
    made.repository.command = vec![own.join("below/kept").display().to_string()];
    assert!(format!("{:?}", made.ready("HEAD")).contains("relative to the current folder: ./kept"));
    // Files that no commit has are the user's data.
    fs::write(own.join("data"), "").expect("written");
    made.repository.command = vec!["./name".into(), own.join("data").display().to_string(), "/bin/sh".into()];
    made.ready("HEAD").expect("ready");
}

#[test]
fn a_commit_is_built_in_a_folder_of_its_own_and_the_repository_stays_as_it_is() {
    let made = Made::new("cp name built; echo once >> ../times");
    made.commit("second");
    fs::write(made.repository.folder.join("name"), "not committed").expect("written");
    let before = made.state();
    let ready = made.ready("HEAD~1").expect("built");
    let folder = ready.folder.expect("a folder");
    assert_eq!(fs::read_to_string(folder.join("built")).expect("built"), "first");
    assert!(ready.title.ends_with(": first") && ready.shared.contains(&folder), "{} {:?}", ready.title, ready.shared);
    assert_eq!(made.state(), before);
    let again = made.ready("HEAD~1").expect("kept").folder.expect("a folder");
    let times = fs::read_to_string(again.parent().expect("a folder").join("times")).expect("built");
    assert_eq!((again, times.as_str()), (folder, "once\n"), "the second time it is there");
}

#[test]
fn a_program_runs_in_the_folder_of_the_commit_that_the_user_is_in() {
    let mut made = Made::new("");
    fs::create_dir(made.repository.folder.join("below")).expect("made");
    fs::write(made.repository.folder.join("below/tool"), "").expect("written");
    made.git(&["add", "below"]);
    made.git(&["commit", "--quiet", "-m", "below"]);
    made.repository.folder.push("below");
    let folder = made.ready("HEAD").expect("ready").folder.expect("a folder");
    assert!(folder.join("tool").is_file(), "{}", folder.display());
    // The commit before has no such folder.
    let folder = made.ready("HEAD~1").expect("ready").folder.expect("a folder");
    assert!(folder.join("name").is_file(), "{}", folder.display());
}

#[test]
fn another_build_command_has_a_folder_of_its_own() {
    let mut made = Made::new("echo one > built");
    let one = made.ready("HEAD").expect("built").folder.expect("a folder");
    made.repository.build = "echo two > built".to_string();
    let two = made.ready("HEAD").expect("built").folder.expect("a folder");
    assert_eq!([one, two].map(|folder| fs::read_to_string(folder.join("built")).expect("built")), ["one\n", "two\n"]);
}

#[test]
fn what_was_interrupted_is_not_used() {
    let made = Made::new("echo whole > built");
    let folder = made.ready("HEAD").expect("built").folder.expect("a folder");
    fs::remove_file(folder.parent().expect("a folder").join("complete")).expect("removed");
    fs::write(folder.join("built"), "half").expect("written");
    made.ready("HEAD").expect("built again");
    assert_eq!(fs::read_to_string(folder.join("built")).expect("built"), "whole\n");
    let stopped = made.repository.ready("HEAD", &[], Path::new("/"), &|| true).expect("it is there");
    assert_eq!(stopped.folder, Some(folder));
    let made = Made::new("sleep 60");
    let error = made.repository.ready("HEAD", &[], Path::new("/"), &|| true).expect_err("the user wants an end");
    assert!(matches!(error, LabError::Interrupted), "{error}");
}

#[test]
fn a_build_that_fails_says_its_last_lines_and_where_all_of_them_are() {
    let made = Made::new("for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; echo no rule >&2; exit 3");
    let error = made.ready("HEAD").expect_err("it does not build");
    let LabError::NotBuilt { how, last, log, .. } = &error else { panic!("{error}") };
    assert_eq!((how.as_str(), last.ends_with("line 9 | no rule")), ("status 3", true), "{error}");
    assert!(!last.contains("line 1"), "the last ones only: {last}");
    assert!(fs::read_to_string(log).expect("the log").contains("line 1\n"));
    // And it is tried again, not taken for built.
    made.ready("HEAD").expect_err("it does not build");
}

#[test]
fn a_line_of_commits_goes_along_first_parents_and_a_merge_counts_as_one() {
    let made = Made::new("");
    made.git(&["tag", "good"]);
    made.commit("second");
    made.git(&["checkout", "--quiet", "-b", "side", "good"]);
    fs::write(made.repository.folder.join("other"), "").expect("written");
    made.git(&["add", "other"]);
    made.git(&["commit", "--quiet", "-m", "aside"]);
    made.git(&["checkout", "--quiet", "main"]);
    made.git(&["merge", "--quiet", "--no-ff", "-m", "merged", "side"]);
    made.commit("third");
    assert_eq!(made.subjects("good", "main"), ["second", "merged", "third"]);
    let error = made.repository.commits("side", "main").expect_err("it was merged in").to_string();
    assert!(error.contains("merged in"), "{error}");
}

#[test]
fn a_bad_commit_that_does_not_descend_from_the_good_one_is_said_with_what_they_have_in_common() {
    let made = Made::new("");
    let base = made.git(&["rev-parse", "HEAD"]);
    made.commit("second");
    let said = |good: &str, bad: &str| made.repository.commits(good, bad).expect_err("no line").to_string();
    assert!(said("main", "main~1").contains("swapped"), "{}", said("main", "main~1"));
    assert!(said("main", "main").contains("the same commit"));
    made.git(&["checkout", "--quiet", "-b", "other", "main~1"]);
    made.commit("elsewhere");
    assert!(said("main", "other").contains(&base[..SHORT]), "{}", said("main", "other"));
    made.git(&["checkout", "--quiet", "--orphan", "lonely"]);
    made.commit("alone");
    assert!(said("main", "lonely").contains("no commit in common"), "{}", said("main", "lonely"));
}

#[test]
fn what_is_no_commit_or_no_repository_is_said() {
    let made = Made::new("");
    for revision in ["nothing-of-that-name", "-x", "--all", ""] {
        let error = made.ready(revision).expect_err("no such commit").to_string();
        assert!(error.contains("no such commit"), "{revision}: {error}");
    }
    let nowhere = Repository { folder: made.folder.path().to_path_buf(), ..made.repository.clone() };
    let error = nowhere.commit("HEAD").expect_err("no repository").to_string();
    assert!(error.contains("not a git repository"), "{error}");
}

/// What a small C program is built into, with debug information and what `opened` names.
fn artefact(made: &Made, opened: &[&str]) -> String {
    let ready = made.ready("HEAD").expect("built");
    let opened = opened.iter().map(ToString::to_string).collect();
    made.repository.artefact(&ready, &opened).expect("a digest")
}

#[test]
fn commits_are_the_same_to_a_run_where_what_they_are_built_into_is() {
    let made = Made::new("cc -g -O1 -o program main.c && date +%N > log && cp name table");
    let write = |file: &str, text: &str, subject: &str| {
        fs::write(made.repository.folder.join(file), text).expect("written");
        made.git(&["add", "."]);
        made.git(&["commit", "--quiet", "-m", subject]);
    };
    write("main.c", "int main(void) { return 0; }\n", "A program");
    let first = artefact(&made, &["libc.so.6"]);
    write("main.c", "// Nothing.\n\nint main(void) { return 0; }\n", "A remark");
    assert_eq!(artefact(&made, &["libc.so.6"]), first, "lines differ, and the log, and the folder");
    let with_table = artefact(&made, &["table"]);
    let with_source = artefact(&made, &["name"]);
    write("name", "another", "Another name");
    assert_eq!(artefact(&made, &[]), first);
    assert_ne!(artefact(&made, &["table"]), with_table, "it was built, and runs open it");
    assert_ne!(artefact(&made, &["name"]), with_source, "runs open a file of the repository");
    let with_source = artefact(&made, &["name"]);
    write("other", "text", "Another file");
    assert_ne!(artefact(&made, &["name"]), with_source, "and so may any other of its files be opened");
    write("main.c", "int main(void) { return 3; }\n", "Fail");
    assert_ne!(artefact(&made, &[]), first);
}

#[test]
fn commits_that_change_documents_only_are_told_from_others() {
    let made = Made::new("");
    let first = made.git(&["rev-parse", "HEAD"]);
    let mut changed = Vec::new();
    for files in [&["README.md"][..], &["README.md", "main.c"], &["docs/guide.txt"]] {
        for file in files {
            let path = made.repository.folder.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, format!("{}", changed.len())).expect("written");
        }
        made.git(&["add", "."]);
        made.git(&["commit", "--quiet", "-m", "change"]);
        changed.push(made.git(&["rev-parse", "HEAD"]));
    }
    let commits = made.repository.commits(&first, "HEAD").expect("a line");
    let found = made.repository.documents_only(&commits).expect("told");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), {
        let mut wanted = vec![changed[0].clone(), changed[2].clone()];
        wanted.sort();
        wanted
    });
}
