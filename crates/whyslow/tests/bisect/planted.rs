//! Two worlds that differ in all of 24 packages, a library each, and what is planted in some of them. Each library is
//! compiled once and kept for later runs of the tests.

use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many libraries there are.
pub const LIBRARIES: u32 = 24;
/// The program, in both worlds.
pub const PROGRAM: &str = "/opt/planted/program";
/// A file of theirs that belongs to no package.
pub const CONFIGURATION: &str = "/etc/planted.conf";

/// A pause that is felt: 100 ms in all, of a run that takes some 20 without.
pub const SLEEPS: &str = "SLEEPS=1000";
/// The same on a processor.
pub const BURNS: &str = "BURNS=60000";

/// What is planted.
#[derive(Default)]
pub struct Plan {
    /// What the library of a number does, in the good world and in the bad one.
    behaviour: [BTreeMap<u32, Vec<String>>; 2],
    /// What the configuration says, in the worlds that have it.
    configuration: [Option<&'static str>; 2],
    /// What the program does besides.
    program: Vec<String>,
    /// Whether the C library's package of the good world has another library beside.
    has_extra: bool,
    /// Whether the C library itself is slow in the bad world.
    has_slow_c_library: bool,
}

impl Plan {
    /// The library does so in the bad world.
    pub fn bad(mut self, number: u32, words: &[&str]) -> Plan {
        self.behaviour[1].insert(number, words.iter().map(ToString::to_string).collect());
        self
    }

    /// It does so in the good world.
    pub fn good(mut self, number: u32, words: &[&str]) -> Plan {
        self.behaviour[0].insert(number, words.iter().map(ToString::to_string).collect());
        self
    }

    /// The configuration in the good world, and in the bad one.
    pub fn configured(mut self, good: &'static str, bad: &'static str) -> Plan {
        self.configuration = [Some(good), Some(bad)];
        self
    }

    /// The configuration in the bad world; the good one has none.
    pub fn configured_in_bad(mut self, bad: &'static str) -> Plan {
        self.configuration = [None, Some(bad)];
        self
    }

    /// The program does so.
    pub fn program(mut self, word: &str) -> Plan {
        self.program.push(word.to_string());
        self
    }

    /// The good world's library of this number needs one that only comes with the C library there.
    pub fn needing_extra(mut self, number: u32) -> Plan {
        self.has_extra = true;
        self.good(number, &["EXTRA=1"])
    }

    /// The bad world's C library takes its time over `a64l`, and the program calls it.
    pub fn slow_c_library(mut self) -> Plan {
        self.has_slow_c_library = true;
        self.program("DECODES=1")
    }

    /// Makes the worlds.
    pub fn planted(&self) -> Planted {
        fs::create_dir_all(kept()).expect("a folder");
        let planted = Planted(tempfile::tempdir_in(kept()).expect("a folder"));
        for side in [0, 1] {
            self.plant(side, &planted.root(side));
        }
        planted
    }

    fn plant(&self, side: usize, root: &Path) {
        let version = ["1.0", "2.0"][side];
        let mut packages = System::find().copy(root);
        if self.has_extra || self.has_slow_c_library {
            packages.all.entry("libc6".to_string()).or_default().0 = format!("{version}-1");
        }
        for number in 0..LIBRARIES {
            let words = self.behaviour[side].get(&number).cloned().unwrap_or_default();
            let library = library(number, version, &words);
            let path = packages.put(root, &format!("planted-{number:02}"), version, &library);
            let needs_extra = words.iter().any(|word| word.starts_with("EXTRA"));
            if needs_extra {
                let name = path.with_file_name("libextra.so.1");
                fs::copy(extra(), root.join(name.strip_prefix("/").expect("absolute"))).expect("copied");
                packages.own("libc6", name);
            }
        }
        if self.has_slow_c_library && side == 1 {
            slow_down(&root.join(packages.libraries.join("libc.so.6").strip_prefix("/").expect("absolute")));
        }
        let program = root.join(&PROGRAM[1..]);
        fs::create_dir_all(program.parent().expect("a folder")).expect("a folder");
        fs::copy(compiled_program(&self.program), program).expect("copied");
        packages.own("planted-program", PROGRAM.into());
        if let Some(text) = self.configuration[side] {
            fs::write(root.join(&CONFIGURATION[1..]), text).expect("written");
        }
        packages.write(root);
    }
}

/// Both worlds, gone when dropped.
pub struct Planted(tempfile::TempDir);

impl Planted {
    fn root(&self, side: usize) -> PathBuf {
        self.0.path().join(["good", "bad"][side])
    }

