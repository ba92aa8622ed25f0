//! Errors of the laboratory.

use super::{Failure, again, help};
use lab::{LabError, LinkError};

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Failure {
        Failure::new("cannot set up the link between client and server", error.to_string(), "whyslow doctor")
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        let said = error.to_string();
        match error {
            LabError::Link(error) => error.into(),
            LabError::Record(error) => error.into(),
            LabError::Io { path, source } => Failure::system(Some(&path), "preparing a trial", &source),
            LabError::World(_) => Failure::new("cannot set up this world", said, format!("{}; whyslow doctor", help())),
            LabError::NoServer => Failure::value("--link", &said, "--server 'COMMAND'"),
            LabError::NoWorld { world, why, remedy } => {
                let remedy = if remedy.is_empty() { again() } else { remedy };
                Failure::new(format!("cannot set up {world}"), why, remedy)
            }
            LabError::NotTaken { .. } => Failure::new("the kernel did not accept a change", said, "whyslow doctor"),
            LabError::NoJournal(_) => {
                let remedy = "make one of these folders writable, or set XDG_RUNTIME_DIR to a writable one";
                Failure::new("nothing is changed without a way to undo it", said, remedy)
            }
            LabError::ServerEnded { command, ended } => {
                let how = studies::how(ended);
                let why = format!("it {how} before it opened a listening socket; its output is above");
                Failure::new(said, why, format!("run it on its own: {command}"))
            }
            LabError::ServerSilent { command, waited } => {
                let within = waited.as_secs();
                let why = format!("it opened no listening TCP or Unix socket within {within} s, so it was stopped");
                Failure::new(said, why, format!("run it on its own: {command} & sleep 2; ss -ltnp"))
            }
            LabError::ServerGone { command, said } => {
                let remedy =
                    format!("run it on its own: {command}; if its port is still in use, --link mtu=1500 helps");
                Failure::new(format!("the server `{command}` did not start again"), said, remedy)
            }
            LabError::NotBuilt { commit, log, .. } => {
                Failure::new(format!("commit {commit} does not build"), said, format!("less {}", log.display()))
            }
            LabError::Interrupted => {
                let why = "the server was still starting; there is nothing to diagnose";
                Failure::new("interrupted before the program started", why, again())
            }
        }
    }
}
