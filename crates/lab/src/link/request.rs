//! What is asked of the broker in the networks of processes that are held.

use super::{Link, LinkError, acknowledge_at_once_here, change_route_here, set_here};
use broker::{Reply, Request, check_subject, with_files};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;

/// Asks for something in the networks of processes that are held.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Network {
    /// Their namespaces are joined.
    Join { link: Link, client: u32, server: u32 },
    /// A route is changed.
    Route { pid: u32, words: String },
    /// The route to the other end acknowledges at once.
    Acknowledge { pid: u32 },
    /// A setting below `net.` is made; what it is afterwards.
    Setting { pid: u32, name: String, value: String },
}

impl Request for Network {
    const NAME: &'static str = "network";
    const CHECKS: &'static str = "the processes are the subject's, in networks that are not the host's; ip and tc of the system's, without the caller's \
         environment; settings below net. only";
    type Answer = Result<String, LinkError>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        let pids = match &self {
            Network::Join { client, server, .. } => vec![*client, *server],
            Network::Route { pid, .. } | Network::Acknowledge { pid } | Network::Setting { pid, .. } => vec![*pid],
        };
        pids.into_iter().try_for_each(check_network)?;
        let nothing = |()| String::new();
        let mut tunnels = Vec::new();
        let answer = match self {
            Network::Join { link, client, server } => link.join_here(client, server).map(|opened| {
                tunnels = opened;
                String::new()
            }),
            Network::Route { pid, words } => change_route_here(pid, &words).map(nothing),
            Network::Acknowledge { pid } => acknowledge_at_once_here(pid).map(nothing),
            Network::Setting { pid, name, value } => set_here(pid, &name, &value),
        };
        with_files(answer, tunnels)
    }
}

/// Nothing is changed in the network that we are in ourselves.
fn check_network(pid: u32) -> io::Result<()> {
    check_subject(pid)?;
    let namespace = |name: &str| std::fs::read_link(format!("/proc/{name}/ns/net"));
    if broker::is_broker() && namespace(&pid.to_string())? == namespace("self")? {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    Ok(())
}

/// Has a request about networks carried out.
pub(crate) fn network(request: Network) -> Result<String, LinkError> {
    ask_network(request)?.answer
}

/// Has two networks joined; the tunnels between them, where we carry the packets.
pub(crate) fn join(request: Network) -> Result<Vec<OwnedFd>, LinkError> {
    let Reply { answer, files } = ask_network(request)?;
    answer.map(|_| files)
}

fn ask_network(request: Network) -> Result<Reply<Result<String, LinkError>>, LinkError> {
    let failed =
        |error: io::Error| LinkError::Command { command: "the network".to_string(), reason: error.to_string() };
    broker::ask(request, &[]).map_err(failed)
}
