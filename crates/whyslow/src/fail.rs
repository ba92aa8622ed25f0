//! Errors as a user sees them: three lines, what failed, why, and the command to try. The one place that formats them.

mod bisecting;
mod exporting;
mod laboratory;
mod matrix;
mod running;
mod story;
mod studying;
mod worlds;

use case::CaseError;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use lab::{LabError, LinkError};
use record::{Ended, RecordError};
use report::clean;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The exit code of an error.
pub const ERROR: u8 = 2;
/// The exit code if neither a cause nor its absence was established.
pub const INCONCLUSIVE: u8 = 3;

/// The capabilities that recording needs without root: loading BPF programs, sampling, reading TCP state, and reading
/// other processes' memory maps. One word, as setcap takes it.
const CAPABILITIES: &str = "cap_bpf,cap_perfmon,cap_net_admin,cap_sys_ptrace,cap_dac_read_search";

/// The commands that take options with values of their own.
const COMMANDS: [&str; 7] = ["run", "attach", "bisect", "compare", "sweep", "trial", "matrix"];

/// An error: a line for what failed, one for why, one for what to try.
pub struct Failure {
    what: String,
    why: String,
    remedy: String,
    code: u8,
    /// Text that is no error at all: help, or the version.
    is_help: Option<clap::Error>,
}

impl Failure {
    fn new(what: impl Into<String>, why: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure { what: what.into(), why: why.into(), remedy: remedy.into(), code: ERROR, is_help: None }
    }

    /// Prints it, and says which exit code it means.
    pub fn show(&self) -> u8 {
        match &self.is_help {
            Some(help) => drop(help.print()),
            None => eprint!("{self}"),
        }
        self.code
    }

    /// What failed and why, for a line of its own where all else stands.
    pub fn in_a_line(&self) -> String {
        format!("{}: {}", self.what, self.why)
    }

    /// An option's value that cannot be read.
    pub fn value(option: &str, why: &str, example: &str) -> Failure {
        let help = format!("{example} (see: whyslow {} --help)", command());
        Failure::new(format!("invalid value for {option}"), why, help)
    }

    /// A file that describes no trial.
    pub fn spec(path: &Path, why: &str) -> Failure {
        let what = format!("{} is not a valid trial file", path.display());
        Failure::new(what, why, "whyslow trial --help shows an example")
    }

    /// A server command that a shell could not split either.
    pub fn server_command(text: &str) -> Failure {
        let why = format!("`{text}` is empty or has an unclosed quote");
        Failure::value("--server", &why, "--server 'python3 -m http.server 8000'")
    }

    /// Something that only root may do.
    pub fn needs_root(what: &str, why: &str) -> Failure {
        let uid = nix::unistd::geteuid();
        Failure::new(format!("cannot {what}"), format!("{why}, and this is user {uid}"), sudo())
    }

    /// Neither HOME nor the user database say where cases could go.
    pub fn no_home() -> Failure {
        let why = "neither XDG_STATE_HOME nor HOME is set, and the user database has no home for this user";
        Failure::new("no folder for the case", why, "whyslow run -o FOLDER -- COMMAND")
    }

    /// A user that does not exist.
    pub fn unknown_user(name: &str) -> Failure {
        let why = format!("there is no user `{name}`");
        Failure::new("invalid value for --user", why, "getent passwd | cut -d: -f1")
    }

    /// A name that no page has.
    pub fn unknown_page(name: &str, nearest: &[&str]) -> Failure {
        let why = match nearest {
            [] => "no cause or intervention has a similar name".to_string(),
            names => format!("similar names: {}", names.join(", ")),
        };
        let remedy = nearest.first().map_or("whyslow explain".into(), |name| format!("whyslow explain {name}"));
        Failure::new(format!("nothing to explain is called `{name}`"), why, remedy)
    }

    /// A server that ended before it listened.
    pub fn server_ended(command: &str, ended: Ended) -> Failure {
        let how = studies::how(ended);
        Failure::new(
            format!("the server `{command}` never listened"),
            format!("it {how} before it opened a listening socket; its output is above"),
            format!("run it on its own: {command}"),
        )
    }

    /// A server that runs and does not listen.
    pub fn server_silent(command: &str, waited: Duration) -> Failure {
        let why = format!("it opened no listening TCP or Unix socket within {} s, so it was stopped", waited.as_secs());
        Failure::new(
            format!("the server `{command}` never listened"),
            why,
            format!("run it on its own: {command} & sleep 2; ss -ltnp"),
        )
    }

    /// Ctrl-C before there was anything to diagnose.
    pub fn interrupted() -> Failure {
        let why = "the server was still starting; there is nothing to diagnose";
        Failure::new("interrupted before the program started", why, again())
    }

