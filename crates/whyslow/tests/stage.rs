//! What the binary's tests share: a folder of their own, the binary, and the question whether this machine lets it
//! record. A test that cannot run says so, with a count, and passes.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use testing::{Turn, beside_others, skip, stretched};

/// A folder of its own for one test, gone when dropped.
pub struct Stage {
    folder: tempfile::TempDir,
    _turn: Turn,
}

impl Stage {
    pub fn new() -> Stage {
        let turn = beside_others();
        Stage { folder: tempfile::tempdir().expect("a folder"), _turn: turn }
    }

    /// The folder alone, to be kept for other tests.
    pub fn into_folder(self) -> tempfile::TempDir {
        self.folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary, with this folder as working and state folder, and without a caller of sudo.
    pub fn whyslow(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
        command.args(arguments).current_dir(self.folder.path()).env("XDG_STATE_HOME", self.path("state"));
        command.env_remove("SUDO_UID").env_remove("SUDO_GID").stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.whyslow(arguments).output().expect("whyslow"))
    }

    /// The same as an ordinary user; the binary is copied to where that user can reach it.
    pub fn run_as_nobody(&self, arguments: &[&str]) -> Ran {
        let binary = self.path("whyslow");
        // By another process: a program that this one has open for writing, were it only for a moment, can be open in a
        // child that another test is starting, and then nobody may execute it.
        let (from, folder, to) = (env!("CARGO_BIN_EXE_whyslow"), self.folder.path().display(), binary.display());
        shell(&format!("cp {from} {to} && chmod 755 {folder} {to}"));
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(binary).args(arguments);
        command.current_dir(self.folder.path()).env("XDG_STATE_HOME", self.path("state")).stdin(Stdio::null());
        Ran::from(command.output().expect("setpriv"))
    }

    /// Whether this machine lets us record; where not, says that the test is skipped, and why.
    pub fn can_record(&self) -> bool {
        static REFUSED: OnceLock<Option<String>> = OnceLock::new();
        let refused = REFUSED.get_or_init(|| {
            let probe = self.run(&["run", "-o", "probe", "--", "true"]);
            (probe.code == 2).then_some(probe.stderr)
        });
        if let Some(said) = refused {
            let is_known = ["privileges", "recording does not work", "kernel refused"];
            assert!(is_known.iter().any(|reason| said.contains(reason)), "{said}");
            skip(&format!("this machine does not let whyslow record: {said}"));
        }
        refused.is_none()
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Ran {
    /// The three lines of an error, and that there is nothing else.
    pub fn error(&self) -> [&str; 3] {
        assert_eq!(self.code, 2, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        let lines = self.stderr.lines().collect::<Vec<_>>();
        let [what, why, remedy] = lines[..] else { panic!("not three lines: {self:?}") };
        assert!(
            what.starts_with("whyslow: ") && why.starts_with("  why: ") && remedy.starts_with("  try: "),
            "{self:?}"
        );
        [what, why, remedy]
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// That it ended without an error, whatever it found.
    pub fn answered(self) -> Ran {
        assert!([0, 1, 3].contains(&self.code), "{self:?}");
        self
    }
}

pub fn shell(script: &str) -> String {
    let output = Command::new("sh").args(["-c", script]).output().expect("sh");
    String::from_utf8(output.stdout).expect("text")
}

/// A port that nothing listens on now.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let patience = stretched(Duration::from_secs(20));
    let deadline = Instant::now() + patience;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {patience:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ids of the processes whose command line holds a mark.
pub fn processes_with(mark: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let command = |pid: u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    pids.filter(|pid| String::from_utf8_lossy(&command(*pid)).replace('\0', " ").contains(mark)).collect()
}

/// A server in Python that listens and answers each connection with its own address.
pub fn server(folder: &Path, port: u16) -> String {
    let script = folder.join("server.py");
    let text = "import socket, sys\n\
                listener = socket.create_server((sys.argv[1], int(sys.argv[2])))\n\
                while True:\n    \
                    connection, peer = listener.accept()\n    \
                    connection.sendall(listener.getsockname()[0].encode())\n    \
                    connection.close()\n";
    std::fs::write(&script, text).expect("written");
    format!("python3 {} {{server}} {port}", script.display())
}

/// A client for it, as arguments.
pub fn client(port: u16) -> [String; 3] {
    let script = format!(
        "import socket, sys; print('reached', socket.create_connection((sys.argv[1], {port})).recv(99).decode())"
    );
    ["python3".into(), "-c".into(), script]
}

/// A run in the background, ended when dropped.
pub struct Background(pub Child);

impl Background {
    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.0.id() as i32), signal).expect("signalled");
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // It may have ended already, which is no error here.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