    /// What is passed to `--good` and `--bad`.
    pub fn names(&self) -> [String; 2] {
        [0, 1].map(|side| format!("dir:{}", self.root(side).display()))
    }
}

/// What of this system every world has: the loader, the C library and a shell.
struct System {
    files: BTreeSet<PathBuf>,
    libraries: PathBuf,
}

impl System {
    fn find() -> System {
        let output = Command::new("ldd").arg("/bin/sh").output().expect("ldd");
        let text = String::from_utf8(output.stdout).expect("text");
        let mut files =
            text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect::<BTreeSet<_>>();
        let c_library = files.iter().find(|file| file.ends_with("libc.so.6")).expect("a C library");
        let libraries = c_library.parent().expect("a folder").to_path_buf();
        files.insert("/bin/sh".into());
        System { files, libraries }
    }

    fn copy(&self, root: &Path) -> Packages {
        for folder in ["usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "tmp", "var/lib/dpkg/info"] {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        for name in ["bin", "sbin", "lib", "lib64"] {
            match fs::read_link(Path::new("/").join(name)) {
                Ok(to) => symlink(to, root.join(name)).expect("linked"),
                Err(_) => fs::create_dir_all(root.join(name)).expect("a folder"),
            }
        }
        let mut packages = Packages { all: BTreeMap::new(), libraries: self.libraries.clone() };
        for file in &self.files {
            let inside = root.join(file.strip_prefix("/").expect("absolute"));
            fs::create_dir_all(inside.parent().expect("a folder")).expect("a folder");
            fs::copy(file, inside).expect("copied");
            packages.own(if file.ends_with("sh") { "dash" } else { "libc6" }, file.clone());
        }
        packages
    }
}

/// Makes `a64l` of a C library count to some ten thousand first.
fn slow_down(c_library: &Path) {
    // mov ecx, 60000; dec ecx; jnz -4; xor eax, eax; ret
    let code = [0xb9, 0x60, 0xea, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x31, 0xc0, 0xc3];
    let mut bytes = fs::read(c_library).expect("a C library");
    let start = {
        let file = object::File::parse(&*bytes).expect("an ELF file");
        let symbol = file.dynamic_symbols().find(|symbol| symbol.name() == Ok("a64l")).expect("a64l");
        let text = file.sections().find(|section| section.name() == Ok(".text")).expect("code");
        let (offset, _) = text.file_range().expect("in the file");
        (symbol.address() - text.address() + offset) as usize
    };
    bytes[start..start + code.len()].copy_from_slice(&code);
    fs::write(c_library, bytes).expect("written");
}

/// Packages by their names: version, and files.
struct Packages {
    all: BTreeMap<String, (String, Vec<PathBuf>)>,
    libraries: PathBuf,
}

impl Packages {
    /// A library, in a package of its own. Where it lies inside.
    fn put(&mut self, root: &Path, package: &str, version: &str, library: &Path) -> PathBuf {
        let path = self.libraries.join(library.file_name().expect("a name"));
        fs::copy(library, root.join(path.strip_prefix("/").expect("absolute"))).expect("copied");
        self.own(package, path.clone());
        self.all.entry(package.to_string()).or_default().0 = version.to_string();
        path
    }

    fn own(&mut self, package: &str, file: PathBuf) {
        self.all.entry(package.to_string()).or_insert_with(|| ("1.0".to_string(), Vec::new())).1.push(file);
    }

    /// Writes what dpkg would know of them.
    fn write(&self, root: &Path) {
        let mut status = String::new();
        for (name, (version, files)) in &self.all {
            status += &format!(
                "Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {version}\n\
                 Maintainer: nobody\nDescription: planted\n\n"
            );
            let list = files.iter().map(|file| format!("{}\n", file.display())).collect::<String>();
            fs::write(root.join(format!("var/lib/dpkg/info/{name}.list")), format!("/.\n{list}")).expect("written");
        }
        fs::write(root.join("var/lib/dpkg/status"), status).expect("written");
    }
}

/// Where what was compiled is kept.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("planted")
}

