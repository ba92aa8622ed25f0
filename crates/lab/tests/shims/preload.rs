//! Programs with shims loaded into them, laid out as a launch lays them out: a folder with an object, a parameter and a
//! file of counts for each. Every test has a folder of its own.

// Each file of tests uses its own part of this.
#![allow(dead_code)]

use lab::intervention_counters::ShimCounts;
use lab::shim;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Shims laid out in a folder, ready to be loaded.
pub struct Preloaded {
    folder: TempDir,
    objects: Vec<PathBuf>,
}

impl Preloaded {
    /// Stages shims in the order in which they are loaded: each a name and a parameter (`inert`: pass through).
    pub fn new(shims: &[(&str, &str)]) -> Preloaded {
        let folder = tempfile::tempdir().expect("a folder");
        let mut objects = Vec::new();
        for (name, parameter) in shims {
            let object = folder.path().join(format!("{name}.so"));
            std::fs::write(&object, shim::object(name).expect("a shim of that name")).expect("the object is written");
            std::fs::write(folder.path().join(format!("{name}.parameter")), format!("{parameter}\n")).expect("written");
            std::fs::write(folder.path().join(format!("{name}.counts")), [0; 32]).expect("the counts are written");
            objects.push(object);
        }
        Preloaded { folder, objects }
    }

    /// A command that loads the shims.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let objects: Vec<String> = self.objects.iter().map(|object| object.display().to_string()).collect();
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", objects.join(":")).env("WHYSLOW_SHIMS", self.folder.path());
        command
    }

    /// Runs a Python program with the shims, checks that it ended well, and gives what it printed.
    pub fn python(&self, source: &str, arguments: &[&str]) -> String {
        text_of(self.command(python()).arg("-c").arg(source).args(arguments))
    }

    /// Compiles a C program, runs it with the shims, checks that it ended well, and gives what it printed.
    pub fn c(&self, source: &str, arguments: &[&str]) -> String {
        text_of(self.command(compile(self.folder.path(), source)).args(arguments))
    }

    /// What a shim has counted so far.
    pub fn counts(&self, shim: &str) -> ShimCounts {
        let bytes = std::fs::read(self.folder.path().join(format!("{shim}.counts"))).expect("the counts");
        lab::shim::counts(&bytes)
    }

    /// The folder, to keep a test's own files in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Runs a command, checks that it ended well and wrote nothing on standard error, and gives what it printed.
pub fn text_of(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success() && stderr.is_empty(), "{status}\nstdout: {stdout}\nstderr: {stderr}");
    stdout.into_owned()
}

/// The interpreter itself, not a script that starts it.
pub fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let printed = text_of(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]));
        PathBuf::from(printed.trim())
    })
}

/// Compiles a C program into a folder.
pub fn compile(folder: &Path, source: &str) -> PathBuf {
    let (file, program) = (folder.join("program.c"), folder.join("program"));
    std::fs::write(&file, source).expect("the source is written");
    text_of(Command::new("cc").args(["-O2", "-D_GNU_SOURCE", "-pthread", "-o"]).arg(&program).arg(&file));
    program
}
