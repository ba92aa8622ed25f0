//! What the tests of stages share: a folder, a journal of its own, a subject that is a shell script, and the question
//! whether all is as it was found.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use lab::{Arrangement, Journal, Kind, Outputs, Stage, Subject, World};
use record::{Input, Output};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub struct Scene {
    folder: tempfile::TempDir,
    pub journal: Journal,
    name: &'static str,
}

impl Scene {
    pub fn new(name: &'static str) -> Scene {
        Scene { folder: tempfile::tempdir().expect("a folder"), journal: Journal::open().expect("a journal"), name }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn subject(client: &str, server: Option<&str>) -> Subject {
        let shell = |script: &str| vec!["sh".to_string(), "-c".to_string(), script.to_string()];
        Subject { client: shell(client), server: server.map(shell), user: None, input: Input::Nothing }
    }

    pub fn outputs(&self) -> Outputs {
        Outputs { client: Output::File(self.path("client")), ..Outputs::default() }
    }

    pub fn client_said(&self) -> String {
        std::fs::read_to_string(self.path("client")).expect("output")
    }

    pub fn set(&self, script: &str, world: &World, arrangement: &Arrangement) -> Stage {
        let subject = Scene::subject(script, None);
        let stage = Stage::set(&subject, world, arrangement, &self.journal, &self.outputs(), Kind::Trial);
        stage.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    pub fn set_with_server(
        &self,
        script: &str,
        server: &str,
        world: &World,
        arrangement: &Arrangement,
        kind: Kind,
    ) -> Stage {
        let subject = Scene::subject(script, Some(server));
        let stage = Stage::set(&subject, world, arrangement, &self.journal, &self.outputs(), kind);
        stage.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Lets both ends run until the client has ended, and returns what the client said.
    pub fn play(&self, stage: Stage) -> String {
        let server = stage.server.map(|server| server.release().expect("released"));
        let mut client = stage.client.release().expect("released");
        wait_until("the client has ended", || client.poll().expect("polled").is_some());
        drop(stage.attached);
        drop(server);
        self.client_said()
    }

    pub fn output(&self, script: &str, world: &World, arrangement: &Arrangement) -> String {
        self.play(self.set(script, world, arrangement))
    }

    /// That nothing of this scene is left: the journal would still name it.
    pub fn is_left_as_found(&self) {
        assert_eq!(self.journal.open_entries(), 0, "{}", self.name);
    }
}

/// Control groups that this process has made, in all hierarchies.
pub fn groups_of_this_process() -> Vec<PathBuf> {
    let mut found = Vec::new();
    search(Path::new("/sys/fs/cgroup"), &format!("whyslow-{}-", std::process::id()), &mut found);
    found
}

fn search(folder: &Path, prefix: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                found.push(entry.path());
            }
            search(&entry.path(), prefix, found);
        }
    }
}

pub fn is_root() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        println!("skipped: needs root");
    }
    is_root
}

/// Ids of the processes whose command line holds a mark.
pub fn processes_with(mark: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let command = |pid: u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    pids.filter(|pid| String::from_utf8_lossy(&command(*pid)).replace('\0', " ").contains(mark)).collect()
}

pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within 20 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}