fn source(name: &str) -> String {
    format!("{}/tests/bisect/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Compiles something once: its folder is named after all that it is made of.
fn compiled(file: &str, from: &str, words: &[String]) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (words, fs::read(from).expect("the source")).hash(&mut hasher);
    let folder = kept().join(format!("{file}-{:016x}", hasher.finish()));
    let made = folder.join(file);
    if made.is_file() { made } else { make(cc(from, words), &folder, file) }
}

fn cc(from: &str, words: &[String]) -> Command {
    let mut command = Command::new("cc");
    command.arg(from).args(words);
    command
}

/// Compiles a file into a folder: all of it, or nothing.
fn make(mut command: Command, folder: &Path, file: &str) -> PathBuf {
    fs::create_dir_all(folder).expect("a folder");
    let (made, half) = (folder.join(file), folder.join(format!("{file}.{}", std::process::id())));
    let output = command.args(["-O1", "-g", "-o"]).arg(&half).output().expect("cc");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    fs::rename(half, &made).expect("renamed");
    made
}

fn shared(name: &str) -> Vec<String> {
    ["-shared", "-fPIC", &format!("-Wl,-soname,{name}")].map(String::from).to_vec()
}

/// A library of a number and a version that does what the words say.
fn library(number: u32, version: &str, does: &[String]) -> PathBuf {
    let name = format!("libplanted{number:02}.so.1");
    let mut words = shared(&name);
    words.extend([format!("-DNUMBER={number:02}"), format!("-DVERSION=\"{version}\"")]);
    words.extend(does.iter().map(|word| format!("-D{word}")));
    if does.iter().any(|word| word.starts_with("EXTRA")) {
        words.push(extra().display().to_string());
    }
    compiled(&name, &source("library.c"), &words)
}

/// A library that comes with the C library's package.
fn extra() -> PathBuf {
    compiled("libextra.so.1", &source("extra.c"), &shared("libextra.so.1"))
}

fn compiled_program(does: &[String]) -> PathBuf {
    let libraries = (0..LIBRARIES).map(|number| library(number, "1.0", &[]));
    let mut command = Command::new("cc");
    command.args(does.iter().map(|word| format!("-D{word}"))).arg(source("program.c")).args(libraries);
    let folder = kept().join(format!("program-{}", does.join("-")));
    make(command, &folder, "program")
}

/// A program for the host, which heeds PLANTED_PAUSE.
pub fn heeding(folder: &Path) -> PathBuf {
    make(cc(&source("heeding.c"), &[]), folder, "heeding")
}

/// That what follows from the tests is not the fault of the worlds: each runs, and the bad one is slow.
#[test]
fn planted_worlds_run_and_the_bad_one_is_slow() {
    let Some(_turn) = super::asking::turn() else { return };
    let took = |planted: &Planted, side: usize| {
        let begun = std::time::Instant::now();
        let output = Command::new("chroot").arg(planted.root(side)).arg(PROGRAM).output().expect("chroot");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n", "{output:?}");
        begun.elapsed()
    };
    let is_slow = |planted: &Planted| {
        let least = |side: usize| (0..5).map(|_| took(planted, side)).min().expect("a run");
        least(1) > 2 * least(0)
    };
    let conf = |bad| Plan::default().good(9, &["READS=1"]).bad(9, &["READS=1"]).configured("pause 0\n", bad);
    let pair = |roused: &[&str]| Plan::default().bad(6, &[SLEEPS, "ROUSED=20"]).bad(20, roused);
    assert!(is_slow(&Plan::default().bad(17, &[SLEEPS]).planted()));
    assert!(is_slow(&Plan::default().bad(4, &[BURNS]).planted()));
    assert!(is_slow(&conf("pause 1000\n").planted()) && !is_slow(&conf("pause 0\n").planted()));
    assert!(is_slow(&pair(&["ROUSES=1"]).planted()) && !is_slow(&pair(&[]).planted()));
    assert!(!is_slow(&Plan::default().needing_extra(7).planted()));
}