    /// Something that a killed run has left behind and that stays.
    pub fn not_undone(left: &[String]) -> Failure {
        let remedy = if nix::unistd::geteuid().is_root() { again() } else { sudo() };
        Failure::new("some leftovers could not be cleaned up", left.join("; "), remedy)
    }

    /// Our own output cannot be written.
    pub fn output(error: &io::Error) -> Failure {
        Failure::new("the answer could not be written", error.to_string(), "whyslow report CASE prints it again")
    }

    /// A defect of ours.
    pub fn internal(why: &str) -> Failure {
        let remedy = format!(
            "file an issue with these lines (whyslow {}) and the command: {}",
            env!("CARGO_PKG_VERSION"),
            again()
        );
        Failure::new("this is a bug in whyslow", why, remedy)
    }

    fn not_found(name: &str) -> Failure {
        let is_here = !name.contains('/') && Path::new(name).is_file();
        let why = match (is_here, name.contains('/')) {
            (true, _) => format!("`{name}` is in this folder, but not in PATH"),
            (false, true) => format!("there is no file `{name}`"),
            (false, false) => format!("`{name}` is not in PATH"),
        };
        let remedy = if is_here { again_with(name, &format!("./{name}")) } else { format!("type -a {name}") };
        Failure::new(format!("command not found: {name}"), why, remedy)
    }

    fn not_executable(path: &Path, reason: &str) -> Failure {
        let shown = path.display();
        Failure::new(format!("cannot execute {shown}"), reason, format!("ls -l {shown}; head -c 80 {shown}"))
    }

    fn not_privileged(missing: &str, uid: u32) -> Failure {
        let capabilities = if missing.is_empty() { CAPABILITIES.to_string() } else { missing.to_lowercase() };
        let why = format!("user {uid} lacks {}", capabilities.replace(',', ", ").replace("  ", " "));
        let grant = capabilities.replace(' ', "");
        let own = own_path().display().to_string();
        let remedy = format!("{}   (or, once: sudo setcap {grant}+ep {})", sudo(), quote(&own));
        Failure::new("recording needs privileges", why, remedy)
    }

