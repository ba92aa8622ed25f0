//! Two small worlds for tests: the host's C library and loader, and libraries that are built for them.

use crate::bisect::differences::{Difference, differences};
use crate::bisect::layers::Layers;
use crate::bisect::search::Set;
use crate::bisect::{Closures, Ground};
use crate::worlds::{Ready, WorldName};
use crate::{End, Journal, World};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Without it, trees cannot be staged.
pub(in crate::bisect) use testing::is_root;

const PROGRAM: &str = "/opt/program";

/// One of the worlds.
pub(in crate::bisect) struct FixtureWorld {
    pub ready: Ready,
    pub used: BTreeSet<PathBuf>,
}

/// Both.
pub(in crate::bisect) struct Pair {
    _folder: tempfile::TempDir,
    pub good: FixtureWorld,
    pub bad: FixtureWorld,
}

impl Pair {
    pub fn new() -> Pair {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("place");
        std::fs::create_dir(&place).expect("made");
        let good = FixtureWorld::new(&folder.path().join("good"), &place);
        let bad = FixtureWorld::new(&folder.path().join("bad"), &place);
        Pair { _folder: folder, good, bad }
    }

    pub fn differences(&self) -> Vec<Difference> {
        differences(&self.good.ready, &self.bad.ready, &self.good.used, &self.bad.used).expect("compared")
    }

    /// Does something with the closures of these worlds; names stand for factors.
    pub fn with(&self, act: impl FnOnce(&mut Named<'_>)) {
        let differences = self.differences();
        let journal = Journal::open().expect("a journal");
        let layers = Layers::lay(&differences, &self.good.ready, &self.bad.ready, &journal).expect("laid");
        let world = World::default();
        let ground = Ground {
            differences: &differences,
            layers: &layers,
            good: &self.good.ready,
            bad: &self.bad.ready,
            used_good: &self.good.used,
            used_bad: &self.bad.used,
            world: &world,
            end: End::Client,
        };
        let mut wait = |time| {
            std::thread::sleep(time);
            false
        };
        let closures = Closures::new(ground, &mut wait).expect("asked");
        let names = differences.iter().map(|one| one.factor.name.clone()).collect();
        act(&mut Named { closures, names });
    }
}

/// Closures, spoken to by names.
pub(in crate::bisect) struct Named<'a> {
    closures: Closures<'a>,
    names: Vec<String>,
}

impl Named<'_> {
    pub fn closed(&mut self, names: &[&str]) -> Result<String, String> {
        let set = self.numbers(names);
        let closed = self.closures.closed(&set)?;
        assert_eq!(self.closures.closed(&closed), Ok(closed.clone()), "a closed set is closed");
        Ok(self.text(&closed))
    }

    pub fn loaded(&mut self, names: &[&str]) -> String {
        let set = self.numbers(names);
        let loaded = self.closures.loaded(&set);
        self.text(&loaded)
    }

    fn numbers(&self, names: &[&str]) -> Set {
        let number = |name: &&str| self.names.iter().position(|one| one == name).expect("a factor");
        names.iter().map(number).collect()
    }

    fn text(&self, set: &Set) -> String {
        set.iter().map(|number| self.names[*number].as_str()).collect::<Vec<_>>().join(" ")
    }
}

impl FixtureWorld {
    fn new(base: &Path, place: &Path) -> FixtureWorld {
        let ready = Ready {
            name: WorldName::Folder(base.to_path_buf()),
            title: String::new(),
            base: base.to_path_buf(),
            environment: BTreeMap::new(),
            libraries: None,
            folder: Some("/".into()),
            shared: vec![],
            place: place.to_path_buf(),
        };
        let mut side = FixtureWorld { ready, used: BTreeSet::new() };
        for path in ["/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"] {
            let target = side.host(path);
            std::fs::copy(path, target).expect("the host's C library");
            side.used.insert(path.into());
        }
        side.write("/var/lib/dpkg/status", "");
        side
    }

    /// Where a path is on the host; the folders above it are made.
    pub fn host(&self, path: &str) -> PathBuf {
        let place = self.ready.base.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("made");
        place
    }

    pub fn write(&self, path: &str, text: &str) {
        std::fs::write(self.host(path), text).expect("written");
    }

    /// A data file that is used.
    pub fn data(&mut self, path: &str, text: &str) {
        self.write(path, text);
        self.used.insert(path.into());
    }

    pub fn link(&self, path: &str, target: &str) {
        symlink(target, self.host(path)).expect("linked");
    }

    /// Builds a library that is used; `versions` is the text of a version script.
    pub fn library(&mut self, name: &str, code: &str, needed: &[&str], versions: &str) {
        let path = format!("/usr/lib/{name}");
        let script = self.host("/versions");
        std::fs::write(&script, versions).expect("written");
        let script = format!("-Wl,--version-script={}", script.display());
        let soname = format!("-Wl,-soname,{name}");
        let mut options = vec!["-shared", "-fPIC", &soname];
        if !versions.is_empty() {
            options.push(&script);
        }
        self.build(&path, code, &options, needed);
    }

    /// Builds the program.
    pub fn program(&mut self, code: &str, needed: &[&str]) {
        self.build(PROGRAM, code, &["-Wl,--allow-shlib-undefined"], needed);
    }

    fn build(&mut self, path: &str, code: &str, options: &[&str], needed: &[&str]) {
        let source = self.host("/code.c");
        std::fs::write(&source, code).expect("written");
        let needed = needed.iter().map(|name| self.host(&format!("/usr/lib/{name}"))).collect::<Vec<_>>();
        let mut command = Command::new("cc");
        command
            .args(["-Wl,--no-as-needed", "-Wl,-rpath-link"])
            .arg(self.host("/usr/lib/x").parent().expect("a folder"));
        let built = command.args(options).arg("-o").arg(self.host(path)).arg(&source).args(&needed).output();
        let built = built.expect("a compiler");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        self.used.insert(path.into());
    }

    /// Says that files belong to a package, which is called as its source.
    pub fn package(&self, name: &str, version: &str, files: &[&str]) {
        let status = self.host("/var/lib/dpkg/status");
        let text = std::fs::read_to_string(&status).expect("read");
        let paragraph =
            format!("Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {version}\n\n");
        std::fs::write(&status, text + &paragraph).expect("written");
        self.write(&format!("/var/lib/dpkg/info/{name}.list"), &(files.join("\n") + "\n"));
    }
}