    fn system(path: Option<&Path>, action: &str, error: &io::Error) -> Failure {
        let place = path.map_or_else(|| action.to_string(), |path| path.display().to_string());
        let why = format!("{place}: {error}");
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                let remedy = format!("df -h {}; whyslow run -o FOLDER-ON-ANOTHER-DISK -- COMMAND", folder_of(path));
                Failure::new("the disk is full", why, remedy)
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem if path.is_some() => {
                let remedy = format!("ls -ld {}; whyslow run -o FOLDER -- COMMAND", folder_of(path));
                Failure::new("the folder is not readable or writable", why, remedy)
            }
            io::ErrorKind::PermissionDenied => Failure::needs_root(action, &error.to_string()),
            _ => Failure::new(format!("the system refused: {action}"), why, "whyslow doctor"),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Failure {
        match error {
            RecordError::NotPrivileged { missing, uid } => Failure::not_privileged(&missing, uid),
            RecordError::NoBtf { .. } => Failure::new(
                "recording does not work on this kernel",
                error.to_string(),
                "boot a kernel with CONFIG_DEBUG_INFO_BTF=y (distribution kernels have it), then: whyslow doctor",
            ),
            RecordError::Refused { .. } => Failure::new("the kernel refused", error.to_string(), "whyslow doctor"),
            RecordError::NotFound(name) => Failure::not_found(&name),
            RecordError::NotExecutable { path, reason } => Failure::not_executable(&path, &reason),
            RecordError::Io { action, source } => Failure::system(None, &action, &source),
            RecordError::NoProcess(_) => Failure::new("cannot attach", error.to_string(), "ps -e"),
            RecordError::KernelThread(_) | RecordError::Ourselves(_) => Failure::new(
                "cannot attach",
                error.to_string(),
                "whyslow attach PID, with the PID of the program to watch (ps -e)",
            ),
            RecordError::NotPermitted { .. } => Failure::new("cannot attach", error.to_string(), sudo()),
            RecordError::Case(error) => error.into(),
        }
    }
}

impl From<CaseError> for Failure {
    fn from(error: CaseError) -> Failure {
        let why = error.to_string();
        match error {
            CaseError::Exists(path) => {
                let remedy = format!("whyslow report {}; or choose another folder with -o", quote_path(&path));
                Failure::new("the case already exists", why, remedy)
            }
            CaseError::NotACase(_) => {
                Failure::new("not a case", why, "ls ~/.local/state/whyslow   (where cases go without -o)")
            }
            CaseError::Schema { .. } => {
                Failure::new("this case is from another version", why, "read it with the version that wrote it")
            }
            CaseError::Damaged { path, .. } => {
                let folder = path.parent().unwrap_or(&path).display().to_string();
                Failure::new(
                    "the case is damaged",
                    why,
                    format!("ls -l {folder}; then copy the case again or repeat the run"),
                )
            }
            CaseError::Io { path, source } => Failure::system(Some(&path), "writing the case", &source),
        }
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Failure {
        Failure::new("cannot set up the link between client and server", error.to_string(), "whyslow doctor")
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        let why = error.to_string();
        match error {
            LabError::Link(error) => error.into(),
            LabError::Record(error) => error.into(),
            LabError::World(_) => {
                Failure::new("cannot set up this world", why, format!("whyslow {} --help; whyslow doctor", command()))
            }
            LabError::NoWorld { world, why, remedy } => Failure::no_world(&world, &why, &remedy),
            LabError::NotTaken { .. } => Failure::new("the kernel did not accept a change", why, "whyslow doctor"),
            LabError::NoJournal(_) => {
                let remedy = "make one of these folders writable, or set XDG_RUNTIME_DIR to a writable one";
                Failure::new("nothing is changed without a way to undo it", why, remedy)
            }
            LabError::Io { path, source } => Failure::system(Some(&path), "preparing a trial", &source),
            LabError::ServerEnded { command, ended } => Failure::server_ended(&command, ended),
            LabError::ServerSilent { command, waited } => Failure::server_silent(&command, waited),
            LabError::ServerGone { command, said } => Failure::new(
                format!("the server `{command}` did not start again"),
                said,
                format!("run it on its own: {command}; if its port is still in use, --link mtu=1500 helps"),
            ),
            LabError::NotBuilt { commit, log, .. } => {
                Failure::new(format!("commit {commit} does not build"), why, format!("less {}", log.display()))
            }
            LabError::Interrupted => Failure::interrupted(),
        }
    }
}

/// What was typed and is no command of ours; help and version come this way too.
pub fn usage(error: clap::Error) -> Failure {
    let code = u8::try_from(error.exit_code()).unwrap_or(ERROR);
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure { code, is_help: Some(error), ..Failure::new("", "", "") };
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_string();
    let why = match (error.get(ContextKind::SuggestedArg), error.kind()) {
        (Some(ContextValue::String(near)), _) => format!("a similar option exists: {near}"),
        (_, ErrorKind::MissingRequiredArgument) => {
            let missing = text.lines().skip(1).map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            format!("missing: {missing}")
        }
        _ => text
            .lines()
            .find_map(|line| line.trim().strip_prefix("Usage: "))
            .map_or_else(|| "these arguments do not go together".to_string(), |usage| format!("usage: {usage}")),
    };
    let command = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    Failure::new(first, why, format!("whyslow {}--help", command.map(|word| word + " ").unwrap_or_default()))
}

/// Makes a panic, should there be one, three lines like any other error.
pub fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        eprint!("{}", Failure::internal(&format!("{message}{}", place.unwrap_or_default())));
    }));
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "whyslow: {}", clean(&self.what))?;
        writeln!(out, "  why: {}", clean(&self.why))?;
        writeln!(out, "  try: {}", clean(&self.remedy))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The command that was typed, where it is one that takes options with values.
fn command() -> String {
    let command = std::env::args().nth(1).filter(|word| COMMANDS.contains(&word.as_str()));
    command.unwrap_or_else(|| "run".to_string())
}

fn own_path() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "whyslow".into())
}

/// The command as it was typed, with the path of this very program, since root's PATH may not have it.
fn again() -> String {
    again_with("", "")
}

/// The same with one word replaced.
fn again_with(word: &str, by: &str) -> String {
    let replace = |argument: String| if argument == word { by.to_string() } else { argument };
    let arguments = std::env::args_os().skip(1).map(|argument| replace(argument.to_string_lossy().into_owned()));
    let words = [own_path().display().to_string()].into_iter().chain(arguments);
    words.map(|word| quote(&word)).collect::<Vec<_>>().join(" ")
}

fn sudo() -> String {
    format!("sudo {}", again())
}

fn quote(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_string(), std::borrow::Cow::into_owned)
}

fn quote_path(path: &Path) -> String {
    quote(&path.display().to_string())
}

/// The nearest folder above a path that exists.
fn folder_of(path: Option<&Path>) -> String {
    let folder = path.and_then(|path| path.ancestors().skip(1).find(|folder| folder.is_dir()));
    quote_path(folder.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests;
